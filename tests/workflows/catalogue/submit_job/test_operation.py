"""submit_job as it is asked for."""

from __future__ import annotations

import pytest

from core.governance.principals import Channel, Principal, Role
from core.ids import ActorId, ClusterName
from core.json_value import JsonObject
from core.questions import QuestionKind
from core.reasons import RefusalReason
from tests.builders.worlds import world_with_cluster
from tests.twin_process import WholeTwin
from tests.workflows.catalogue.reads import ClientReads, draft
from tests.workflows.catalogue.runs import Bench
from tests.workflows.catalogue.submit_job.test_submit import job
from workflows.catalogue.submit_job.operation import SubmitJob
from workflows.catalogue.submit_job.params import SubmitJobParams
from workflows.operations import Missing, PlannedCluster, Preparation, Ready, Refused

PLANNED = PlannedCluster(
    name=ClusterName("llama"),
    node_id="n0",
    details={"name": "llama", "zone_id": "usw2-az2", "instance_type": "ml.p5.48xlarge", "count": 4},
)


@pytest.fixture
def world(twin: WholeTwin) -> WholeTwin:
    twin.reset(world_with_cluster("base"))
    return twin


def prepare(
    twin: WholeTwin,
    params: JsonObject,
    *planned: PlannedCluster,
    requested_by: Principal | None = None,
) -> Preparation:
    by_name = {cluster.name: cluster for cluster in planned}
    return SubmitJob().prepare(draft(params, requested_by=requested_by), ClientReads(twin.clients), by_name)


def params_of(preparation: Preparation) -> SubmitJobParams:
    assert isinstance(preparation, Ready), preparation
    return SubmitJobParams.model_validate(preparation.run_params)


@pytest.mark.parametrize(
    ("params", "reason"),
    [
        pytest.param({"cluster": "ghost"}, RefusalReason.NAME_UNKNOWN, id="no such cluster"),
        pytest.param({"nodes": 0}, RefusalReason.COUNT_OUT_OF_RANGE, id="no nodes"),
        pytest.param({"nodes": -1}, RefusalReason.COUNT_OUT_OF_RANGE, id="negative nodes"),
        pytest.param({"nodes": 10**9}, RefusalReason.COUNT_OUT_OF_RANGE, id="a billion nodes"),
        pytest.param({"nodes": 5}, RefusalReason.CAPACITY_SHORT, id="more nodes than the cluster has"),
        pytest.param({"name": "Bad_Name", "nodes": 1}, RefusalReason.NAME_INVALID, id="name against Kubernetes"),
        pytest.param({"team": "-x", "nodes": 1}, RefusalReason.NAME_INVALID, id="team against Kubernetes"),
        pytest.param({"nodes": 1, "accelerators_per_node": 5}, RefusalReason.COUNT_OUT_OF_RANGE, id="too many GPUs"),
        pytest.param({"nodes": 1, "max_restarts": -1}, RefusalReason.PARAMETER_INVALID, id="negative restarts"),
        pytest.param({"nodes": 1, "priority": "urgent"}, RefusalReason.PARAMETER_INVALID, id="no such priority"),
    ],
)
def test_what_cannot_be_is_refused_with_its_reason(world: WholeTwin, params: JsonObject, reason: RefusalReason) -> None:
    preparation = prepare(world, params)

    assert isinstance(preparation, Refused), preparation
    assert preparation.reason is reason
    assert world.effects() == {}


def test_a_name_that_is_taken_is_refused(twin: WholeTwin, bench: Bench) -> None:
    twin.reset(world_with_cluster("base"))
    bench.work(bench.start("submit_job", job(command=("sleep", "30")), cluster="base"), most_looks=4)
    preparation = prepare(twin, {"name": "sft", "team": "vision", "nodes": 1})

    assert isinstance(preparation, Refused)
    assert preparation.reason is RefusalReason.NAME_TAKEN


def test_the_only_cluster_there_is_needs_no_name(world: WholeTwin) -> None:
    params = params_of(prepare(world, {"nodes": 2}))

    assert (params.cluster, params.nodes, params.instance_type) == ("base", 2, "ml.g5.12xlarge")
    assert (params.accelerator_resource, params.accelerators_per_node) == ("nvidia.com/gpu", 4)
    assert params.name == "train-1"


def test_which_of_several_clusters_is_asked(world: WholeTwin) -> None:
    missing = prepare(world, {"nodes": 2}, PLANNED)

    assert isinstance(missing, Missing)
    assert (missing.question.name, missing.question.kind) == ("params.cluster", QuestionKind.TARGET)
    assert [option.value for option in missing.question.options] == ["llama", "base"]


def test_a_cluster_of_the_same_plan_may_be_the_target(world: WholeTwin) -> None:
    preparation = prepare(world, {"cluster": "llama", "nodes": 4}, PLANNED)

    params = params_of(preparation)
    assert (params.instance_type, params.accelerators_per_node, params.efa_per_node) == ("ml.p5.48xlarge", 8, 32)
    assert isinstance(preparation, Ready)
    assert preparation.depends_on == ("n0",)


def test_the_number_of_nodes_is_asked_without_a_numbered_list(world: WholeTwin) -> None:
    missing = prepare(world, {})

    assert isinstance(missing, Missing)
    assert (missing.question.name, missing.question.field) == ("params.nodes", "nodes")
    assert (missing.question.options, missing.question.takes_other) == ((), True)


def test_an_engineers_job_goes_to_their_project(world: WholeTwin) -> None:
    ana = Principal(id=ActorId("ana"), role=Role.ENGINEER, channel=Channel.TERMINAL, project="vision")

    assert params_of(prepare(world, {"nodes": 1}, requested_by=ana)).namespace == "hyperpod-ns-vision"


def test_the_card_says_that_the_sample_job_stands_in_for_an_image(world: WholeTwin) -> None:
    preparation = prepare(world, {"nodes": 1})

    assert isinstance(preparation, Ready)
    assert "submit_job.card_sample" in [line.key for line in preparation.card]


def test_slurm_clusters_are_not_for_these_jobs(twin: WholeTwin) -> None:
    twin.reset(world_with_cluster("base", orchestrator="slurm"))
    preparation = prepare(twin, {"nodes": 1})

    assert isinstance(preparation, Refused)
    assert preparation.reason is RefusalReason.NOT_SUPPORTED
