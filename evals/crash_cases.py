"""What each workflow is given when it is measured: a world, what went before, and a person's answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from core.cluster.clusters import CapacityMode
from core.governance.principals import Channel, Principal, Role
from core.ids import ActorId, ClusterName
from core.json_value import JsonObject, JsonValue
from core.questions import QuestionKind
from tools.nodes import CLUSTER_NODES, NodesArgs
from twin.world.specification import ClusterSpec, GroupSpec, JobSpec, WorldSpec
from workflows.catalogue.delete_cluster.operation import DeleteCluster
from workflows.catalogue.job_control.operation import JobControl, Verb
from workflows.catalogue.node_repair.operation import NodeRepair
from workflows.catalogue.remove_capacity.operation import RemoveCapacity
from workflows.operations import Draft, Operation, Reads, Ready

OPERATOR: Final = Principal(id=ActorId("operator"), role=Role.PLATFORM_ADMIN, channel=Channel.TERMINAL)
_REGION: Final = "us-west-2"
_TYPE: Final = "ml.p5.48xlarge"
_SMALL: Final = "ml.g5.12xlarge"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prelude:
    """A run that must be done before the measured one can begin; nothing disturbs it."""

    workflow: str
    params: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    workflow: str
    name: str
    """Tells apart the cases of one workflow."""
    world: WorldSpec
    cluster: ClusterName
    params: Callable[[Reads], JsonObject]
    """What an approval would freeze; read from the world as it is when the run is created."""
    preludes: tuple[Prelude, ...] = ()
    answers: Mapping[QuestionKind, JsonValue] = field(default_factory=dict)
    """The option (by its value) that the person chooses. Any other question stays open, and the run is stuck."""
    runs_processes: bool = False
    """True: the twin starts real processes, which take real time."""

    @property
    def title(self) -> str:
        return f"{self.workflow}/{self.name}"


def _given(params: JsonObject) -> Callable[[Reads], JsonObject]:
    return lambda reads: params


def _prepared(operation: Operation, params: JsonObject) -> Callable[[Reads], JsonObject]:
    """As the operation prepares it. Raises `ValueError` when it has something to ask or refuses."""

    def prepare(reads: Reads) -> JsonObject:
        ready = operation.prepare(Draft(node_id="n1", params=params, choices={}, requested_by=OPERATOR), reads, {})
        if not isinstance(ready, Ready):
            raise ValueError(f"{operation.name} is not ready: {ready}")
        return ready.run_params

    return prepare


_LLAMA: Final = ClusterName("llama")
_BASE: Final = ClusterName("base")
_PLENTY: Final = WorldSpec(region=_REGION, zones={"usw2-az1": {_TYPE: 2}, "usw2-az2": {_TYPE: 8}}, quotas={_TYPE: 8})
_SCARCE: Final = WorldSpec(region=_REGION, zones={"usw2-az1": {_TYPE: 1}, "usw2-az2": {_TYPE: 8}}, quotas={_TYPE: 8})
_STANDING: Final = WorldSpec(
    region=_REGION,
    zones={"usw2-az1": {_SMALL: 8}},
    quotas={_SMALL: 8},
    clusters=(ClusterSpec(name=_BASE, zone="usw2-az1", groups=(GroupSpec(name="workers", type=_SMALL, count=2),)),),
)
_NODE_REPAIR: Final = (NodeRepair("reboot_node"), NodeRepair("replace_node"))
_ONE_MORE: Final[JsonObject] = {
    "cluster": _BASE,
    "group": "workers",
    "is_new_group": False,
    "count": 1,
    "zone_id": "usw2-az1",
    "zone_name": "us-west-2a",
    "instance_type": _SMALL,
    "mode": CapacityMode.ON_DEMAND.value,
}
_TWO_NODES: Final[JsonObject] = {"name": _LLAMA, "zone_id": "usw2-az2", "instance_type": _TYPE, "count": 2}
_QUICK_JOB: Final[JsonObject] = {
    "cluster": _BASE,
    "name": "sft",
    "image": "muster/sample-job",
    "nodes": 2,
    "instance_type": _SMALL,
    "accelerator_resource": "nvidia.com/gpu",
    "accelerators_per_node": 4,
    "command": ["python", "-m", "twin.sample_job.train", "--steps", "2", "--step-seconds", "0.01"],
    "team": "vision",
}


def _busy(state: Literal["Running", "Suspended"]) -> WorldSpec:
    """The standing cluster with one job on one of its nodes."""
    job = JobSpec(name="sft", nodes=1, state=state, log="step 1 loss 2.3")
    (cluster,) = _STANDING.clusters
    return _STANDING.model_copy(update={"clusters": (cluster.model_copy(update={"jobs": (job,)}),)})


def _job_control(verb: Verb, state: Literal["Running", "Suspended"], **more: JsonValue) -> Case:
    return Case(
        workflow=verb,
        name="of a standing job",
        world=_busy(state),
        cluster=_BASE,
        params=_prepared(JobControl(verb), {"cluster": _BASE, "job": "sft", **more}),
        runs_processes=True,
    )


def _first_node(operation: NodeRepair) -> Callable[[Reads], JsonObject]:
    def prepare(reads: Reads) -> JsonObject:
        nodes = reads.read(CLUSTER_NODES, NodesArgs(cluster=_BASE, eks_name=f"{_BASE}-eks")).nodes
        node = min(str(node.instance_id) for node in nodes)
        return _prepared(operation, {"cluster": _BASE, "node": node})(reads)

    return prepare


CASES: Final[tuple[Case, ...]] = (
    Case(workflow="create_cluster", name="plain", world=_PLENTY, cluster=_LLAMA, params=_given(_TWO_NODES)),
    Case(
        workflow="create_cluster",
        name="too few nodes",
        world=_SCARCE,
        cluster=_LLAMA,
        params=_given({**_TWO_NODES, "zone_id": "usw2-az1"}),
        answers={
            QuestionKind.CAPACITY: {"mode": CapacityMode.ON_DEMAND.value, "count": 2, "zone": "usw2-az2"},
        },
    ),
    Case(
        workflow="delete_cluster",
        name="of our own",
        world=_PLENTY,
        cluster=_LLAMA,
        params=_prepared(DeleteCluster(), {"cluster": _LLAMA}),
        preludes=(Prelude(workflow="create_cluster", params=_TWO_NODES),),
    ),
    Case(
        workflow="submit_job",
        name="two nodes",
        world=_STANDING,
        cluster=_BASE,
        params=_given(_QUICK_JOB),
        runs_processes=True,
    ),
    Case(workflow="add_capacity", name="one more", world=_STANDING, cluster=_BASE, params=_given(_ONE_MORE)),
    Case(
        workflow="remove_capacity",
        name="one of two",
        world=_STANDING,
        cluster=_BASE,
        params=_prepared(RemoveCapacity(), {"cluster": _BASE, "count": 1}),
    ),
    *(
        Case(workflow=operation.name, name="a free node", world=_STANDING, cluster=_BASE, params=_first_node(operation))
        for operation in _NODE_REPAIR
    ),
    _job_control("stop_job", "Running"),
    _job_control("resume_job", "Suspended"),
    _job_control("resize_job", "Running", nodes=2),
)
"""At least one for every workflow of the catalogue."""
