"""Nodes that somebody named, or that are picked because nothing runs on them; and the work that is on them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from core.cluster.clusters import Node
from core.messages.message import message
from core.questions import QuestionDraft, QuestionKind
from core.reasons import RefusalReason
from tools.arguments import ByName
from tools.clusters import ClusterDetails
from tools.node_batches import NodeRef
from tools.nodes import CLUSTER_NODES, NodesArgs, kubernetes_name
from tools.occupants import OCCUPANTS
from workflows.catalogue.market import Reader
from workflows.catalogue.options import option
from workflows.operations import Refused

_MOST_SHOWN: Final = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Inventory:
    nodes: tuple[Node, ...]
    work: Mapping[str, tuple[str, ...]]
    """Kubernetes node -> `namespace/job`."""

    def work_on(self, node: Node) -> tuple[str, ...]:
        return self.work.get(kubernetes_name(node.instance_id), ()) if node.instance_id is not None else ()

    def work_on_all(self, nodes: Iterable[Node]) -> tuple[str, ...]:
        return tuple(sorted({job for node in nodes for job in self.work_on(node)}))

    def find(self, name: str) -> Node | None:
        """By instance id, logical id or Kubernetes name."""
        wanted = name.strip().removeprefix("hyperpod-")
        return next((n for n in self.nodes if wanted in {n.logical_id, n.instance_id}), None)

    def refs(self, refs: Sequence[NodeRef]) -> tuple[Node, ...]:
        """The nodes of these references that are still what they were: another instance is another machine."""
        wanted = {(ref.logical_id, ref.instance_id) for ref in refs}
        return tuple(n for n in self.nodes if (str(n.logical_id), str(n.instance_id or "")) in wanted)


def read_inventory(reader: Reader, cluster: str, eks_name: str) -> Inventory:
    """Raises `ToolError`, also when the API server gives no answer: work must not be taken for absent."""
    nodes = reader.read(CLUSTER_NODES, NodesArgs(cluster=cluster, eks_name=eks_name)).nodes
    work = reader.read(OCCUPANTS, ByName(name=eks_name))
    return Inventory(nodes=nodes, work=work)


def as_ref(node: Node) -> NodeRef:
    return NodeRef(logical_id=node.logical_id, instance_id=node.instance_id or "")


def named_nodes(inventory: Inventory, names: Sequence[str], cluster: str) -> tuple[Node, ...] | Refused:
    """Each once, in the order named. One that the cluster does not have refuses all."""
    found: list[Node] = []
    for name in names:
        node = inventory.find(name)
        if node is None:
            text = message("nodes.unknown", node=name[:80], name=cluster)
            return Refused(reason=RefusalReason.NAME_UNKNOWN, message=text)
        if node not in found:
            found.append(node)
    return tuple(found)


def ask_which_node(inventory: Inventory, details: ClusterDetails) -> QuestionDraft:
    """Those that are not usable first; none is recommended."""
    ranked = sorted(inventory.nodes, key=lambda node: (node.is_usable, node.group, node.logical_id))
    return QuestionDraft(
        name="params.node",
        kind=QuestionKind.TARGET,
        prompt=message("nodes.which", name=details.cluster.name),
        options=tuple(
            option(
                str(node.instance_id or node.logical_id),
                message("nodes.option", node=node.instance_id or node.logical_id, group=node.group),
                message("nodes.state", status=node.status.value, health=node.health.value),
                *(message("nodes.runs", job=job) for job in inventory.work_on(node)),
            )
            for node in ranked[:_MOST_SHOWN]
        ),
        takes_other=True,
    )
