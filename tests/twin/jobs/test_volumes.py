"""Claims and volumes: who binds to whom, what waits, and that storage is shared and outlives its pods."""

from __future__ import annotations

import pytest

from core.json_value import JsonObject
from tests.twin.jobs.world import SHELL, World, pod_spec
from twin.kube.objects import ObjectName, condition_of, objects, text


def volume(name: str, size: str = "1200Gi", handle: str = "fs-1", **spec: str) -> JsonObject:
    return {
        "metadata": {"name": name},
        "spec": {
            "capacity": {"storage": size},
            "accessModes": ["ReadWriteMany"],
            "csi": {"driver": "fsx.csi.aws.com", "volumeHandle": handle},
            **spec,
        },
    }


def claim(name: str, size: str = "1200Gi", **spec: str) -> JsonObject:
    resources: JsonObject = {"requests": {"storage": size}}
    return {"metadata": {"name": name}, "spec": {"accessModes": ["ReadWriteMany"], "resources": resources, **spec}}


def user(name: str, script: str, claim_name: str) -> JsonObject:
    """A pod that runs `script` with the claim at /data, whose path is its first argument."""
    container: JsonObject = {
        **objects(pod_spec((*SHELL, script, "sh", "/data")), "containers")[0],
        "volumeMounts": [{"name": "v", "mountPath": "/data"}],
    }
    volumes: list[JsonObject] = [{"name": "v", "persistentVolumeClaim": {"claimName": claim_name}}]
    return {
        "metadata": {"name": name},
        "spec": {"containers": [container], "volumes": volumes, "restartPolicy": "Never"},
    }


def phase(world: World, resource: str, name: str) -> str:
    namespace = "" if resource == "persistentvolumes" else "default"
    return text(world.plane.store.get(resource, ObjectName(namespace, name)) or {}, "status", "phase")


def test_what_one_pod_writes_another_reads_through_another_claim(world: World) -> None:
    world.add_nodes(2)
    for number in ("1", "2"):
        world.create("persistentvolumes", volume(f"pv{number}"), namespace="")
        world.create("persistentvolumeclaims", claim(f"c{number}", volumeName=f"pv{number}"))
    world.create("pods", user("writer", "echo kept > $1/proof", "c1"))
    world.until(lambda: phase(world, "pods", "writer") == "Succeeded")

    world.create("pods", user("reader", "cat $1/proof", "c2"))
    world.until(lambda: phase(world, "pods", "reader") == "Succeeded")

    assert world.log("reader") == "kept\n"


def test_other_storage_is_another_folder(world: World) -> None:
    world.add_nodes(1)
    for number in ("1", "2"):
        world.create("persistentvolumes", volume(f"pv{number}", handle=f"fs-{number}"), namespace="")
        world.create("persistentvolumeclaims", claim(f"c{number}", volumeName=f"pv{number}"))
    world.create("pods", user("writer", "echo kept > $1/proof", "c1"))
    world.until(lambda: phase(world, "pods", "writer") == "Succeeded")

    world.create("pods", user("reader", "cat $1/proof", "c2"))

    world.until(lambda: phase(world, "pods", "reader") == "Failed")


def test_a_claim_takes_a_volume_that_fits(world: World) -> None:
    world.create("persistentvolumes", volume("a-small", size="100Gi"), namespace="")
    world.create("persistentvolumes", volume("b-other-class", storageClassName="x"), namespace="")
    world.create("persistentvolumes", volume("c-right"), namespace="")
    world.create("persistentvolumeclaims", claim("c"))

    world.until(lambda: phase(world, "persistentvolumeclaims", "c") == "Bound")

    assert [phase(world, "persistentvolumes", n) for n in ("a-small", "b-other-class", "c-right")] == [
        "Available",
        "Available",
        "Bound",
    ]


@pytest.mark.parametrize(
    ("claim_body", "message"),
    [
        pytest.param(None, 'persistentvolumeclaim "c" not found', id="no claim"),
        pytest.param(claim("c"), "pod has unbound immediate PersistentVolumeClaims", id="unbound claim"),
    ],
)
def test_a_pod_waits_for_its_claim(world: World, claim_body: JsonObject | None, message: str) -> None:
    world.add_nodes(1)
    if claim_body is not None:
        world.create("persistentvolumeclaims", claim_body)
    world.create("pods", user("p", "true", "c"))

    world.until(lambda: text(condition_of(world.pod("p"), "PodScheduled"), "message") == message)


def test_a_storage_class_makes_a_volume_and_takes_it_away(world: World) -> None:
    world.create("storageclasses.storage.k8s.io", {"metadata": {"name": "fsx"}, "provisioner": "fsx.csi.aws.com"}, "")
    world.create("persistentvolumeclaims", claim("c", storageClassName="fsx"))
    world.until(lambda: phase(world, "persistentvolumeclaims", "c") == "Bound")

    world.delete("persistentvolumeclaims", "c")

    world.until(lambda: world.plane.store.objects("persistentvolumes") == [])


def test_a_retained_volume_is_released_when_its_claim_goes(world: World) -> None:
    world.create("persistentvolumes", volume("pv", persistentVolumeReclaimPolicy="Retain"), namespace="")
    world.create("persistentvolumeclaims", claim("c"))
    world.until(lambda: phase(world, "persistentvolumes", "pv") == "Bound")

    world.delete("persistentvolumeclaims", "c")

    world.until(lambda: phase(world, "persistentvolumes", "pv") == "Released")
