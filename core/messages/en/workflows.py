"""Texts about workflows, their engine and its gates."""

TEXTS: dict[str, str] = {
    "workflows.unknown": "The workflow {workflow!r} is not known here.",
    "workflows.unknown_version": "This run began with version {version} of {workflow!r}, which this worker does not have (it has: {known}). Resume it on a worker that does.",
    "workflows.unknown_step": "Version {version} of {workflow!r} has no step {step!r}; the run cannot go on under it.",
    "workflows.params_invalid": "The parameters do not fit {workflow!r}: {why}",
    "workflows.retrying": "{cause} Trying again ({attempt} of {budget}).",
    "workflows.step_bug": "The step {step!r} broke off with an error of its own: {error}",
    "workflows.worn_out": "Step {step!r} began {times} times and never ended: its worker was lost each time.",
    "workflows.overdue": "Step {step!r} waited longer than {minutes} minutes. {why}",
    "workflows.read_only": "Read-only mode is on: nothing is changed until it is lifted.",
    "workflows.stopped": "The stop switch is on: nothing is changed until it is lifted.",
    "workflows.not_approved": "No approval stands behind this run.",
    "workflows.approval_mismatch": "What this run would do is not what was approved.",
    "workflows.choice_unproven": "The {kind} {value} was not chosen by a person: {why}",
    "workflows.choice_malformed": "it does not say where it came from",
    "workflows.choice_not_answered": "no answer to a question gave it",
    "workflows.choice_not_said": "the requester did not say it",
    "workflows.choice_not_scoped": "it did not come from a runbook's own request",
    "workflows.not_measured": "There is no workflow {name}. Measured are: {known}.",
}
