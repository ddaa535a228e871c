"""Texts about questions and their answers."""

TEXTS: dict[str, str] = {
    "questions.asked": "Question: {prompt}",
    "questions.answered": "{who} answered: {answer}",
    "questions.someone": "somebody",
    "questions.scripted": "{who} (scripted)",
    "questions.not_an_option": "{answer!r} is not one of the options.",
    "questions.stale": "That answer belongs to an older list of options (version {given}, now {current}); please look at the list again.",
    "questions.stale_plan": "The plan was changed after this approval was asked; please look at it again.",
    "questions.late_answered": "Too late: {who} already answered {answer}.",
    "questions.late_expired": "Too late: the question expired at {at} and counts as denied.",
    "questions.late_withdrawn": "Too late: the question is no longer needed.",
    "questions.not_human": "Only a person may answer this question.",
    "questions.expired": "Nobody answered in time: {prompt}",
    "questions.withdrawn": "No longer needed: {prompt}",
    "questions.plan_changed": "The plan was changed.",
    "questions.plan_withdrawn": "The plan was withdrawn.",
    "questions.run_ended": "The run has ended.",
}
