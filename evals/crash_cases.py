"""What each workflow is given when it is measured: a world, what went before, and a person's answers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final

from core.cluster.clusters import CapacityMode
from core.governance.principals import Channel, Principal, Role
from core.ids import ActorId, ClusterName
from core.json_value import JsonObject, JsonValue
from core.questions import QuestionKind
from twin.world.specification import ClusterSpec, GroupSpec, WorldSpec
from workflows.catalogue.delete_cluster.operation import DeleteCluster
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
)
"""At least one for every workflow of the catalogue."""
