"""Texts of replace_node."""

TEXTS: dict[str, str] = {
    "replace_node.title": "Replace nodes",
    "replace_node.step_check": "Check the nodes and what runs on them",
    "replace_node.step_act": "Replace the nodes",
    "replace_node.step_follow": "Wait until the new instances are ready",
    "replace_node.card_what": "Replace {node} of the group {group} of {name} ({status}, health {health}) by a new instance. This cannot be undone.",
}
