"""Texts about stored rows."""

TEXTS: dict[str, str] = {
    "state.row_not_found": "There is no {noun} {id!r}.",
    "state.illegal_transition": "The {noun} {id!r} is {before} and cannot become {after}.",
    "state.lease_lost": "Another worker has taken over the run {run!r} (fence {fence}); nothing more was written here.",
    "state.idempotency_mismatch": "The effect {key!r} was recorded with other arguments; it was not carried out.",
    "state.step_changed_its_mind": "Whether the effect {key!r} happened is still open, and now the same step wants it with other arguments; nothing was carried out.",
    "state.approval_used": "The approval of plan {plan!r} has already started {node!r} as run {run!r}; an approval is used once.",
    "state.database_unusable": "The database {path!r} cannot be used: {why}. Nothing was changed.",
}
