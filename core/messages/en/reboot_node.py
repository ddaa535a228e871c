"""Texts of reboot_node."""

TEXTS: dict[str, str] = {
    "reboot_node.title": "Reboot nodes",
    "reboot_node.step_check": "Check the nodes and what runs on them",
    "reboot_node.step_act": "Reboot the nodes",
    "reboot_node.step_follow": "Wait until the nodes are ready again",
    "reboot_node.card_what": "Reboot {node} of the group {group} of {name} ({status}, health {health})",
}
