"""What the twin's API server does beyond what every one does: its log, its limits, its memory."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from core.json_value import JsonObject
from tests.twin.kube.serving import EKS_NAME, TOKEN, FakeAgent, Served, add_node, make_planes, served
from twin.kube.journal import Journal
from twin.kube.objects import ObjectName, mapping, put, strings, text, with_condition
from twin.kube.store import ObjectStore


@pytest.fixture
def http(server: Served) -> Iterator[httpx.Client]:
    headers = {"authorization": f"Bearer {TOKEN}"}
    with httpx.Client(base_url=server.url, headers=headers, timeout=10, trust_env=False) as client:
        yield client


def config_map(name: str, **data: str) -> JsonObject:
    return {"metadata": {"name": name}, "data": data}


MAPS = "/api/v1/namespaces/default/configmaps"


@pytest.mark.parametrize("authorization", ["", "Bearer wrong", "Basic !!", "Basic d3Jvbmc6d3Jvbmc="])
def test_a_stranger_gets_nothing(http: httpx.Client, authorization: str) -> None:
    answer = http.get("/api/v1/nodes", headers={"authorization": authorization})

    assert (answer.status_code, answer.json()["reason"]) == (401, "Unauthorized")


def test_an_unknown_cluster_is_not_found(server: Served, http: httpx.Client) -> None:
    assert http.get(f"{server.address}/k8s/other/api/v1/nodes").status_code == 404


def test_changes_are_logged_with_what_became_of_them(server: Served, http: httpx.Client) -> None:
    server.log.calls.clear()

    http.post(MAPS, json=config_map("logged", k="1"))
    http.post(MAPS, json=config_map("logged"))
    http.post(f"{MAPS}?dryRun=All", json=config_map("dry"))
    http.patch(f"{MAPS}/logged", json={"data": {"k": "1"}}, headers={"content-type": "application/merge-patch+json"})
    http.patch(f"{MAPS}/logged", json={"data": {"k": "2"}}, headers={"content-type": "application/merge-patch+json"})
    http.get(f"{MAPS}/logged")
    http.delete(f"{MAPS}/logged")

    assert server.log.calls == [
        ("k8s:create:configmaps", "ok", True),
        ("k8s:create:configmaps", "AlreadyExists", False),
        ("k8s:create:configmaps", "ok", False),
        ("k8s:patch:configmaps", "ok", False),
        ("k8s:patch:configmaps", "ok", True),
        ("k8s:delete:configmaps", "ok", True),
    ]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        pytest.param(b"{", 400, id="cut JSON"),
        pytest.param(b"[]", 400, id="no object"),
        pytest.param(b"\xff", 400, id="no text"),
        pytest.param(b"[" * 100_000, 400, id="bottomless"),
        pytest.param(b" " * (3 * 1024 * 1024 + 1), 413, id="too large"),
        pytest.param(b'{"metadata": {}}', 422, id="no name"),
        pytest.param(b'{"metadata": 3}', 422, id="metadata of another type"),
        pytest.param(b'{"metadata": {"name": "../x"}}', 422, id="a path for a name"),
    ],
)
def test_a_bad_body_is_a_status_and_changes_nothing(
    server: Served, http: httpx.Client, body: bytes, status: int
) -> None:
    before = http.get(MAPS).json()["items"]

    answer = http.post(MAPS, content=body, headers={"content-type": "application/json"})

    assert (answer.status_code, answer.json()["kind"]) == (status, "Status")
    assert http.get(MAPS).json()["items"] == before


def test_an_apply_with_aliases_is_refused(http: httpx.Client) -> None:
    body = "metadata: {name: bomb}\na: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]"
    headers = {"content-type": "application/apply-patch+yaml"}

    answer = http.patch(f"{MAPS}/bomb?fieldManager=x", content=body, headers=headers)

    assert (answer.status_code, "aliases" in answer.json()["message"]) == (400, True)


def test_cut_protobuf_is_refused(http: httpx.Client) -> None:
    headers = {"content-type": "application/vnd.kubernetes.protobuf"}

    assert http.post(MAPS, content=b"k8s\x00\x0a\x50\x0a", headers=headers).status_code == 400


def test_a_watch_from_before_the_twins_restart_ends_with_410(tmp_path: Path) -> None:
    make_planes(tmp_path).close()
    headers = {"authorization": f"Bearer {TOKEN}"}

    with (
        served(make_planes(tmp_path)) as server,
        httpx.Client(base_url=server.url, headers=headers, trust_env=False) as http,
        http.stream("GET", MAPS, params={"watch": "true", "resourceVersion": "1"}) as answer,
    ):
        event = json.loads(next(answer.iter_lines()))

    assert (event["type"], event["object"]["code"], event["object"]["reason"]) == ("ERROR", 410, "Expired")


def test_the_store_forgets_the_oldest_changes_first(tmp_path: Path) -> None:
    store = ObjectStore("p", Journal(tmp_path / "db"), kept_changes=3)
    begin = store.version
    for number in range(5):
        store.write("configmaps", ObjectName("n", f"m{number}"), {"metadata": {}})

    kept, version = store.changes_after(begin + 2, "configmaps")

    assert [change.version for change in kept] == [begin + 3, begin + 4, begin + 5]
    assert version == begin + 5
    with pytest.raises(Exception, match="too old"):
        store.changes_after(begin + 1, "configmaps")


def test_a_twin_comes_back_with_what_it_had_acknowledged(tmp_path: Path) -> None:
    before = make_planes(tmp_path)
    node = add_node(before, 1)
    before.set_node_label(EKS_NAME, node, "example.com/a", "b")
    plane = before.find(EKS_NAME)
    assert plane is not None

    # Killed, not closed: a second one opens the same folder.
    after = make_planes(tmp_path).find(EKS_NAME)

    assert after is not None
    assert after.store.objects("nodes") == plane.store.objects("nodes")
    assert after.store.version == plane.store.version


def test_a_reset_forgets_all_clusters(tmp_path: Path) -> None:
    planes = make_planes(tmp_path)

    planes.reset()

    assert planes.all() == []
    assert make_planes(tmp_path).find(EKS_NAME) is not None


def test_labels_that_clients_set_on_nodes_are_reported(server: Served, http: httpx.Client) -> None:
    agent = server.planes.agent = FakeAgent()
    node = add_node(server.planes, 50)
    server.planes.set_node_label(EKS_NAME, node, "by-the-twin", "x")
    for value in ("now", None):
        patch = {"metadata": {"labels": {"by-a-client": value}}}
        http.patch(f"/api/v1/nodes/{node}", json=patch, headers={"content-type": "application/merge-patch+json"})
    server.planes.agent = None

    assert agent.labels == [(EKS_NAME, node, "by-a-client", "now"), (EKS_NAME, node, "by-a-client", None)]


def test_a_node_has_hyperpods_labels_and_what_pods_may_use(server: Served) -> None:
    plane = server.planes.find(EKS_NAME)
    assert plane is not None
    name = add_node(server.planes, 60, "ml.p5.48xlarge")

    node = plane.store.get("nodes", ObjectName("", name))

    assert node is not None
    assert strings(node, "metadata", "labels")["node.kubernetes.io/instance-type"] == "ml.p5.48xlarge"
    assert strings(node, "metadata", "labels")["sagemaker.amazonaws.com/node-health-status"] == "Schedulable"
    allocatable = mapping(node, "status", "allocatable")
    assert (allocatable["nvidia.com/gpu"], allocatable["vpc.amazonaws.com/efa"]) == ("8", "32")
    # 192 CPUs less 0.4 + 0.15 + 2 x 0.1 + 188 x 0.06.
    assert allocatable["cpu"] == "179970m"
    assert text(node, "spec", "providerID").startswith("aws:///usw2-az2/sagemaker/cluster/hyperpod-")


def test_an_eviction_honours_a_disruption_budget(server: Served, http: httpx.Client) -> None:
    plane = server.planes.find(EKS_NAME)
    assert plane is not None
    budget = {"metadata": {"name": "b"}, "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "x"}}}}
    http.post("/apis/policy/v1/namespaces/default/poddisruptionbudgets", json=budget)
    for name in ("x0", "x1"):
        spec = {"containers": [{"name": "main", "image": "i"}]}
        http.post(
            "/api/v1/namespaces/default/pods", json={"metadata": {"name": name, "labels": {"app": "x"}}, "spec": spec}
        )
        plane.resources.modify(
            "pods",
            ObjectName("default", name),
            lambda pod: with_condition(pod, "Ready", status="True", reason="", message="", now=plane.clock.now()),
        )

    answers = [http.post(f"/api/v1/namespaces/default/pods/{n}/eviction", json={}).status_code for n in ("x0", "x1")]

    assert answers == [201, 429]
    assert http.get("/api/v1/namespaces/default/pods/x0").status_code == 404


def test_a_status_is_written_by_its_own_path_only(http: httpx.Client) -> None:
    jobs = "/apis/sagemaker.amazonaws.com/v1/namespaces/default/hyperpodpytorchjobs"
    http.post(jobs, json={"metadata": {"name": "s"}, "spec": {}, "status": {"restartCount": 9}})
    merge = {"content-type": "application/merge-patch+json"}

    http.patch(f"{jobs}/s", json={"status": {"restartCount": 5}}, headers=merge)
    untouched = http.get(f"{jobs}/s").json()
    http.patch(f"{jobs}/s/status", json={"status": {"restartCount": 5}, "spec": {"nprocPerNode": "9"}}, headers=merge)
    written = http.get(f"{jobs}/s").json()

    assert "status" not in untouched
    assert written["status"] == {"restartCount": 5}
    assert written["spec"]["nprocPerNode"] == "auto"
    assert written["metadata"]["generation"] == untouched["metadata"]["generation"] == 1


def test_a_strategic_patch_is_refused_for_custom_kinds(http: httpx.Client) -> None:
    jobs = "/apis/sagemaker.amazonaws.com/v1/namespaces/default/hyperpodpytorchjobs"
    http.post(jobs, json={"metadata": {"name": "p"}, "spec": {}})

    headers = {"content-type": "application/strategic-merge-patch+json"}
    assert http.patch(f"{jobs}/p", json={}, headers=headers).status_code == 415


def test_a_job_with_a_wrong_quantity_is_refused(http: httpx.Client) -> None:
    jobs = "/apis/sagemaker.amazonaws.com/v1/namespaces/default/hyperpodpytorchjobs"
    container = {"name": "m", "resources": {"limits": {"cpu": "many"}}}
    replica = {"name": "pod", "replicas": 1, "template": {"spec": {"containers": [container]}}}

    answer = http.post(jobs, json={"metadata": {"name": "q"}, "spec": {"replicaSpecs": [replica]}})

    assert answer.status_code == 422
    assert "limits[cpu]" in answer.json()["message"]


def test_unoffered_methods_are_named(http: httpx.Client) -> None:
    answer = http.post("/api/v1/nodes/some", json={})

    assert (answer.status_code, answer.json()["reason"]) == (405, "MethodNotAllowed")


def test_logs_of_a_pod_that_has_not_started_are_refused(http: httpx.Client) -> None:
    spec = {"containers": [{"name": "main", "image": "i"}]}
    http.post("/api/v1/namespaces/default/pods", json={"metadata": {"name": "early"}, "spec": spec})

    answer = http.get("/api/v1/namespaces/default/pods/early/log")

    assert answer.status_code == 400
    assert "is waiting to start" in answer.json()["message"]


def test_an_event_that_repeats_is_counted(server: Served) -> None:
    plane = server.planes.find(EKS_NAME)
    assert plane is not None
    node = put({"apiVersion": "v1", "kind": "Node"}, {"name": "some-node", "uid": "u"}, "metadata")
    for _ in range(3):
        plane.event(node, "Seen", "it was seen", component="test")

    found = [e for e in plane.store.objects("events", "default") if text(e, "reason") == "Seen"]

    assert [e["count"] for e in found] == [3]
