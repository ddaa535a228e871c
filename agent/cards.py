"""The approval of a plan: what exactly is approved (the envelope) and what the person is shown of it (the card)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from agent.conversation import Profile
from core.json_value import JsonObject
from core.messages.message import Message, message
from core.questions import APPROVE, REJECT, Option, QuestionDraft, QuestionKind
from core.risk import Risk
from state.records import PlanNode
from workflows.operations import Ready

APPROVAL = "approval"
_RISKS = (Risk.READ, Risk.REVERSIBLE, Risk.SPENDING, Risk.DESTRUCTIVE)


def envelope(prepared: Sequence[tuple[PlanNode, Ready]], versions: Mapping[str, int], profile: Profile) -> JsonObject:
    """Frozen run parameters, targets, most cost per hour in cents, choices with their origins, and the account.

    Raises `KeyError` for an operation without a workflow.
    """
    return {
        "runs": [
            {
                "node_id": node.id,
                "workflow": node.operation,
                "version": versions[node.operation],
                "params": ready.run_params,
                "cluster": ready.cluster,
                "depends_on": list(ready.depends_on),
            }
            for node, ready in prepared
        ],
        "choices": {node.id: node.choices for node, _ in prepared},
        "max_cost_cents_per_hour": sum(ready.cost_cents_per_hour for _, ready in prepared),
        "risk": worst_risk([ready for _, ready in prepared]).value,
        "blast_radius": [line.to_json() for _, ready in prepared for line in ready.blast_radius],
        "account": profile.account,
        "region": profile.region,
        "is_twin": profile.is_twin,
    }


def approval_draft(prepared: Sequence[tuple[PlanNode, Ready]], profile: Profile) -> QuestionDraft:
    return QuestionDraft(
        name=APPROVAL,
        kind=QuestionKind.APPROVAL,
        prompt=message("agent.approve_prompt"),
        options=(
            Option(id=APPROVE, value=APPROVE, label=message("agent.approve")),
            Option(id=REJECT, value=REJECT, label=message("agent.reject")),
        ),
        details=_card(prepared, profile),
    )


def worst_risk(prepared: Sequence[Ready]) -> Risk:
    return max((ready.risk for ready in prepared), key=_RISKS.index)


def _card(prepared: Sequence[tuple[PlanNode, Ready]], profile: Profile) -> tuple[Message, ...]:
    lines: list[Message] = []
    for _, ready in prepared:
        lines += ready.card
        lines += [message("agent.card_blast", what=item) for item in ready.blast_radius]
    costs = [ready.cost_cents_per_hour for _, ready in prepared if ready.cost_cents_per_hour]
    if len(costs) > 1:  # a single operation's card names its cost itself
        lines.append(message("agent.card_cost", dollars=f"{sum(costs) / 100:,.2f}"))
    place = "agent.card_place_twin" if profile.is_twin else "agent.card_place_real"
    lines.append(message(place, account=profile.account, region=profile.region))
    return tuple(lines)
