"""Texts of the conversation."""

TEXTS: dict[str, str] = {
    "agent.model_unreachable": "The language model cannot be reached ({why}). Nothing was changed; please try again.",
    "agent.model_timed_out": "The language model gave no answer within {seconds} seconds. Nothing was changed; please try again.",
    "agent.model_rejected": "The language model's server refused the request (HTTP {status}: {why}). Nothing was changed; its address, key and model name need a look.",
}
