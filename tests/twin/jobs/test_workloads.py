"""What the AWS half sees and sets of jobs: seeded worlds, faults by node and job, live state, governance."""

from __future__ import annotations

import pytest

from core.json_value import JsonObject
from tests.twin.jobs.world import World
from tests.twin.kube.serving import EKS_NAME
from twin.jobs.controller import JOBS
from twin.jobs.faults import PodFaults
from twin.jobs.live import live_jobs
from twin.jobs.workloads import JobWorkloads
from twin.kube.objects import ObjectName, mapping, name_of, objects, put
from twin.ports import NodeFault, SeedJob


@pytest.fixture
def workloads(world: World) -> JobWorkloads:
    world.add_nodes(3)
    return JobWorkloads(world.planes, PodFaults(world.planes, world.runtime))


def seeded(name: str, state: str = "Running", nodes: int = 1, team: str = "", log: str = "") -> SeedJob:
    return SeedJob(name=name, team=team, nodes=nodes, priority="high", state=state, log=log)


def seed(workloads: JobWorkloads, *jobs: SeedJob, teams: tuple[str, ...] = (), mounts: tuple[str, ...] = ()) -> None:
    workloads.seed(EKS_NAME, teams, jobs, mounts)


def state_of(workloads: JobWorkloads, job: str) -> object:
    return workloads.live_jobs(EKS_NAME).get(job, {}).get("state")


def test_a_running_job_of_the_world_takes_whole_nodes_and_trains(world: World, workloads: JobWorkloads) -> None:
    seed(workloads, seeded("s1", nodes=2))

    world.until(lambda: state_of(workloads, "s1") == "Running")

    assert workloads.live_jobs(EKS_NAME)["s1"] == {"state": "Running", "nodes": 2}
    assert len(set(workloads.nodes_of_job(EKS_NAME, "s1"))) == 2
    pod = world.plane.store.get("pods", ObjectName("default", "s1-pod-0")) or {}
    assert mapping(objects(pod, "spec", "containers")[0], "resources", "limits") == {"nvidia.com/gpu": "4"}


@pytest.mark.parametrize("state", ["Suspended", "Succeeded", "Failed"])
def test_other_states_of_the_world_are_shown(world: World, workloads: JobWorkloads, state: str) -> None:
    seed(workloads, seeded("s1", state, log="the last line"))

    world.until(lambda: state_of(workloads, "s1") == state)

    assert not world.process_ids()


def test_the_log_of_an_ended_job_can_be_read(world: World, workloads: JobWorkloads) -> None:
    seed(workloads, seeded("s1", "Failed", log="ncclSystemError"))
    [pod] = world.plane.store.objects("pods", "default")

    path = next((world.planes.config.pods / str(mapping(pod, "metadata")["uid"])).iterdir())

    assert path.read_text() == "ncclSystemError\n"


def test_a_running_job_with_a_given_line_stays_at_it(world: World, workloads: JobWorkloads) -> None:
    seed(workloads, seeded("s1", log="step 9 loss nan"))

    world.until(lambda: state_of(workloads, "s1") == "Running")
    [path] = world.planes.config.pods.rglob("*.log")
    world.until(lambda: path.read_text() == "step 9 loss nan\n")


def test_a_job_that_finds_no_room_is_pending(world: World, workloads: JobWorkloads) -> None:
    seed(workloads, seeded("s1", nodes=3), seeded("s2", "Pending"))

    world.until(lambda: state_of(workloads, "s1") == "Running")

    assert state_of(workloads, "s2") == "Pending"


def test_teams_have_their_namespaces(world: World, workloads: JobWorkloads) -> None:
    seed(workloads, seeded("s1", team="vision"), teams=("vision", "speech"))

    names = {name_of(namespace).name for namespace in world.plane.store.objects("namespaces")}
    [job] = world.plane.store.objects(JOBS)

    assert {"hyperpod-ns-vision", "hyperpod-ns-speech"} <= names
    assert name_of(job) == ObjectName("hyperpod-ns-vision", "s1")


def test_an_xid_on_a_jobs_node_restarts_it_from_its_checkpoint(world: World, workloads: JobWorkloads) -> None:
    from_template: JsonObject = {
        "name": "m",
        "image": "muster/sample-job",
        "args": ["--steps", "40", "--step-seconds", "0.02"],
    }
    replica: JsonObject = {"name": "pod", "replicas": 2, "template": {"spec": {"containers": [from_template]}}}
    policy: JsonObject = {"cleanPodPolicy": "None", "jobMaxRetryCount": 2}
    world.create(JOBS, {"metadata": {"name": "s1"}, "spec": {"replicaSpecs": [replica], "runPolicy": policy}})
    world.until(lambda: any("saved at step 10" in p.read_text() for p in world.planes.config.pods.rglob("*.log")))

    workloads.node_fault(EKS_NAME, workloads.nodes_of_job(EKS_NAME, "s1")[1], NodeFault(kind="xid", code=74))
    world.until(lambda: state_of(workloads, "s1") == "Succeeded")

    resumed = live_jobs(world.plane, world.planes.config.pods)["s1"]["resumed_from_step"]
    assert isinstance(resumed, int)
    assert resumed >= 10


@pytest.mark.parametrize("kind", ["job_hang", "loss_nan"])
def test_a_fault_of_an_unknown_job_says_so(workloads: JobWorkloads, kind: str) -> None:
    with pytest.raises(LookupError, match="none"):
        workloads.job_fault(EKS_NAME, "none", kind)


def test_a_cluster_whose_control_plane_is_gone_has_no_jobs_and_its_nodes_can_still_leave(
    world: World, workloads: JobWorkloads
) -> None:
    node = name_of(world.plane.store.objects("nodes")[0]).name
    seed(workloads, seeded("s1"), mounts=("/fsx",))

    world.planes.delete_control_plane(EKS_NAME)
    world.planes.set_node_ready(EKS_NAME, node, False, "KubeletStopped")
    world.planes.set_node_label(EKS_NAME, node, "a", "b")
    world.planes.node_left(EKS_NAME, node)

    assert workloads.live_jobs(EKS_NAME) == {}
    assert workloads.readable_mounts(EKS_NAME) == ()


def test_mounts_of_the_world_and_of_pods_are_readable(world: World, workloads: JobWorkloads) -> None:
    seed(workloads, mounts=("/fsx",))
    world.create("persistentvolumes", {"metadata": {"name": "pv"}, "spec": {}}, namespace="")
    world.create("persistentvolumeclaims", {"metadata": {"name": "c"}, "spec": {}})
    container: JsonObject = {"name": "m", "command": ["true"], "volumeMounts": [{"name": "v", "mountPath": "/data"}]}
    volume: JsonObject = {"name": "v", "persistentVolumeClaim": {"claimName": "c"}}
    spec: JsonObject = {"containers": [container], "volumes": [volume], "restartPolicy": "Never"}
    world.create("pods", {"metadata": {"name": "reader"}, "spec": spec})

    world.until(lambda: workloads.readable_mounts(EKS_NAME) == ("/data", "/fsx"))


def quota(team: str, accelerators: int, **sharing: object) -> JsonObject:
    resource: JsonObject = {"InstanceType": "ml.g5.12xlarge", "Accelerators": accelerators}
    config: JsonObject = {"ComputeQuotaResources": [resource], "ResourceSharingConfig": sharing}  # type: ignore[dict-item]  # JSON by construction
    target: JsonObject = {"TeamName": team, "FairShareWeight": 10}
    return {"Name": team, "ComputeQuotaTarget": target, "ComputeQuotaConfig": config, "ActivationState": "Enabled"}


def queue_of(world: World, team: str) -> JsonObject:
    name = ObjectName("", f"hyperpod-ns-{team}-clusterqueue")
    return mapping(world.plane.store.get("clusterqueues.kueue.x-k8s.io", name) or {}, "spec")


@pytest.mark.parametrize(
    ("sharing", "limits"),
    [
        pytest.param({"Strategy": "LendAndBorrow", "BorrowLimit": 25}, {"borrowingLimit": 2}, id="borrows a quarter"),
        pytest.param({"Strategy": "LendAndBorrow"}, {"borrowingLimit": 4}, id="half by default"),
        pytest.param({"Strategy": "Lend"}, {"borrowingLimit": 0}, id="lends only"),
        pytest.param({"Strategy": "DontLend"}, {"borrowingLimit": 0, "lendingLimit": 0}, id="keeps to itself"),
    ],
)
def test_a_compute_quota_becomes_a_cluster_queue(
    world: World, workloads: JobWorkloads, sharing: dict[str, object], limits: dict[str, int]
) -> None:
    workloads.govern(EKS_NAME, (quota("vision", 8, **sharing),), {"PriorityClasses": [{"Name": "high", "Weight": 100}]})

    spec = queue_of(world, "vision")
    flavor = objects(objects(spec, "resourceGroups")[0], "flavors")[0]
    assert objects(flavor, "resources") == [{"name": "nvidia.com/gpu", "nominalQuota": 8, **limits}]
    local = world.plane.store.get(
        "localqueues.kueue.x-k8s.io", ObjectName("hyperpod-ns-vision", "hyperpod-ns-vision-localqueue")
    )
    assert local is not None
    [priority] = world.plane.store.objects("workloadpriorityclasses.kueue.x-k8s.io")
    assert (name_of(priority).name, priority["value"]) == ("high-priority", 100)


def test_a_quota_that_is_gone_takes_its_queue_along_and_leaves_foreign_ones(
    world: World, workloads: JobWorkloads
) -> None:
    world.create("clusterqueues.kueue.x-k8s.io", {"metadata": {"name": "foreign"}, "spec": {}}, namespace="")
    workloads.govern(EKS_NAME, (quota("vision", 8), quota("speech", 4)), None)

    workloads.govern(EKS_NAME, (put(quota("speech", 6), "Disabled", "ActivationState"),), None)

    assert queue_of(world, "vision") == {}
    assert queue_of(world, "speech")["stopPolicy"] == "Hold"
    names = {name_of(queue).name for queue in world.plane.store.objects("clusterqueues.kueue.x-k8s.io")}
    assert names == {"foreign", "hyperpod-ns-speech-clusterqueue"}
