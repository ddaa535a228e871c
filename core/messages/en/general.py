"""Texts that no single topic owns."""

TEXTS: dict[str, str] = {
    "general.text": "{text}",
    "general.failure_transient": "a passing fault",
    "general.failure_capacity": "not enough capacity",
    "general.failure_config": "a wrong setting",
    "general.failure_quota": "a quota that is used up",
    "general.failure_permission": "a missing permission",
    "general.failure_unknown": "a cause that could not be told",
    "general.yes": "yes",
    "general.no": "no",
}
