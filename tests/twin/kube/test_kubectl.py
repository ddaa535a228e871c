"""The real kubectl against the twin, with the kubeconfig that the twin writes for people."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator
from typing import TypeAlias

import pytest

from core.json_value import JsonObject
from tests.system_parts import system_program
from tests.twin.jobs.world import World, job_body, sample_job
from tests.twin.jobs.world import world as make_world
from tests.twin.kube.serving import EKS_NAME, TOKEN, Served, add_node, served
from twin.kube.kubeconfig import write_kubeconfig
from twin.kube.objects import name_of, objects, text

pytestmark = pytest.mark.system

Kubectl: TypeAlias = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[World, Served]]:
    with make_world(tmp_path_factory.mktemp("kube")) as world, served(world.planes) as server:
        for number in (1, 2):
            add_node(world.planes, number)
        yield world, server


@pytest.fixture(scope="module")
def world(lab: tuple[World, Served]) -> World:
    return lab[0]


@pytest.fixture(scope="module")
def kubectl(
    lab: tuple[World, Served], request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Kubectl:
    program = system_program(request.config, "kubectl", "apt-get install kubernetes-client")
    home = tmp_path_factory.mktemp("home")
    write_kubeconfig(home / "config", endpoint=lab[1].address, token=TOKEN, eks_names=[EKS_NAME])

    def run(*arguments: str, given: JsonObject | None = None, code: int = 0) -> subprocess.CompletedProcess[str]:
        result = subprocess.run(
            [program, "--kubeconfig", str(home / "config"), *arguments],
            input=None if given is None else json.dumps(given),
            capture_output=True,
            text=True,
            timeout=30,
            check=False,
            env={"HOME": str(home), "PATH": "/usr/bin:/bin"},
        )
        assert result.returncode == code, result.stderr
        return result

    return run


def job(name: str, *command: str) -> JsonObject:
    body = job_body(*command, name=name)
    return {"apiVersion": "sagemaker.amazonaws.com/v1", "kind": "HyperPodPyTorchJob", **body}


def test_nodes_are_listed_as_a_table(kubectl: Kubectl) -> None:
    lines = kubectl("get", "nodes").stdout.splitlines()

    assert lines[0].split() == ["NAME", "STATUS", "ROLES", "AGE", "VERSION"]
    assert [line.split()[1] for line in lines[1:]] == ["Ready", "Ready"]


def test_all_pods_of_all_namespaces_can_be_asked_for(kubectl: Kubectl) -> None:
    assert kubectl("get", "no,po", "-A").stdout


def test_a_job_is_applied_followed_and_deleted(kubectl: Kubectl, world: World) -> None:
    assert "created" in kubectl("apply", "-f", "-", given=job("train", *sample_job(steps=4))).stdout
    world.until_job("Completed")

    assert "Completed" in kubectl("get", "hyperpodpytorchjobs").stdout
    assert "0/1" in kubectl("get", "pods", "-o", "wide").stdout
    assert "training complete at step 4" in kubectl("logs", "-f", "train-pod-0").stdout
    assert kubectl("logs", "train-pod-0", "--tail=1").stdout == "training complete at step 4\n"
    assert kubectl("logs", "train-pod-0", "--tail=1", "--timestamps").stdout.startswith("2026-03-01T12:")
    assert "JobCompleted" in kubectl("describe", "hyperpodpytorchjob", "train").stdout
    assert "deleted" in kubectl("delete", "hyperpodpytorchjob", "train").stdout
    world.until(lambda: not world.pods())


def test_an_apply_twice_changes_nothing(kubectl: Kubectl) -> None:
    given = job("twice", "true")
    kubectl("apply", "-f", "-", given=given)

    assert "unchanged" in kubectl("apply", "-f", "-", given=given).stdout
    kubectl("delete", "hyperpodpytorchjob", "twice")


def test_an_unknown_field_is_refused_before_anything_is_made(kubectl: Kubectl) -> None:
    given = job("wrong", "true")
    spec = {**given, "spec": {"replicaSpecs": [], "replicas": 3}}

    refused = kubectl("create", "-f", "-", given=spec, code=1)

    assert 'unknown field "spec.replicas"' in refused.stderr
    kubectl("get", "hyperpodpytorchjob", "wrong", code=1)


def test_small_kinds_come_as_protobuf(kubectl: Kubectl) -> None:
    kubectl("create", "namespace", "team-a")
    kubectl("create", "configmap", "c", "-n", "team-a", "--from-literal=k=v")
    kubectl("create", "secret", "generic", "s", "-n", "team-a", "--from-literal=k=v")
    kubectl("create", "serviceaccount", "a", "-n", "team-a")
    kubectl("create", "pdb", "p", "-n", "team-a", "--selector=app=x", "--min-available=50%")

    assert kubectl("get", "configmap", "c", "-n", "team-a", "-o", "jsonpath={.data.k}").stdout == "v"
    assert kubectl("get", "secret", "s", "-n", "team-a", "-o", "jsonpath={.data.k}").stdout == "dg=="
    assert kubectl("get", "pdb", "p", "-n", "team-a", "-o", "jsonpath={.spec.minAvailable}").stdout == "50%"
    assert kubectl("auth", "can-i", "create", "pods").stdout == "yes\n"


def test_fields_are_explained(kubectl: Kubectl) -> None:
    assert "jobMaxRetryCount" in kubectl("explain", "hyperpodpytorchjob.spec.runPolicy").stdout
    assert "-required-" in kubectl("explain", "pods.spec.containers").stdout


def test_server_side_apply_reports_a_conflict(kubectl: Kubectl) -> None:
    given: JsonObject = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "shared"}, "data": {"k": "1"}}
    kubectl("apply", "--server-side", "--field-manager=one", "-f", "-", given=given)

    other = {**given, "data": {"k": "2"}}
    refused = kubectl("apply", "--server-side", "--field-manager=two", "-f", "-", given=other, code=1)

    assert 'conflict with "one"' in refused.stderr
    assert ".data.k" in refused.stderr


def test_a_node_is_cordoned_labelled_and_freed(kubectl: Kubectl, world: World) -> None:
    node = name_of(world.plane.store.objects("nodes")[0]).name

    kubectl("cordon", node)
    kubectl("label", "node", node, "example.com/seen=yes")
    cordoned = kubectl("get", "node", node).stdout
    kubectl("uncordon", node)

    assert "SchedulingDisabled" in cordoned
    assert "SchedulingDisabled" not in kubectl("get", "nodes", "-l", "example.com/seen=yes").stdout


def test_a_namespace_is_gone_with_what_it_held(kubectl: Kubectl, world: World) -> None:
    kubectl("create", "namespace", "short")
    kubectl("create", "configmap", "c", "-n", "short", "--from-literal=k=v")

    kubectl("delete", "namespace", "short", "--wait=false")
    world.until(lambda: "short" not in kubectl("get", "namespaces").stdout)

    assert not [m for m in world.plane.store.objects("configmaps") if name_of(m).namespace == "short"]


def test_a_custom_kind_is_defined_and_used(kubectl: Kubectl) -> None:
    schema: JsonObject = {
        "type": "object",
        "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer", "minimum": 1}}}},
    }
    version: JsonObject = {
        "name": "v1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
        "additionalPrinterColumns": [{"name": "Size", "type": "integer", "jsonPath": ".spec.size"}],
        "subresources": {"scale": {"specReplicasPath": ".spec.size", "statusReplicasPath": ".status.size"}},
    }
    definition: JsonObject = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "boxes.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "boxes", "kind": "Box", "shortNames": ["bx"]},
            "versions": [version],
        },
    }
    box: JsonObject = {"apiVersion": "example.com/v1", "kind": "Box", "metadata": {"name": "b"}, "spec": {"size": 2}}
    kubectl("create", "-f", "-", given=definition)
    kubectl("create", "-f", "-", given=box)
    kubectl("scale", "box", "b", "--replicas=5")

    assert kubectl("get", "bx").stdout.split()[:3] == ["NAME", "SIZE", "AGE"]
    assert kubectl("get", "bx", "b", "-o", "jsonpath={.spec.size}").stdout == "5"
    wrong = {**box, "metadata": {"name": "c"}, "spec": {"size": 0}}
    assert "greater than or equal to 1" in kubectl("create", "-f", "-", given=wrong, code=1).stderr
    kubectl("delete", "crd", "boxes.example.com")
    kubectl("get", "boxes", code=1)


def test_a_watch_prints_changes(kubectl: Kubectl, world: World) -> None:
    kubectl("create", "configmap", "watched", "--from-literal=k=v")

    printed = kubectl("get", "configmaps", "-w", "--request-timeout=2s", "-o", "json").stdout

    found, _ = json.JSONDecoder().raw_decode(printed)
    assert "watched" in printed
    assert isinstance(found, dict)
    assert text(found, "kind") in ("ConfigMap", "List")
    assert objects(found, "items") or name_of(found).name
