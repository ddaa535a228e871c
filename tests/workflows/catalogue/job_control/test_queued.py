"""A job of a team's queue is stopped through its Kueue workload, which would undo anything else."""

from __future__ import annotations

from state.records import RunStatus
from state.repository import Repository
from tests.fakes.losing_clients import Losses, losing
from tests.polling import eventually
from tests.twin_process import REGION, WholeTwin
from tests.workflows.catalogue.job_control.test_job_control import prepare, ready
from tests.workflows.catalogue.runs import Bench
from tools.jobs import DESCRIBE_JOB, JobName
from twin.world.specification import ClusterSpec, GroupSpec, JobSpec, TeamSpec, WorldSpec

KIND = "ml.g5.12xlarge"
WORLD = WorldSpec(
    region=REGION,
    zones={"usw2-az1": {KIND: 8}, "usw2-az2": {KIND: 8}},
    quotas={KIND: 20},
    clusters=(
        ClusterSpec(
            name="base",
            zone="usw2-az1",
            groups=(GroupSpec(name="workers", type=KIND, count=2),),
            teams=(TeamSpec(name="vision", accelerators=8),),
            jobs=(JobSpec(name="sft", team="vision", nodes=1),),
        ),
    ),
)
NAME = JobName(eks_name="base-eks", namespace="hyperpod-ns-vision", name="sft")


def state(twin: WholeTwin) -> str:
    found = DESCRIBE_JOB.read(twin.clients, NAME)
    return found.state.value if found is not None else "-"


def running(twin: WholeTwin) -> bool:
    """Accepted and running within one second of the twin's time, which stands still."""
    return state(twin) == "Running"


def test_a_queued_job_stops_through_its_workload(twin: WholeTwin, rows: Repository) -> None:
    twin.reset(WORLD)
    eventually(lambda: running(twin), within_seconds=20, what="the job running")
    losses = Losses(lambda call, number: number == 0)
    bench = Bench(twin, rows, losing(twin.clients, losses))
    frozen = ready(prepare(twin, "stop_job", {"job": "sft"})).run_params
    run = bench.work_with_processes(bench.start("stop_job", frozen, cluster="base"), within_seconds=60)

    assert run.status is RunStatus.DONE, run.failure
    assert losses.lost == ["k8s:patch:workloads"]
    assert state(twin) == "Suspended"
