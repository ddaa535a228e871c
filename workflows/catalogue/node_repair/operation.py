"""reboot_node and replace_node as something to ask for: which node, what runs there, what is lost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

from pydantic import BaseModel, ConfigDict, Field

from core.choices import ChoiceKind
from core.cluster.clusters import InstanceStatus, Node
from core.ids import ClusterName
from core.messages.message import message
from core.reasons import RefusalReason
from core.risk import Risk
from tools.node_batches import MAX_PER_CALL
from workflows.catalogue.chosen_nodes import Inventory, as_ref, ask_which_node, named_nodes, read_inventory
from workflows.catalogue.node_repair.params import NodeRepairParams
from workflows.catalogue.preparing import reading
from workflows.catalogue.targets import find_target, refuse_unusable
from workflows.operations import Draft, Missing, PlannedCluster, Preparation, Reads, Ready, Refused


class NodeRepairRequest(BaseModel):
    model_config = ConfigDict(extra="forbid")

    cluster: str | None = Field(default=None, description="Name of the cluster.")
    node: str | None = Field(default=None, description="Instance id of the node, as the requester gave it.")
    nodes: list[str] | None = Field(default=None, description="Instance ids, when several were named.")


_DESCRIPTIONS: Final = {
    "reboot_node": "Reboot nodes of a cluster; the instance and its disks stay, jobs on it are interrupted.",
    "replace_node": "Replace nodes of a cluster by new instances; the disks are lost, jobs on it are interrupted.",
}
_CAN_BE: Final = {
    "reboot_node": frozenset({InstanceStatus.RUNNING}),
    "replace_node": frozenset({InstanceStatus.RUNNING, InstanceStatus.FAILURE}),
}


class NodeRepair:
    """`workflows.operations.Operation`, one for each of the two verbs."""

    params: Final[type[BaseModel]] = NodeRepairRequest
    human_choices: Final[frozenset[ChoiceKind]] = frozenset()

    def __init__(self, name: Literal["reboot_node", "replace_node"]) -> None:
        self._name = name

    @property
    def name(self) -> str:
        return self._name

    @property
    def description(self) -> str:
        return _DESCRIPTIONS[self._name]

    def prepare(self, draft: Draft, reads: Reads, planned: Mapping[ClusterName, PlannedCluster]) -> Preparation:
        return reading(lambda: _prepare(self._name, draft, reads, planned))


def _prepare(verb: str, draft: Draft, reads: Reads, planned: Mapping[ClusterName, PlannedCluster]) -> Preparation:
    request = NodeRepairRequest.model_validate(draft.params)
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
    if not names:
        return Missing(question=ask_which_node(inventory, target))
    nodes = named_nodes(inventory, names, target.cluster.name)
    if isinstance(nodes, Refused):
        return nodes
    return _refuse(verb, nodes) or _ready(verb, target.cluster.name, inventory, nodes)


def _refuse(verb: str, nodes: tuple[Node, ...]) -> Refused | None:
    if len(nodes) > MAX_PER_CALL:
        text = message("nodes.too_many", count=len(nodes), most=MAX_PER_CALL)
        return Refused(reason=RefusalReason.COUNT_OUT_OF_RANGE, message=text)
    wrong = next((node for node in nodes if node.status not in _CAN_BE[verb] or node.instance_id is None), None)
    if wrong is None:
        return None
    text = message("nodes.wrong_status", node=wrong.instance_id or wrong.logical_id, status=wrong.status.value)
    return Refused(reason=RefusalReason.TARGET_IN_WRONG_STATE, message=text)


def _ready(verb: str, cluster: ClusterName, inventory: Inventory, nodes: tuple[Node, ...]) -> Ready:
    lost = inventory.work_on_all(nodes)
    params = NodeRepairParams(cluster=cluster, nodes=tuple(as_ref(node) for node in nodes), lost_jobs=lost)
    disks = (message("delete_cluster.loses_disks"),) if verb == "replace_node" else ()
    return Ready(
        run_params=params.model_dump(mode="json"),
        cluster=cluster,
        risk=Risk.DESTRUCTIVE,
        card=tuple(
            message(
                f"{verb}.card_what",
                name=cluster,
                node=str(node.instance_id),
                group=node.group,
                status=node.status.value,
                health=node.health.value,
            )
            for node in nodes
        ),
        cost_cents_per_hour=0,
        blast_radius=(*(message("nodes.interrupts", job=job) for job in lost), *disks),
    )
