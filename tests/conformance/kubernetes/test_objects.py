"""What any Kubernetes API server does with objects: the twin's and, if one is named, a real cluster's."""

from __future__ import annotations

import pytest

from core.json_value import JsonObject
from tests.conformance.kubernetes.client import APPLY, JSON_PATCH, MERGE, STRATEGIC, Answer, Cluster
from twin.kube.objects import array, dig, mapping, name_of, objects, put, text, uid_of


def config_map(name: str, data: dict[str, str] | None = None, **labels: str) -> JsonObject:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "labels": labels},
        "data": data or {},
    }


def maps(namespace: str, name: str = "") -> str:
    return f"/api/v1/namespaces/{namespace}/configmaps" + (f"/{name}" if name else "")


def reason(answer: Answer) -> tuple[int, str]:
    assert answer.body.get("kind") == "Status"
    return answer.status, text(answer.body, "reason")


def names(answer: Answer) -> list[str]:
    return [name_of(item).name for item in objects(answer.body, "items")]


def test_discovery_lists_groups_versions_and_resources(cluster: Cluster) -> None:
    core = cluster.get("/api/v1").body
    groups = [text(group, "name") for group in objects(cluster.get("/apis").body, "groups")]

    assert {"pods", "pods/log", "nodes", "namespaces"} <= {text(r, "name") for r in objects(core, "resources")}
    assert "policy" in groups
    assert text(cluster.get("/version").body, "gitVersion").startswith("v1.")


def test_a_created_object_has_identity_version_and_generation(cluster: Cluster, namespace: str) -> None:
    created = cluster.post(maps(namespace), config_map("a", {"k": "v"}))

    assert created.status == 201
    assert uid_of(created.body)
    assert text(created.body, "metadata", "creationTimestamp")
    assert cluster.get(maps(namespace, "a")).body == created.body


def test_generated_names_differ(cluster: Cluster, namespace: str) -> None:
    nameless = {"metadata": {"generateName": "made-"}, "data": {}}

    made = [name_of(cluster.post(maps(namespace), nameless).body).name for _ in range(2)]

    assert len(set(made)) == 2
    assert all(name.startswith("made-") for name in made)


@pytest.mark.parametrize(
    ("path", "body", "statuses"),
    [
        pytest.param("configmaps", {"metadata": {"name": "Upper"}}, {422}, id="name against the pattern"),
        pytest.param("configmaps", {"metadata": {"name": "a"}, "data": []}, {400, 422}, id="wrong type"),
        pytest.param("nonsense", {"metadata": {"name": "a"}}, {404}, id="unknown resource"),
        pytest.param("configmaps", {"kind": "Secret", "metadata": {"name": "a"}}, {400}, id="another kind"),
        pytest.param("pods", {"metadata": {"name": "a"}, "spec": {"containers": []}}, {422}, id="empty pod"),
    ],
)
def test_a_wrong_create_is_refused_with_a_status(
    cluster: Cluster, namespace: str, path: str, body: JsonObject, statuses: set[int]
) -> None:
    answer = cluster.post(f"/api/v1/namespaces/{namespace}/{path}", body)

    assert answer.status in statuses
    assert answer.body.get("code") == answer.status


def test_an_unknown_field_is_refused_under_strict_validation(cluster: Cluster, namespace: str) -> None:
    body = {"metadata": {"name": "a"}, "dat": {}}

    answer = cluster.post(maps(namespace), body, fieldValidation="Strict")

    assert reason(answer) == (400, "BadRequest")
    assert "dat" in text(answer.body, "message")


def test_a_second_create_conflicts(cluster: Cluster, namespace: str) -> None:
    cluster.post(maps(namespace), config_map("a"))

    assert reason(cluster.post(maps(namespace), config_map("a"))) == (409, "AlreadyExists")


def test_a_missing_object_is_not_found(cluster: Cluster, namespace: str) -> None:
    assert reason(cluster.get(maps(namespace, "none"))) == (404, "NotFound")


def test_a_create_in_a_missing_namespace_is_not_found(cluster: Cluster) -> None:
    assert reason(cluster.post(maps("no-such-namespace"), config_map("a"))) == (404, "NotFound")


def test_a_dry_run_changes_nothing(cluster: Cluster, namespace: str) -> None:
    assert cluster.post(maps(namespace), config_map("a"), dryRun="All").status == 201

    assert cluster.get(maps(namespace, "a")).status == 404


@pytest.mark.parametrize(
    ("selector", "found"),
    [
        pytest.param("app=x", ["a", "b"], id="equal"),
        pytest.param("app!=x", ["c"], id="unequal"),
        pytest.param("app in (x,y),tier=one", ["a"], id="set and equal"),
        pytest.param("tier", ["a", "b"], id="exists"),
        pytest.param("!tier", ["c"], id="is absent"),
    ],
)
def test_lists_are_selected_by_label(cluster: Cluster, namespace: str, selector: str, found: list[str]) -> None:
    cluster.post(maps(namespace), config_map("a", app="x", tier="one"))
    cluster.post(maps(namespace), config_map("b", app="x", tier="two"))
    cluster.post(maps(namespace), config_map("c", app="y"))
    only_ours = f"{selector},!foreign"

    listed = cluster.get(maps(namespace), labelSelector=only_ours)

    assert [name for name in names(listed) if name != "kube-root-ca.crt"] == found


def test_lists_are_selected_by_field(cluster: Cluster, namespace: str) -> None:
    for name in ("a", "b"):
        cluster.post(maps(namespace), config_map(name))

    assert names(cluster.get(maps(namespace), fieldSelector="metadata.name=b")) == ["b"]


def test_pages_show_one_moment(cluster: Cluster, namespace: str) -> None:
    for name in "abcde":
        cluster.post(maps(namespace), config_map(name, page="yes"))
    first = cluster.get(maps(namespace), labelSelector="page=yes", limit="2")
    cluster.post(maps(namespace), config_map("bb", page="yes"))

    token = text(first.body, "metadata", "continue")
    second = cluster.get(maps(namespace), labelSelector="page=yes", limit="9", **{"continue": token})

    assert names(first) + names(second) == list("abcde")
    assert not text(second.body, "metadata", "continue")


def test_a_broken_page_token_is_refused(cluster: Cluster, namespace: str) -> None:
    assert cluster.get(maps(namespace), limit="1", **{"continue": "nonsense"}).status == 400


def test_a_stale_update_conflicts(cluster: Cluster, namespace: str) -> None:
    old = cluster.post(maps(namespace), config_map("a", {"k": "1"})).body
    cluster.patch(maps(namespace, "a"), {"data": {"k": "2"}}, MERGE)

    answer = cluster.put(maps(namespace, "a"), put(old, "3", "data", "k"))

    assert reason(answer) == (409, "Conflict")
    assert text(cluster.get(maps(namespace, "a")).body, "data", "k") == "2"


def test_an_update_that_changes_nothing_keeps_the_version(cluster: Cluster, namespace: str) -> None:
    old = cluster.post(maps(namespace), config_map("a", {"k": "1"})).body

    assert cluster.put(maps(namespace, "a"), old).body == old


@pytest.mark.parametrize(
    ("content_type", "patch"),
    [
        pytest.param(MERGE, {"data": {"new": "1", "old": None}}, id="merge"),
        pytest.param(STRATEGIC, {"data": {"new": "1", "old": None}}, id="strategic"),
        pytest.param(
            JSON_PATCH,
            [{"op": "remove", "path": "/data/old"}, {"op": "add", "path": "/data/new", "value": "1"}],
            id="JSON",
        ),
    ],
)
def test_patches_change_fields(cluster: Cluster, namespace: str, content_type: str, patch: JsonObject) -> None:
    cluster.post(maps(namespace), config_map("a", {"old": "1", "kept": "1"}))

    answer = cluster.patch(maps(namespace, "a"), patch, content_type)

    assert mapping(answer.body, "data") == {"kept": "1", "new": "1"}


def test_a_json_patch_whose_test_fails_changes_nothing(cluster: Cluster, namespace: str) -> None:
    cluster.post(maps(namespace), config_map("a", {"k": "1"}))
    patch = [
        {"op": "replace", "path": "/data/k", "value": "2"},
        {"op": "test", "path": "/data/k", "value": "something else"},
    ]

    assert cluster.patch(maps(namespace, "a"), patch, JSON_PATCH).status == 422
    assert text(cluster.get(maps(namespace, "a")).body, "data", "k") == "1"


def test_an_unknown_patch_type_is_unsupported(cluster: Cluster, namespace: str) -> None:
    cluster.post(maps(namespace), config_map("a"))

    assert cluster.patch(maps(namespace, "a"), {}, "application/unknown-patch+json").status == 415


def test_an_apply_creates_and_then_merges(cluster: Cluster, namespace: str) -> None:
    created = cluster.patch(maps(namespace, "a"), config_map("a", {"k": "1"}), APPLY, fieldManager="one")
    cluster.patch(maps(namespace, "a"), {"data": {"other": "1"}}, MERGE, fieldManager="two")

    again = cluster.patch(maps(namespace, "a"), config_map("a", {"k": "2"}), APPLY, fieldManager="one")

    assert created.status == 201
    assert mapping(again.body, "data") == {"k": "2", "other": "1"}


def test_an_apply_takes_back_what_it_no_longer_says(cluster: Cluster, namespace: str) -> None:
    cluster.patch(maps(namespace, "a"), config_map("a", {"k": "1", "gone": "1"}), APPLY, fieldManager="one")

    again = cluster.patch(maps(namespace, "a"), config_map("a", {"k": "1"}), APPLY, fieldManager="one")

    assert mapping(again.body, "data") == {"k": "1"}


def test_an_apply_conflicts_with_another_manager(cluster: Cluster, namespace: str) -> None:
    cluster.patch(maps(namespace, "a"), config_map("a", {"k": "1"}), APPLY, fieldManager="one")
    mine = config_map("a", {"k": "2"})

    refused = cluster.patch(maps(namespace, "a"), mine, APPLY, fieldManager="two")
    forced = cluster.patch(maps(namespace, "a"), mine, APPLY, fieldManager="two", force="true")
    back = cluster.patch(maps(namespace, "a"), config_map("a", {"k": "1"}), APPLY, fieldManager="one")

    assert reason(refused) == (409, "Conflict")
    cause = objects(refused.body, "details", "causes")[0]
    assert (text(cause, "reason"), text(cause, "field")) == ("FieldManagerConflict", ".data.k")
    assert text(forced.body, "data", "k") == "2"
    assert reason(back) == (409, "Conflict")


def test_a_delete_with_another_uid_is_refused(cluster: Cluster, namespace: str) -> None:
    cluster.post(maps(namespace), config_map("a"))

    answer = cluster.delete(maps(namespace, "a"), {"preconditions": {"uid": "another"}})

    assert reason(answer) == (409, "Conflict")
    assert cluster.get(maps(namespace, "a")).status == 200


def test_a_finalizer_holds_an_object_until_it_is_taken_off(cluster: Cluster, namespace: str) -> None:
    held = put(config_map("a"), ["example.com/hold"], "metadata", "finalizers")
    cluster.post(maps(namespace), held)

    cluster.delete(maps(namespace, "a"))
    waiting = cluster.get(maps(namespace, "a"))
    cluster.patch(maps(namespace, "a"), {"metadata": {"finalizers": None}}, MERGE)

    assert text(waiting.body, "metadata", "deletionTimestamp")
    assert cluster.get(maps(namespace, "a")).status == 404


def test_a_collection_is_deleted_by_selector(cluster: Cluster, namespace: str) -> None:
    cluster.post(maps(namespace), config_map("a", go="yes"))
    cluster.post(maps(namespace), config_map("b"))

    cluster.delete(maps(namespace), labelSelector="go=yes")

    left = names(cluster.get(maps(namespace)))
    assert "a" not in left
    assert "b" in left


def test_an_access_review_says_what_one_may_do(cluster: Cluster) -> None:
    review: JsonObject = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}},
    }

    answer = cluster.post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", review)

    assert answer.status == 201
    assert dig(answer.body, "status", "allowed") is True


def test_a_watch_goes_on_from_a_version(cluster: Cluster, namespace: str) -> None:
    version = text(cluster.get(maps(namespace)).body, "metadata", "resourceVersion")
    cluster.post(maps(namespace), config_map("a", seen="yes"))
    cluster.patch(maps(namespace, "a"), {"data": {"k": "1"}}, MERGE)
    cluster.delete(maps(namespace, "a"))

    events = cluster.watch(maps(namespace), resourceVersion=version, labelSelector="seen=yes")
    seen = [next(events) for _ in range(3)]

    assert [(kind, name_of(obj).name) for kind, obj in seen] == [
        ("ADDED", "a"),
        ("MODIFIED", "a"),
        ("DELETED", "a"),
    ]


def test_a_watch_with_a_selector_sees_objects_enter_and_leave(cluster: Cluster, namespace: str) -> None:
    version = text(cluster.get(maps(namespace)).body, "metadata", "resourceVersion")
    cluster.post(maps(namespace), config_map("a"))
    cluster.patch(maps(namespace, "a"), {"metadata": {"labels": {"in": "yes"}}}, MERGE)
    cluster.patch(maps(namespace, "a"), {"metadata": {"labels": {"in": None}}}, MERGE)

    events = cluster.watch(maps(namespace), resourceVersion=version, labelSelector="in=yes")
    seen = [next(events) for _ in range(2)]

    assert [kind for kind, _ in seen] == ["ADDED", "DELETED"]


def test_a_watch_ends_with_a_bookmark(cluster: Cluster, namespace: str) -> None:
    listed = cluster.get(maps(namespace)).body
    version = text(listed, "metadata", "resourceVersion")

    events = list(
        cluster.watch(maps(namespace), resourceVersion=version, allowWatchBookmarks="true", timeoutSeconds="1")
    )

    assert all(kind == "BOOKMARK" for kind, _ in events)
    assert all(text(obj, "metadata", "resourceVersion") for _, obj in events)


def test_a_namespace_is_terminated_with_its_content(cluster: Cluster) -> None:
    name = "muster-conformance-ending"
    cluster.post("/api/v1/namespaces", {"metadata": {"name": name}})
    cluster.post(maps(name), config_map("a"))

    answer = cluster.delete(f"/api/v1/namespaces/{name}")

    assert answer.status == 200
    assert text(answer.body, "status", "phase") == "Terminating"
    assert cluster.post(maps(name), config_map("b")).status in (403, 404)
    assert array(answer.body, "spec", "finalizers")
