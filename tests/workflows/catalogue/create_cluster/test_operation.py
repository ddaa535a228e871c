"""create_cluster as it is asked for: questions for what is missing, refusals for what cannot be, a full card."""

from __future__ import annotations

from collections.abc import Sequence

import boto3
import pytest

from core.choices import Choice, ChoiceKind, Origin
from core.ids import ClusterName
from core.json_value import JsonObject
from core.questions import QuestionKind
from core.reasons import RefusalReason
from core.risk import Risk
from tests.builders.worlds import world_with_cluster
from tests.twin_process import REGION, TAGS, TOKEN, WholeTwin
from tests.workflows.catalogue.reads import ClientReads, draft, said
from tools.clients.aws import BotoAws
from tools.clients.base import Clients
from twin.world.specification import PlanSpec, StorageSpec, WorldSpec
from workflows.catalogue.create_cluster.operation import CreateCluster
from workflows.catalogue.create_cluster.params import CreateClusterParams
from workflows.operations import Missing, PlannedCluster, Preparation, Ready, Refused

ZONE, TYPE, CAPACITY = ChoiceKind.AVAILABILITY_ZONE, ChoiceKind.INSTANCE_TYPE, ChoiceKind.CAPACITY
WORLD = WorldSpec(
    region=REGION,
    zones={
        "usw2-az1": {"ml.p5.48xlarge": 2, "ml.g5.12xlarge": 20},
        "usw2-az2": {"ml.p5.48xlarge": 16, "ml.p4d.24xlarge": 8},
        "usw2-az3": {"ml.p5en.48xlarge": 4, "ml.trn1.32xlarge": 4},
    },
    quotas={"ml.p5.48xlarge": 16, "ml.g5.12xlarge": 20, "ml.p4d.24xlarge": 8, "ml.p5en.48xlarge": 4},
    plans=(
        PlanSpec(id="reserved", type="ml.p5.48xlarge", count=8, zone="usw2-az2", hours_left=300),
        PlanSpec(id="over", type="ml.p5.48xlarge", count=8, zone="usw2-az2", hours_left=0, status="Expired"),
    ),
)


@pytest.fixture
def world(twin: WholeTwin) -> WholeTwin:
    twin.reset(WORLD)
    return twin


def capacity(count: int | None = 4, mode: str | None = "on_demand", plan: str | None = None) -> Choice:
    return said(CAPACITY, {"mode": mode, "count": count, "plan": plan}, "4 on demand")


def zone(value: str = "usw2-az2") -> Choice:
    return said(ZONE, value)


def kind(value: str = "ml.p5.48xlarge") -> Choice:
    return said(TYPE, value)


def prepare(
    twin: WholeTwin, *choices: Choice, planned: Sequence[PlannedCluster] = (), params: JsonObject | None = None
) -> Preparation:
    wanted = draft({"name": "llama", **(params or {})}, *choices)
    by_name = {cluster.name: cluster for cluster in planned}
    return CreateCluster().prepare(wanted, ClientReads(twin.clients), by_name)


def refused(preparation: Preparation) -> Refused:
    assert isinstance(preparation, Refused), preparation
    return preparation


def asked(preparation: Preparation) -> Missing:
    assert isinstance(preparation, Missing), preparation
    return preparation


def ready(preparation: Preparation) -> Ready:
    assert isinstance(preparation, Ready), preparation
    return preparation


@pytest.mark.parametrize(
    ("choices", "params", "reason"),
    [
        pytest.param((kind("ml.z9.huge"),), {}, RefusalReason.INSTANCE_TYPE_UNKNOWN, id="unknown type"),
        pytest.param((kind("ml.g6.12xlarge"),), {}, RefusalReason.INSTANCE_TYPE_NOT_OFFERED, id="type not offered"),
        pytest.param((capacity(0),), {}, RefusalReason.COUNT_OUT_OF_RANGE, id="no nodes"),
        pytest.param((capacity(-3),), {}, RefusalReason.COUNT_OUT_OF_RANGE, id="negative nodes"),
        pytest.param((capacity(10**9),), {}, RefusalReason.COUNT_OUT_OF_RANGE, id="a billion nodes"),
        pytest.param((zone("use1-az1"),), {}, RefusalReason.ZONE_IN_OTHER_REGION, id="zone id of another region"),
        pytest.param((zone("us-east-1a"),), {}, RefusalReason.ZONE_IN_OTHER_REGION, id="zone name of another region"),
        pytest.param((zone("usw2-az9"),), {}, RefusalReason.ZONE_UNKNOWN, id="no such zone"),
        pytest.param((kind(), capacity(17), zone()), {}, RefusalReason.QUOTA_EXCEEDED, id="more than the quota"),
        pytest.param((kind("ml.trn1.32xlarge"), capacity(1)), {}, RefusalReason.QUOTA_EXCEEDED, id="no quota at all"),
        pytest.param((capacity(4, "training_plan", "ghost"),), {}, RefusalReason.NAME_UNKNOWN, id="no such plan"),
        pytest.param((capacity(4, "training_plan", "over"),), {}, RefusalReason.CAPACITY_SHORT, id="expired plan"),
        pytest.param((capacity(9, "training_plan", "reserved"),), {}, RefusalReason.CAPACITY_SHORT, id="small plan"),
        pytest.param(
            (kind("ml.p4d.24xlarge"), capacity(4, "training_plan", "reserved")),
            {},
            RefusalReason.CAPACITY_SHORT,
            id="plan of another type",
        ),
        pytest.param((), {"name": "-bad-"}, RefusalReason.NAME_INVALID, id="name with hyphens around"),
        pytest.param((), {"name": "a" * 64}, RefusalReason.NAME_INVALID, id="name too long"),
        pytest.param((), {"name": "lla ma"}, RefusalReason.NAME_INVALID, id="name with a blank"),
        pytest.param((), {"name": ""}, RefusalReason.NAME_INVALID, id="empty name"),
        pytest.param(
            (),
            {"admin_role_arn": "arn:aws:sts::123456789012:assumed-role/researchers/ana"},
            RefusalReason.PARAMETER_INVALID,
            id="session instead of role",
        ),
        pytest.param((), {"orchestrator": "Slurm"}, RefusalReason.NOT_SUPPORTED, id="slurm"),
    ],
)
def test_what_cannot_be_is_refused_with_its_reason_and_nothing_is_changed(
    world: WholeTwin, choices: tuple[Choice, ...], params: JsonObject, reason: RefusalReason
) -> None:
    assert refused(prepare(world, *choices, params=params)).reason is reason
    assert world.effects() == {}


def test_a_taken_name_is_refused(twin: WholeTwin) -> None:
    twin.reset(world_with_cluster("llama"))

    assert refused(prepare(twin)).reason is RefusalReason.NAME_TAKEN


def test_a_name_that_another_step_of_the_plan_takes_is_refused(world: WholeTwin) -> None:
    other = PlannedCluster(name=ClusterName("llama"), node_id="n0", details={})

    assert refused(prepare(world, planned=[other])).reason is RefusalReason.NAME_TAKEN


def test_the_step_that_makes_a_cluster_does_not_collide_with_itself(world: WholeTwin) -> None:
    own = PlannedCluster(name=ClusterName("llama"), node_id="n1", details={})

    ready(prepare(world, kind(), capacity(), zone(), planned=[own]))


def test_a_twin_that_is_down_is_told_as_such() -> None:
    session = boto3.Session(aws_access_key_id=TOKEN, aws_secret_access_key="x", region_name=REGION)
    aws = BotoAws(session, region=REGION, endpoint_url="http://127.0.0.1:9", allow_loopback=True)
    reads = ClientReads(Clients(aws=aws, kubernetes=None, tags=TAGS))  # type: ignore[arg-type]
    preparation = CreateCluster().prepare(draft({"name": "llama"}, kind()), reads, {})

    assert refused(preparation).reason is RefusalReason.PLATFORM_UNREACHABLE


def test_a_missing_name_is_asked_with_a_free_one_on_offer(world: WholeTwin) -> None:
    question = asked(prepare(world, kind(), capacity(), zone(), params={"name": None})).question

    assert (question.name, question.kind, question.field) == ("params.name", QuestionKind.MISSING, "name")
    assert question.takes_other
    assert [option.value for option in question.options] == ["training-1"]


def test_types_are_ranked_with_the_wished_accelerator_first(world: WholeTwin) -> None:
    question = asked(prepare(world, capacity(), params={"accelerator": "H200"})).question

    assert (question.name, question.kind) == ("instance_type", QuestionKind.INSTANCE_TYPE)
    assert question.options[0].value == "ml.p5en.48xlarge"
    assert [option.is_recommended for option in question.options].count(True) == 1
    assert "ml.trn1.32xlarge" not in {option.value for option in question.options}


def test_types_of_the_chosen_zone_only_are_on_offer(world: WholeTwin) -> None:
    question = asked(prepare(world, capacity(), zone("usw2-az1"))).question

    assert {option.value for option in question.options} == {"ml.g5.12xlarge", "ml.p5.48xlarge"}


def test_the_zone_question_lists_where_the_type_is_offered_with_evidence(world: WholeTwin) -> None:
    question = asked(prepare(world, kind(), capacity())).question

    assert (question.name, question.kind) == ("availability_zone", QuestionKind.AVAILABILITY_ZONE)
    assert [option.value for option in question.options] == ["usw2-az1", "usw2-az2"]
    assert [item.key for item in question.options[0].evidence] == [
        "market.offered",
        "market.quota_left",
        "market.new_subnet",
        "market.price",
    ]


def test_a_zone_without_the_type_is_asked_again_with_the_zones_that_have_it(world: WholeTwin) -> None:
    question = asked(prepare(world, kind("ml.p4d.24xlarge"), capacity(), zone("usw2-az1"))).question

    assert question.kind is QuestionKind.AVAILABILITY_ZONE
    assert question.prompt.key == "market.not_offered_ask"
    assert [option.value for option in question.options] == ["usw2-az2"]


@pytest.mark.parametrize(
    ("count", "mode", "expected"),
    [
        pytest.param(
            2,
            None,
            [("training_plan", 2), ("on_demand", 2), ("spot", 2)],
            id="the mode is missing",
        ),
        pytest.param(None, "on_demand", [("on_demand", n) for n in (1, 2, 4, 8, 16)], id="the count is missing"),
    ],
)
def test_the_capacity_question_keeps_what_was_said(
    world: WholeTwin, count: int | None, mode: str | None, expected: list[tuple[str, int]]
) -> None:
    question = asked(prepare(world, kind(), capacity(count, mode), zone())).question

    values = [option.value for option in question.options]
    assert [(value["mode"], value["count"]) for value in values if isinstance(value, dict)] == expected
    assert question.takes_other


def test_a_zone_name_is_taken_as_the_zone_it_names(world: WholeTwin) -> None:
    name = next(z["ZoneName"] for z in _zones(world) if z["ZoneId"] == "usw2-az2")
    params = CreateClusterParams.model_validate(ready(prepare(world, kind(), capacity(), zone(str(name)))).run_params)

    assert params.zone_id == "usw2-az2"


def test_a_training_plan_fixes_zone_and_type_with_their_origin(world: WholeTwin) -> None:
    params = CreateClusterParams.model_validate(
        ready(prepare(world, capacity(4, "training_plan", "reserved"))).run_params
    )

    assert (params.zone_id, params.instance_type, params.plan_arn.rpartition("/")[2]) == (
        "usw2-az2",
        "ml.p5.48xlarge",
        "reserved",
    )
    origins = {kind: choice["origin"] for kind, choice in params.choices.items() if isinstance(choice, dict)}
    assert origins == {
        "availability_zone": Origin.EXISTING,
        "instance_type": Origin.EXISTING,
        "capacity": Origin.SAID,
    }


def test_a_zone_against_the_plan_is_asked(world: WholeTwin) -> None:
    question = asked(prepare(world, capacity(4, "training_plan", "reserved"), zone("usw2-az1"))).question

    assert question.kind is QuestionKind.AVAILABILITY_ZONE
    assert question.prompt.key == "market.plan_elsewhere"
    assert [option.value for option in question.options] == ["usw2-az2"]


def test_the_card_quotes_each_choice_and_its_origin_and_the_price(world: WholeTwin) -> None:
    preparation = ready(prepare(world, kind(), capacity(), zone()))

    lines = [line.english() for line in preparation.card]
    assert "availability zone: as you said: “usw2-az2”" in lines
    assert "capacity: as you said: “4 on demand”" in lines
    assert "At most 253.20 USD per hour for the nodes (4 x 63.30)" in lines
    assert preparation.cost_cents_per_hour == 25_320
    assert preparation.risk is Risk.SPENDING
    assert preparation.planned_cluster is not None
    assert preparation.planned_cluster.details == preparation.run_params


def test_an_option_keeps_its_id_when_the_list_is_drawn_again(world: WholeTwin) -> None:
    first, again = (asked(prepare(world, kind(), capacity())).question for _ in range(2))

    assert [option.id for option in first.options] == [option.id for option in again.options]


def test_nothing_is_filled_in_that_a_human_must_choose(world: WholeTwin) -> None:
    kinds = [
        asked(prepare(world)).question.kind,
        asked(prepare(world, kind())).question.kind,
        asked(prepare(world, kind(), capacity(4))).question.kind,
    ]

    assert kinds == [QuestionKind.INSTANCE_TYPE, QuestionKind.CAPACITY, QuestionKind.AVAILABILITY_ZONE]


def _zones(twin: WholeTwin) -> list[JsonObject]:
    answer = twin.aws.call("ec2", "DescribeAvailabilityZones", {})["AvailabilityZones"]
    return [zone for zone in answer if isinstance(zone, dict)] if isinstance(answer, list) else []


def test_a_plan_gives_its_capacity_where_the_type_is_not_sold_on_demand(twin: WholeTwin) -> None:
    twin.reset(
        WorldSpec(
            region=REGION,
            zones={"usw2-az1": {"ml.g5.12xlarge": 1}, "usw2-az2": {"ml.g5.12xlarge": 1}},
            plans=(PlanSpec(id="reserved", type="ml.p5.48xlarge", count=8, zone="usw2-az2", hours_left=300),),
        )
    )
    params = CreateClusterParams.model_validate(
        ready(prepare(twin, capacity(4, "training_plan", "reserved"))).run_params
    )

    assert (params.zone_id, params.instance_type) == ("usw2-az2", "ml.p5.48xlarge")


def test_in_an_existing_network_the_zone_of_its_file_system_comes_first(twin: WholeTwin) -> None:
    base = world_with_cluster("base")
    storage = StorageSpec(kind="fsx_lustre", id="fs-0a1b2c3d4e5f60718", zone="usw2-az2")
    cluster = base.clusters[0].model_copy(update={"storage": (storage,)})
    twin.reset(base.model_copy(update={"clusters": (cluster,)}))
    (vpc,) = {row["VpcId"] for row in twin.aws.pages("fsx", "DescribeFileSystems", {}, "FileSystems")}

    question = asked(prepare(twin, kind("ml.g5.12xlarge"), capacity(1), params={"vpc_id": str(vpc)})).question
    assert [option.value for option in question.options] == ["usw2-az2", "usw2-az1"]
    assert "market.file_system_here" in [item.key for item in question.options[0].evidence]
    assert "market.free_addresses" in [item.key for item in question.options[0].evidence]


def test_a_network_without_enough_free_addresses_is_refused(twin: WholeTwin) -> None:
    vpc = twin.aws.call("ec2", "CreateVpc", {"CidrBlock": "10.8.0.0/16"})["Vpc"]
    assert isinstance(vpc, dict)
    for place, cidr in (("usw2-az1", "10.8.0.0/24"), ("usw2-az2", "10.8.1.0/24")):
        subnet: JsonObject = {"VpcId": vpc["VpcId"], "AvailabilityZoneId": place, "CidrBlock": cidr}
        twin.aws.call("ec2", "CreateSubnet", subnet)

    refusal = refused(prepare(twin, kind(), capacity(4), zone(), params={"vpc_id": vpc["VpcId"]}))
    assert refusal.reason is RefusalReason.CAPACITY_SHORT
    assert refusal.message.params == {"zone": "usw2-az2", "wanted": 324, "free": 251}
