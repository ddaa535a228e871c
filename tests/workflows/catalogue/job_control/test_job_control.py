"""stop_job, resume_job and resize_job against the twin, whose jobs are real processes."""

from __future__ import annotations

import pytest

from core.json_value import JsonObject
from core.reasons import RefusalReason
from state.records import EffectStatus, Run, RunStatus
from state.repository import Repository
from tests.builders.worlds import world_with_cluster
from tests.fakes.losing_clients import Losses, losing
from tests.polling import eventually
from tests.twin_process import WholeTwin
from tests.workflows.catalogue.reads import ClientReads, draft
from tests.workflows.catalogue.runs import Bench
from tests.workflows.catalogue.submit_job.test_submit import job
from tools.jobs import DESCRIBE_JOB, POD_LOGS, JobName, LogArgs
from workflows.catalogue.job_control.checkpoints import newest_checkpoint, resumed_from
from workflows.catalogue.job_control.operation import JobControl, Verb
from workflows.operations import Missing, Preparation, Ready, Refused

PACE = ("--steps", "100000", "--step-seconds", "0.02", "--checkpoint-every", "5")
TRAINS = ("python", "-m", "twin.sample_job.train", *PACE)
NAME = JobName(eks_name="base-eks", namespace="default", name="sft")
LOST = pytest.mark.parametrize("loses", [False, True], ids=["no answer lost", "the answer is lost"])


def checkpoint(twin: WholeTwin) -> int | None:
    found = DESCRIBE_JOB.read(twin.clients, NAME)
    if found is None or not found.pods:
        return None
    args = LogArgs(eks_name="base-eks", namespace="default", pod=found.pods[0].name, lines=400)
    return newest_checkpoint(POD_LOGS.read(twin.clients, args))


@pytest.fixture
def training(twin: WholeTwin, bench: Bench) -> WholeTwin:
    """A job on two nodes that has saved a checkpoint."""
    twin.reset(world_with_cluster("base"))
    bench.work(bench.start("submit_job", job(command=TRAINS, team=""), cluster="base"), most_looks=2)
    eventually(lambda: checkpoint(twin), within_seconds=60, what="a first checkpoint")
    return twin


def prepare(twin: WholeTwin, verb: Verb, params: JsonObject | None = None) -> Preparation:
    return JobControl(verb).prepare(draft(params or {}), ClientReads(twin.clients), {})


def ready(preparation: Preparation) -> Ready:
    assert isinstance(preparation, Ready), preparation
    return preparation


def work(twin: WholeTwin, rows: Repository, verb: Verb, losses: Losses | None = None, **params: int) -> Run:
    bench = Bench(twin, rows, None if losses is None else losing(twin.clients, losses), worker=f"worker-{verb}")
    frozen = ready(prepare(twin, verb, dict(params))).run_params
    return bench.work_with_processes(bench.start(verb, frozen, cluster="base"), within_seconds=60)


@LOST
def test_a_job_stops_and_goes_on_from_its_newest_checkpoint(training: WholeTwin, rows: Repository, loses: bool) -> None:
    stopped = work(training, rows, "stop_job", Losses(lambda call, number: loses and number == 0))

    assert stopped.status is RunStatus.DONE, stopped.failure
    found = DESCRIBE_JOB.read(training.clients, NAME)
    assert found is not None
    assert (found.state.value, found.pods) == ("Suspended", ())

    resumed = work(training, rows, "resume_job", Losses(lambda call, number: loses and number == 0))

    assert resumed.status is RunStatus.DONE, resumed.failure
    step, kept = training.live()["clusters"]["base"]["jobs"]["sft"]["resumed_from_step"], stopped.data["checkpoint"]
    assert isinstance(kept, int)
    assert resumed.data["resumed_from_step"] == step
    assert step >= kept > 0
    assert training.effects()["k8s:patch:hyperpodpytorchjobs"] == 2
    assert {effect.status for effect in rows.list_effects(resumed.id)} == {EffectStatus.APPLIED}


@LOST
def test_a_job_is_resized_once_and_runs_on_as_many_nodes(training: WholeTwin, rows: Repository, loses: bool) -> None:
    run = work(training, rows, "resize_job", Losses(lambda call, number: loses and number == 0), nodes=3)

    assert run.status is RunStatus.DONE, run.failure
    found = DESCRIBE_JOB.read(training.clients, NAME)
    assert found is not None
    assert len({pod.node for pod in found.pods}) == 3
    assert training.effects()["k8s:patch:hyperpodpytorchjobs"] == 1


def test_the_card_says_what_is_lost_since_which_checkpoint(training: WholeTwin) -> None:
    (lost,) = ready(prepare(training, "stop_job", {"job": "sft"})).blast_radius

    assert lost.key == "job_control.loses_since"


def test_a_running_job_cannot_be_resumed(training: WholeTwin) -> None:
    refused = prepare(training, "resume_job", {"job": "sft"})

    assert isinstance(refused, Refused)
    assert refused.reason is RefusalReason.TARGET_IN_WRONG_STATE


def test_how_many_nodes_is_asked_and_more_than_there_are_is_refused(training: WholeTwin) -> None:
    missing, refused = prepare(training, "resize_job"), prepare(training, "resize_job", {"nodes": 9})

    assert isinstance(missing, Missing)
    assert isinstance(refused, Refused)
    assert refused.message.params["most"] == 4


def test_an_unknown_job_is_refused_with_those_that_are_there(training: WholeTwin) -> None:
    refused = prepare(training, "stop_job", {"job": "ghost"})

    assert isinstance(refused, Refused)
    assert refused.remedies[0].params == {"jobs": "sft"}


@pytest.mark.parametrize(
    ("line", "saved", "resumed"),
    [
        ("checkpoint saved at step 40", 40, None),
        ("Saving checkpoint to /fsx/ckpt step=1200", 1200, None),
        ("resumed from step 40", None, 40),
        ("step 41 loss 0.5", None, None),
    ],
)
def test_a_log_line_tells_of_checkpoints(line: str, saved: int | None, resumed: int | None) -> None:
    assert (newest_checkpoint(line), resumed_from(line)) == (saved, resumed)
