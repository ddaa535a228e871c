"""remove_capacity as something to ask for: nodes where nothing runs, or named ones, with all that is lost listed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from core.choices import ChoiceKind
from core.cluster.clusters import Node
from core.ids import ClusterName
from core.messages.message import Message, message
from core.questions import QuestionDraft, QuestionKind
from core.reasons import RefusalReason
from core.risk import Risk
from tools.clusters import ClusterDetails
from workflows.catalogue.chosen_nodes import Inventory, as_ref, named_nodes, read_inventory
from workflows.catalogue.options import option
from workflows.catalogue.preparing import reading
from workflows.catalogue.remove_capacity.params import RemoveCapacityParams
from workflows.catalogue.targets import find_target, refuse_unusable
from workflows.operations import Draft, Missing, PlannedCluster, Preparation, Reads, Ready, Refused


class RemoveCapacityRequest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    cluster: str | None = Field(default=None, description="Name of the cluster that loses nodes.")
    group: str | None = Field(default=None, description="Instance group, when the requester named one.")
    count: int | None = Field(default=None, description="How many nodes to take away, when no node was named.")
    total: int | None = Field(
        default=None, description="How many nodes the group shall have in the end (`down to 3`), instead of a count."
    )
    node: str | None = Field(default=None, description="Instance id of the node to take away, when one was named.")
    nodes: list[str] | None = Field(default=None, description="Instance ids, when several were named.")
    interrupts_jobs: bool | None = Field(
        default=None, description="True only when the requester said that running jobs may be interrupted."
    )


class RemoveCapacity:
    """`workflows.operations.Operation`."""

    name: Final = "remove_capacity"
    description: Final = (
        "Take nodes out of a cluster: named ones, or a number of nodes on which nothing runs. Nodes with running jobs"
        " are protected unless the requester said that the jobs may be interrupted."
    )
    params: Final[type[BaseModel]] = RemoveCapacityRequest
    human_choices: Final[frozenset[ChoiceKind]] = frozenset()

    def prepare(self, draft: Draft, reads: Reads, planned: Mapping[ClusterName, PlannedCluster]) -> Preparation:
        return reading(lambda: _prepare(draft, reads, planned))


def _prepare(draft: Draft, reads: Reads, planned: Mapping[ClusterName, PlannedCluster]) -> Preparation:
    request = RemoveCapacityRequest.model_validate(draft.params)
    target = find_target(request.cluster, reads, planned)
    if isinstance(target, Missing | Refused):
        return target
    if isinstance(target, PlannedCluster):
        text = message("nodes.still_planned", name=target.name)
        return Refused(reason=RefusalReason.TARGET_IN_WRONG_STATE, message=text)
    refusal = refuse_unusable(target)
    if refusal is not None:
        return refusal
    inventory = read_inventory(reads, target.cluster.name, target.eks_name)
    names = [*([request.node] if request.node else []), *(request.nodes or ())]
    nodes = named_nodes(inventory, names, target.cluster.name) if names else _pick(request, target, inventory)
    if isinstance(nodes, Missing | Refused):
        return nodes
    busy = inventory.work_on_all(nodes)
    if busy and request.interrupts_jobs is not True:
        return _protected(nodes, inventory)
    return _ready(target, inventory, nodes, busy)


def _pick(
    request: RemoveCapacityRequest, details: ClusterDetails, inventory: Inventory
) -> tuple[Node, ...] | Missing | Refused:
    """`count` nodes of one group: broken ones first, then idle ones; never one with a job on it."""
    groups = [group.name for group in details.cluster.groups if group.target_count > 0]
    group = request.group or (groups[0] if len(groups) == 1 else None)
    if group is None and groups:
        return Missing(question=_ask_group(groups))
    own = [node for node in inventory.nodes if node.group == group]
    if not own:
        text = message("nodes.group_empty", group=group or "-", name=details.cluster.name)
        return Refused(reason=RefusalReason.NAME_UNKNOWN, message=text)
    count = request.count if request.total is None else len(own) - request.total
    if count is None:
        return Missing(question=_ask_count(own))
    if not 1 <= count <= len(own):
        text = message("nodes.count_out_of_range", count=count, most=len(own), group=group or "-")
        return Refused(reason=RefusalReason.COUNT_OUT_OF_RANGE, message=text)
    idle = [node for node in own if not inventory.work_on(node)]
    ranked = sorted(idle, key=lambda node: (node.is_usable, str(node.logical_id)))
    if len(ranked) < count:
        busy = [node for node in own if inventory.work_on(node)]
        return _protected(busy, inventory, idle=len(idle))
    return tuple(ranked[:count])


def _protected(nodes: Sequence[Node], inventory: Inventory, *, idle: int | None = None) -> Refused:
    listed = ", ".join(
        f"{node.instance_id} ({', '.join(inventory.work_on(node))})" for node in nodes if inventory.work_on(node)
    )
    remedies = [message("nodes.stop_jobs_first")]
    if idle:
        remedies.insert(0, message("market.fewer", count=idle))
    text = message("nodes.protected", nodes=listed)
    return Refused(reason=RefusalReason.TARGET_BUSY, message=text, remedies=tuple(remedies))


def _ask_group(groups: Sequence[str]) -> QuestionDraft:
    return QuestionDraft(
        name="params.group",
        kind=QuestionKind.TARGET,
        prompt=message("nodes.which_group"),
        options=tuple(option(name, message("targets.existing", name=name)) for name in groups),
    )


def _ask_count(own: Sequence[Node]) -> QuestionDraft:
    """Without a list: beside numbered options a typed 2 could mean the second of them or two nodes."""
    return QuestionDraft(
        name="params.count",
        kind=QuestionKind.MISSING,
        prompt=message("nodes.how_many", most=len(own)),
        options=(),
        takes_other=True,
        field="count",
    )


def _ready(details: ClusterDetails, inventory: Inventory, nodes: tuple[Node, ...], lost: tuple[str, ...]) -> Ready:
    params = RemoveCapacityParams(
        cluster=details.cluster.name, nodes=tuple(as_ref(node) for node in nodes), lost_jobs=lost
    )
    return Ready(
        run_params=params.model_dump(mode="json"),
        cluster=details.cluster.name,
        risk=Risk.DESTRUCTIVE,
        card=_card(details, nodes),
        cost_cents_per_hour=0,
        blast_radius=(
            *(_loses(node) for node in nodes),
            *(message("nodes.interrupts", job=job) for job in lost),
            message("delete_cluster.loses_disks"),
        ),
    )


def _card(details: ClusterDetails, nodes: Sequence[Node]) -> tuple[Message, ...]:
    counts: dict[str, int] = {}
    for node in nodes:
        counts[node.group] = counts.get(node.group, 0) + 1
    before = {group.name: group.target_count for group in details.cluster.groups}
    return tuple(
        message(
            "remove_capacity.card_what",
            name=details.cluster.name,
            group=group,
            count=count,
            before=before.get(group, 0),
            after=max(before.get(group, 0) - count, 0),
        )
        for group, count in counts.items()
    )


def _loses(node: Node) -> Message:
    return message("nodes.lost", node=node.instance_id or node.logical_id, type=node.instance_type, group=node.group)
