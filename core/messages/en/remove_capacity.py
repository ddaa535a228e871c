"""Texts of remove_capacity."""

TEXTS: dict[str, str] = {
    "remove_capacity.title": "Take nodes out of a cluster",
    "remove_capacity.step_survey": "List the nodes and what runs on them",
    "remove_capacity.step_remove": "Delete the nodes",
    "remove_capacity.step_wait_gone": "Wait until the nodes are gone",
    "remove_capacity.card_what": "Delete {count} node(s) of the group {group} of {name}: from {before} to {after}. This cannot be undone.",
    "remove_capacity.progress": "{gone} of {total} node(s) gone",
    "remove_capacity.waiting": "waiting until {count} node(s) are gone",
    "remove_capacity.stuck": "{count} node(s) do not go away.",
}
