"""Admission by quota in worlds that can be worked out by hand: 4 nodes of 4 accelerators, two teams of 8."""

from __future__ import annotations

import pytest

from core.json_value import JsonObject, JsonValue
from tests.twin.jobs.test_workloads import quota
from tests.twin.jobs.world import SHELL, World, job_body
from tests.twin.kube.serving import EKS_NAME
from twin.jobs.controller import JOBS
from twin.jobs.faults import PodFaults
from twin.jobs.kueue import WORKLOADS
from twin.jobs.live import live_jobs
from twin.jobs.workloads import JobWorkloads
from twin.kube.objects import ObjectName, condition_of, merged, name_of, put, strings, text
from twin.kube.resources import WriteOptions

LOOP = (*SHELL, "while true; do sleep 0.05; done")
HALF: JsonValue = {"Strategy": "LendAndBorrow", "BorrowLimit": 50}
CLASSES: JsonObject = {"PriorityClasses": [{"Name": "high", "Weight": 100}, {"Name": "low", "Weight": 10}]}


@pytest.fixture
def governed(world: World) -> World:
    world.add_nodes(4)
    preempting = [
        put(put(quota(team, 8), HALF, "ComputeQuotaConfig", "ResourceSharingConfig"), "LowerPriority",
            "ComputeQuotaConfig", "PreemptTeamTasks")
        for team in ("vision", "speech")
    ]  # fmt: skip
    JobWorkloads(world.planes, PodFaults(world.planes, world.runtime)).govern(EKS_NAME, tuple(preempting), CLASSES)
    return world


def submit(world: World, name: str, team: str, nodes: int, *command: str, priority: str = "low") -> None:
    body = job_body(*(command or LOOP), replicas=nodes, name=name, gpus=4)
    labels: JsonObject = {
        "kueue.x-k8s.io/queue-name": f"hyperpod-ns-{team}-localqueue",
        "kueue.x-k8s.io/priority-class": f"{priority}-priority",
    }
    world.create(JOBS, merged(body, labels, "metadata", "labels"), namespace=f"hyperpod-ns-{team}")


def state(world: World, job: str) -> object:
    return live_jobs(world.plane, world.planes.config.pods).get(job, {}).get("state")


def until(world: World, **states: str) -> None:
    world.until(lambda: all(state(world, job) == wanted for job, wanted in states.items()), f"{states}")


def workload_of(world: World, job: str) -> JsonObject:
    found = [
        w for w in world.plane.store.objects(WORKLOADS) if name_of(w).name.startswith(f"hyperpodpytorchjob-{job}-")
    ]
    return found[0]


def test_a_job_runs_within_its_teams_quota(governed: World) -> None:
    submit(governed, "a", "vision", 2)

    until(governed, a="Running")

    assert condition_of(workload_of(governed, "a"), "Admitted")["status"] == "True"


def test_a_team_borrows_up_to_its_limit_and_no_further(governed: World) -> None:
    for job in ("a", "b", "c", "d"):
        submit(governed, job, "vision", 1)

    # Own quota: 8 = two nodes; borrowing limit: half of it = one node.
    expected = ["Pending", "Running", "Running", "Running"]
    governed.until(lambda: sorted(str(state(governed, job)) for job in "abcd") == expected)

    [waits] = [job for job in "abcd" if state(governed, job) == "Pending"]
    waiting = condition_of(workload_of(governed, waits), "QuotaReserved")
    assert (waiting["status"], waiting["reason"]) == ("False", "Pending")
    assert text(waiting, "message")


def test_the_owner_takes_back_what_was_lent_and_the_borrower_waits_and_returns(governed: World) -> None:
    for job in ("a", "b", "c"):
        submit(governed, job, "vision", 1)
    until(governed, a="Running", b="Running", c="Running")

    done = governed.planes.config.folder / "done"
    submit(governed, "owner", "speech", 2, *SHELL, f"while [ ! -e {done} ]; do sleep 0.05; done")
    until(governed, owner="Running")

    states = sorted(str(state(governed, job)) for job in ("a", "b", "c"))
    assert states == ["Pending", "Running", "Running"]
    done.touch()
    until(governed, owner="Succeeded", a="Running", b="Running", c="Running")


def test_a_higher_priority_takes_from_its_own_team(governed: World) -> None:
    submit(governed, "low", "vision", 3)
    until(governed, low="Running")

    submit(governed, "high", "vision", 2, priority="high")

    until(governed, high="Running", low="Pending")


def test_a_job_of_an_unknown_queue_is_inadmissible(governed: World) -> None:
    body = merged(job_body(*LOOP, name="a"), {"kueue.x-k8s.io/queue-name": "nowhere"}, "metadata", "labels")
    governed.create(JOBS, body)

    until(governed, a="Pending")

    assert (
        text(condition_of(workload_of(governed, "a"), "QuotaReserved"), "message") == "LocalQueue nowhere doesn't exist"
    )


def test_a_workload_that_is_made_inactive_stops_its_job(governed: World) -> None:
    submit(governed, "a", "vision", 1)
    until(governed, a="Running")

    workload = workload_of(governed, "a")
    kind = governed.plane.kinds.named(WORKLOADS)
    stopped = put(workload, False, "spec", "active")
    governed.plane.resources.replace(kind, name_of(workload), stopped, WriteOptions(manager="test"))

    until(governed, a="Suspended")
    governed.until(lambda: not governed.process_ids())


def test_a_resized_job_is_admitted_anew(governed: World) -> None:
    submit(governed, "a", "vision", 1)
    until(governed, a="Running")
    job = next(job for job in governed.plane.store.objects(JOBS))
    kind = governed.plane.kinds.named(JOBS)
    replica = {"name": "pod", "replicas": 2, "template": job_body(*LOOP, gpus=4)["spec"]["replicaSpecs"][0]["template"]}  # type: ignore[call-overload,index]  # JSON by construction

    changed = put(job, [replica], "spec", "replicaSpecs")
    governed.plane.resources.replace(kind, name_of(job), changed, WriteOptions(manager="test"))

    governed.until(lambda: state(governed, "a") == "Running" and len(governed.process_ids()) == 2)


def test_nonsense_in_a_queue_admits_nobody_and_says_so(governed: World) -> None:
    name = ObjectName("", "hyperpod-ns-vision-clusterqueue")
    governed.plane.resources.modify(
        "clusterqueues.kueue.x-k8s.io", name, lambda queue: put(queue, "odd", "spec", "queueingStrategy")
    )
    submit(governed, "a", "vision", 1)

    events = governed.plane.store.objects
    governed.until(lambda: "AdmissionFailed" in [text(e, "reason") for e in events("events", "hyperpod-ns-vision")])


def test_without_queues_the_label_means_nothing(world: World) -> None:
    world.add_nodes(1)
    world.create(JOBS, merged(job_body(*LOOP, replicas=1), {"kueue.x-k8s.io/queue-name": "any"}, "metadata", "labels"))

    world.until_job("Running")

    assert strings(world.job(), "metadata", "labels")
    assert world.plane.store.objects(WORKLOADS) == []
