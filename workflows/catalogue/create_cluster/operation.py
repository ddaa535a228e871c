"""create_cluster as something to ask for: what it needs, what it refuses, what its card says."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from core.choices import ChoiceKind
from core.cluster.clusters import NodeRecovery, Orchestrator
from core.ids import ClusterName
from core.json_value import JsonObject
from core.messages.message import Message, message
from core.questions import QuestionDraft, QuestionKind
from core.reasons import RefusalReason
from core.risk import Risk
from tools.access_entries import is_role_arn
from tools.arguments import ByName
from tools.clusters import DESCRIBE_CLUSTER
from tools.eks import CONTROL_PLANE, eks_name_of
from tools.ownership import CLUSTER_TAG
from workflows.catalogue.create_cluster.choices import Chosen, Undecided, choose
from workflows.catalogue.create_cluster.params import (
    MAX_NAME_LENGTH,
    NAME_PATTERN,
    CreateClusterParams,
)
from workflows.catalogue.market import Market
from workflows.catalogue.money import dollars
from workflows.catalogue.options import option, recommend_first
from workflows.catalogue.preparing import choice_lines, choices_json, reading
from workflows.operations import Draft, Missing, PlannedCluster, Preparation, Reads, Ready, Refused


class CreateClusterRequest(BaseModel):
    """What the model may fill in. Zone, type and capacity are not among it."""

    model_config = ConfigDict(extra="forbid")

    name: str | None = Field(default=None, description="Name of the new cluster, as the requester gave it.")
    orchestrator: Orchestrator | None = Field(
        default=None, description="Only when the requester named one. EKS when nothing was said."
    )
    node_recovery: NodeRecovery | None = Field(
        default=None,
        description="`None` when the requester wants no automatic replacement of faulty nodes; else `Automatic`.",
    )
    accelerator: str | None = Field(
        default=None, description="GPU model that was named instead of an instance type, such as `H100`."
    )
    vpc_id: str | None = Field(default=None, description="Existing VPC to stand in. A new network when not given.")
    admin_role_arn: str | None = Field(
        default=None, description="ARN of an IAM role that shall use kubectl on the cluster, when one was given."
    )
    kubernetes_version: str | None = Field(default=None, description="Such as `1.34`. EKS's default when not given.")


class CreateCluster:
    """`workflows.operations.Operation`."""

    name: Final = "create_cluster"
    description: Final = (
        "Create a new HyperPod cluster: network, roles, EKS control plane, add-ons and one group of nodes, and wait"
        " until all nodes are ready. The availability zone, the instance type and the capacity (how many nodes, and"
        " on demand, spot or from a training plan) are chosen by the requester alone."
    )
    params: Final[type[BaseModel]] = CreateClusterRequest
    human_choices: Final = frozenset(ChoiceKind)

    def prepare(self, draft: Draft, reads: Reads, planned: Mapping[ClusterName, PlannedCluster]) -> Preparation:
        return reading(lambda: _prepare(draft, reads, planned))


def _prepare(draft: Draft, reads: Reads, planned: Mapping[ClusterName, PlannedCluster]) -> Preparation:
    request = CreateClusterRequest.model_validate(draft.params)
    if request.orchestrator is Orchestrator.SLURM:
        return Refused(reason=RefusalReason.NOT_SUPPORTED, message=message("create_cluster.only_eks"))
    if request.admin_role_arn is not None and not is_role_arn(request.admin_role_arn):
        text = message("create_cluster.no_role_arn", arn=request.admin_role_arn[:200])
        return Refused(reason=RefusalReason.PARAMETER_INVALID, message=text)
    refusal = _refuse_name(request.name, draft, reads, planned) if request.name is not None else None
    if refusal is not None:
        return refusal
    market = Market(reads)
    chosen = choose(draft, market, reads, accelerator=request.accelerator or "", vpc_id=request.vpc_id or "")
    if isinstance(chosen, Refused):
        return chosen
    if request.name is None:
        # Asked first, although what was said is checked before: nobody names a cluster that cannot be.
        return Missing(question=_name_question(reads, planned))
    if isinstance(chosen, Undecided):
        return Missing(question=chosen.question)
    return _ready(draft, request, request.name, market, chosen)


def _refuse_name(
    name: str, draft: Draft, reads: Reads, planned: Mapping[ClusterName, PlannedCluster]
) -> Refused | None:
    if len(name) > MAX_NAME_LENGTH or re.fullmatch(NAME_PATTERN, name) is None:
        text = message("create_cluster.name_invalid", name=name[:80], longest=MAX_NAME_LENGTH)
        return Refused(reason=RefusalReason.NAME_INVALID, message=text)
    other = planned.get(ClusterName(name))
    is_taken = other is not None and other.node_id != draft.node_id
    if is_taken or reads.read(DESCRIBE_CLUSTER, ByName(name=name)) is not None:
        text = message("create_cluster.name_taken", name=name)
        remedy = message("create_cluster.choose_other_name")
        return Refused(reason=RefusalReason.NAME_TAKEN, message=text, remedies=(remedy,))
    control_plane = reads.read(CONTROL_PLANE, ByName(name=eks_name_of(name)))
    if control_plane is not None and control_plane.tags.get(CLUSTER_TAG) != name:
        text = message("create_cluster.eks_name_taken", name=eks_name_of(name))
        return Refused(reason=RefusalReason.NAME_TAKEN, message=text)
    return None


def _name_question(reads: Reads, planned: Mapping[ClusterName, PlannedCluster]) -> QuestionDraft:
    free = (
        name
        for name in (f"training-{number}" for number in range(1, 100))
        if name not in planned and reads.read(DESCRIBE_CLUSTER, ByName(name=name)) is None
    )
    suggestion = next(free, None)
    options = (
        recommend_first([option(suggestion, message("create_cluster.name_suggested", name=suggestion))])
        if suggestion is not None
        else ()
    )
    return QuestionDraft(
        name="params.name",
        kind=QuestionKind.MISSING,
        prompt=message("create_cluster.ask_name", longest=MAX_NAME_LENGTH),
        options=options,
        takes_other=True,
        field="name",
    )


def _ready(draft: Draft, request: CreateClusterRequest, name: str, market: Market, chosen: Chosen) -> Ready:
    price = None if chosen.plan_arn else market.price(chosen.instance_type)
    params = CreateClusterParams(
        name=name,
        zone_id=chosen.zone_id,
        instance_type=chosen.instance_type,
        count=chosen.count,
        mode=chosen.mode,
        plan_arn=chosen.plan_arn,
        node_recovery=request.node_recovery or NodeRecovery.AUTOMATIC,
        vpc_id=request.vpc_id or "",
        kubernetes_version=request.kubernetes_version or "",
        admin_role_arn=request.admin_role_arn or "",
        price_cents_per_hour=price,
        choices=choices_json(chosen.choices),
    )
    run_params: JsonObject = params.model_dump(mode="json")
    return Ready(
        run_params=run_params,
        cluster=ClusterName(name),
        risk=Risk.SPENDING,
        card=(*_card(params, market, chosen), *choice_lines(chosen.choices)),
        cost_cents_per_hour=(price or 0) * chosen.count,
        planned_cluster=PlannedCluster(name=ClusterName(name), node_id=draft.node_id, details=run_params),
    )


def _card(params: CreateClusterParams, market: Market, chosen: Chosen) -> tuple[Message, ...]:
    place = (
        message("create_cluster.card_vpc", vpc=params.vpc_id)
        if params.vpc_id
        else message("create_cluster.card_network")
    )
    return (
        message(
            "create_cluster.card_what",
            name=params.name,
            count=params.count,
            type=params.instance_type,
            zone=params.zone_id,
            zone_name=chosen.zone_name,
        ),
        message("create_cluster.card_makes", eks=params.eks_name),
        place,
        message("create_cluster.card_recovery", recovery=params.node_recovery.value),
        *([message("create_cluster.card_admin", arn=params.admin_role_arn)] if params.admin_role_arn else []),
        _cost(params, market),
        message("create_cluster.card_shortage"),
    )


def _cost(params: CreateClusterParams, market: Market) -> Message:
    if params.plan_arn:
        return message("create_cluster.card_cost_plan", plan=params.plan_arn.rpartition("/")[2])
    price = params.price_cents_per_hour
    if price is None:
        return message("market.price_unknown", type=params.instance_type)
    return message(
        "create_cluster.card_cost", total=dollars(price * params.count), each=dollars(price), count=params.count
    )
