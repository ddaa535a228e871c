"""Texts about what roles may do."""

TEXTS: dict[str, str] = {
    "governance.role_missing": "{operation} takes the role {needed}, and {who} has the role {role}. Nothing was changed.",
    "governance.other_project": "Work of project {project} is for its own members; {who} belongs to project {own}. Nothing was changed.",
    "governance.ask_a_role": "ask somebody with the role {needed} to request it",
}
