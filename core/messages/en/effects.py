"""Texts about changes whose outcome is open."""

TEXTS: dict[str, str] = {
    "effects.settling": "The answer of {call} was lost; waiting until the platform's lists can be believed.",
    "effects.outcome_question": "Did {tool} happen? Its answer was lost, and looking does not tell.",
    "effects.call_made": "Call: {call}, token {token}, intended at {at}.",
    "effects.arguments": "Arguments: {args}",
    "effects.not_repeatable": "It may cost money twice, so it is not called again without a person's word.",
    "effects.not_shown": "It was answered that it happened, but the platform does not show it.",
    "effects.happened": "It happened: look again and take what is there",
    "effects.not_happened": "It did not happen: call again",
    "effects.cancel": "Cancel this run",
}
