"""Two operations over a world of two zones, small enough to follow by hand, and a read tool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from agent.toolbox.reads import Looking, LookTool
from core.choices import ChoiceKind
from core.ids import ClusterName
from core.json_value import JsonObject, JsonValue
from core.messages.message import Message, message
from core.questions import Option, QuestionDraft, QuestionKind
from core.reasons import RefusalReason
from core.risk import Risk
from tools.contract import ArgsT, ReadTool, ResultT
from workflows.operations import Draft, Missing, PlannedCluster, Preparation, Reads, Ready, Refused

ZONES = ("usw2-az1", "usw2-az2")
TYPES = ("ml.p5.48xlarge", "ml.g5.12xlarge")
MAX_NODES = 64


def said(text: str) -> Message:
    return message("general.text", text=text)


class FakeReads:
    """Nothing outside: the fake operations carry their own world."""

    region = "us-west-2"

    def read(self, tool: ReadTool[ArgsT, ResultT], args: ArgsT) -> ResultT:
        raise NotImplementedError(tool.name)


class CreateParams(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str | None = Field(default=None, description="Name of the new cluster.")
    orchestrator: Literal["Eks", "Slurm"] | None = Field(default=None, description="What schedules jobs on it.")


@dataclass
class FakeCreateCluster:
    """Asks for name, zone, type and capacity in this order; refuses a taken name and absurd counts."""

    taken: list[str] = field(default_factory=list)
    zones: tuple[str, ...] = ZONES
    prepared: int = 0

    name = "create_cluster"
    description = "Create a HyperPod cluster."
    params: type[BaseModel] = CreateParams
    human_choices = frozenset(ChoiceKind)

    def prepare(self, draft: Draft, reads: Reads, planned: Mapping[ClusterName, PlannedCluster]) -> Preparation:
        self.prepared += 1
        name = draft.params.get("name")
        if name is None:
            return Missing(question=_missing("name"))
        if name in self.taken:
            return Refused(
                reason=RefusalReason.NAME_TAKEN, message=said(f"{name} exists"), remedies=(said("take another name"),)
            )
        zone = draft.choices.get(ChoiceKind.AVAILABILITY_ZONE)
        if zone is None:
            return Missing(question=_choice(QuestionKind.AVAILABILITY_ZONE, self.zones))
        instance_type = draft.choices.get(ChoiceKind.INSTANCE_TYPE)
        if instance_type is None:
            return Missing(question=_choice(QuestionKind.INSTANCE_TYPE, TYPES))
        capacity = draft.choices.get(ChoiceKind.CAPACITY)
        value = capacity.value if capacity is not None else {}
        assert isinstance(value, Mapping)
        mode, count = value.get("mode"), value.get("count")
        if mode is None or not isinstance(count, int):
            return Missing(question=_capacity(count if isinstance(count, int) else 2))
        if not 1 <= count <= MAX_NODES:
            return Refused(reason=RefusalReason.COUNT_OUT_OF_RANGE, message=said(f"{count} nodes cannot be had"))
        params: dict[str, JsonValue] = {"name": name, "zone": zone.value, "type": instance_type.value, "count": count}
        params["mode"] = mode
        return Ready(
            run_params=params,
            cluster=ClusterName(str(name)),
            risk=Risk.SPENDING,
            card=tuple(said(f"{kind}: {choice.quote} ({choice.origin})") for kind, choice in draft.choices.items()),
            cost_cents_per_hour=count * 1000,
            planned_cluster=PlannedCluster(name=ClusterName(str(name)), node_id=draft.node_id, details=params),
        )


class SubmitParams(BaseModel):
    model_config = ConfigDict(extra="forbid")

    cluster: str | None = Field(default=None, description="The cluster to run on.")
    name: str | None = Field(default=None, description="Name of the job.")
    nodes: int | None = Field(default=None, description="How many nodes it runs on.")


@dataclass
class FakeSubmitJob:
    clusters: list[str] = field(default_factory=list)

    name = "submit_job"
    description = "Run a training job on a cluster."
    params: type[BaseModel] = SubmitParams
    human_choices: frozenset[ChoiceKind] = frozenset()

    def prepare(self, draft: Draft, reads: Reads, planned: Mapping[ClusterName, PlannedCluster]) -> Preparation:
        known = [*self.clusters, *planned]
        cluster = draft.params.get("cluster") or (known[0] if len(known) == 1 else None)
        if cluster is None:
            return Missing(question=_target(known))
        if cluster not in known:
            return Refused(reason=RefusalReason.NAME_UNKNOWN, message=said(f"there is no cluster {cluster}"))
        if draft.params.get("nodes") is None:
            return Missing(question=_missing("nodes"))
        name = ClusterName(str(cluster))
        earlier = planned.get(name)
        return Ready(
            run_params={**draft.params, "cluster": cluster},
            cluster=name,
            risk=Risk.REVERSIBLE,
            card=(said(f"job on {cluster}"),),
            cost_cents_per_hour=0,
            depends_on=(earlier.node_id,) if earlier else (),
        )


class NoParams(BaseModel):
    model_config = ConfigDict(extra="forbid")


def fake_list_clusters(clusters: JsonValue) -> LookTool:
    def look(looking: Looking, params: BaseModel) -> JsonObject:
        return {"clusters": clusters}

    return LookTool(name="list_clusters", description="All clusters.", params=NoParams, look=look)


def _choice(kind: QuestionKind, values: tuple[str, ...]) -> QuestionDraft:
    options = tuple(Option(id=f"{kind}-{value}", value=value, label=said(value)) for value in values)
    return QuestionDraft(name=kind.value, kind=kind, prompt=said(f"which {kind}?"), options=options)


def _capacity(count: int) -> QuestionDraft:
    options = tuple(
        Option(id=f"{mode}-{count}", value={"mode": mode, "count": count, "plan": None}, label=said(f"{count} {mode}"))
        for mode in ("on_demand", "spot")
    )
    return QuestionDraft(
        name="capacity", kind=QuestionKind.CAPACITY, prompt=said("how much?"), options=options, takes_other=True
    )


def _missing(name: str) -> QuestionDraft:
    return QuestionDraft(
        name=f"params.{name}",
        kind=QuestionKind.MISSING,
        prompt=said(f"which {name}?"),
        options=(),
        takes_other=True,
        field=name,
    )


def _target(names: list[str]) -> QuestionDraft:
    options = tuple(Option(id=f"target-{name}", value=name, label=said(name)) for name in names)
    return QuestionDraft(
        name="params.cluster", kind=QuestionKind.TARGET, prompt=said("which cluster?"), options=options
    )
