"""What clients ask before they ask for anything: versions, groups, resources and OpenAPI."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from core.json_value import JsonValue, digest
from twin.kube.kinds import Kind, Kinds
from twin.kube.objects import Obj, put
from twin.kube.parts import PARTS

VERSION: Final[Obj] = {
    "major": "1",
    "minor": "32",
    "gitVersion": "v1.32.0-twin",
    "gitCommit": "",
    "gitTreeState": "clean",
    "buildDate": "1970-01-01T00:00:00Z",
    "goVersion": "",
    "compiler": "",
    "platform": "linux/amd64",
}
_VERBS: Final[Sequence[JsonValue]] = (
    "create", "delete", "deletecollection", "get", "list", "patch", "update", "watch",
)  # fmt: skip
_SUBRESOURCE_KINDS: Final = {
    "status": None,
    "scale": ("autoscaling", "v1", "Scale", ["get", "patch", "update"]),
    "log": ("", "v1", "Pod", ["get"]),
    "eviction": ("policy", "v1", "Eviction", ["create"]),
}
_REVIEW: Final = ("authorization.k8s.io", "v1", "SelfSubjectAccessReview", "selfsubjectaccessreviews")


def api_versions() -> Obj:
    return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []}


def group_list(kinds: Kinds) -> Obj:
    return {
        "kind": "APIGroupList",
        "apiVersion": "v1",
        "groups": [_group(g, v) for g, v in _groups(kinds).items() if g],
    }


def group(kinds: Kinds, name: str) -> Obj | None:
    versions = _groups(kinds).get(name)
    return {**_group(name, versions), "kind": "APIGroup", "apiVersion": "v1"} if versions else None


def resource_list(kinds: Kinds, group_name: str, version: str) -> Obj | None:
    if version not in _groups(kinds).get(group_name, []):
        return None
    resources: list[JsonValue] = []
    for kind in _rows(kinds, group_name, version):
        singular = kind.kind.lower()
        resources.append(
            {
                "name": kind.plural,
                "singularName": singular,
                "namespaced": kind.namespaced,
                "kind": kind.kind,
                "verbs": _VERBS,
                "shortNames": kind.short_names,
                "categories": ["all"] if kind.plural in ("pods", "services", "daemonsets") else [],
            }
        )
        for sub in kind.subresources:
            g, v, k, verbs = _subresource(kind, sub)
            resources.append(
                {"name": f"{kind.plural}/{sub}", "singularName": "", "namespaced": kind.namespaced,
                 "group": g, "version": v, "kind": k, "verbs": verbs}
            )  # fmt: skip
    if group_name == _REVIEW[0]:
        resources.append(
            {
                "name": _REVIEW[3],
                "singularName": "",
                "namespaced": False,
                "kind": _REVIEW[2],
                "verbs": ["create"],
            }
        )
    joined = f"{group_name}/{version}" if group_name else version
    return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": joined, "resources": resources}


def aggregated(kinds: Kinds, *, core: bool) -> Obj:
    """All groups in one answer (apidiscovery.k8s.io/v2): the core for `/api`, the others for `/apis`."""
    items: list[JsonValue] = []
    for name, versions in _groups(kinds).items():
        if (not name) is core:
            listed: list[JsonValue] = [
                {
                    "version": version,
                    "freshness": "Current",
                    "resources": [_aggregated_row(kind) for kind in _rows(kinds, name, version)],
                }
                for version in versions
            ]
            items.append({"metadata": {"name": name} if name else {}, "versions": listed})
    return {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": items,
    }


def openapi_index(kinds: Kinds, prefix: str) -> Obj:
    """`prefix`: the path of the control plane on its server. kubectl caches each document by its hash."""
    paths: dict[str, JsonValue] = {}
    for path in (_group_path(g, v) for g, v in kinds.group_versions()):
        address = f"{prefix}/openapi/v3/{path}?hash={digest(openapi_v3(kinds, path))}"
        paths[path] = {"serverRelativeURL": address}
    return {"paths": paths}


def openapi_v3(kinds: Kinds, group_path: str) -> Obj | None:
    """The document of one group version, such as `api/v1` or `apis/kueue.x-k8s.io/v1beta2`."""
    for name, version in kinds.group_versions():
        if _group_path(name, version) == group_path:
            rows = list(_rows(kinds, name, version))
            paths: dict[str, JsonValue] = {}
            for kind in rows:
                scope = "namespaces/{namespace}/" if kind.namespaced else ""
                paths[f"/{group_path}/{scope}{kind.plural}/{{name}}"] = _operations(kind)
            schemas: dict[str, JsonValue] = {
                **PARTS,
                **{_definition(kind): _described(kind) for kind in rows},
            }
            return {
                "openapi": "3.0.0",
                "info": {"title": "Kubernetes", "version": "v1.32.0"},
                "paths": paths,
                "components": {"schemas": {key: _as_v3(schema) for key, schema in schemas.items()}},
            }
    return None


def _groups(kinds: Kinds) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, version in kinds.group_versions():
        found.setdefault(name, []).append(version)
    found.setdefault(_REVIEW[0], []).append(_REVIEW[1])
    return found


def _group(name: str, versions: Sequence[str]) -> Obj:
    listed = [{"groupVersion": f"{name}/{version}", "version": version} for version in versions]
    return {"name": name, "versions": listed, "preferredVersion": listed[0]}


def _rows(kinds: Kinds, group_name: str, version: str) -> Iterable[Kind]:
    return (kind for kind in kinds if (kind.group, kind.version) == (group_name, version))


def _subresource(kind: Kind, sub: str) -> tuple[str, str, str, list[JsonValue]]:
    found = _SUBRESOURCE_KINDS[sub]
    if found is None:
        return kind.group, kind.version, kind.kind, ["get", "patch", "update"]
    return found[0], found[1], found[2], list(found[3])


def _aggregated_row(kind: Kind) -> Obj:
    subresources: list[JsonValue] = []
    for sub in kind.subresources:
        g, v, k, verbs = _subresource(kind, sub)
        subresources.append({"subresource": sub, "responseKind": {"group": g, "version": v, "kind": k}, "verbs": verbs})
    return {
        "resource": kind.plural,
        "responseKind": {"group": kind.group, "version": kind.version, "kind": kind.kind},
        "scope": "Namespaced" if kind.namespaced else "Cluster",
        "singularResource": kind.kind.lower(),
        "verbs": _VERBS,
        "shortNames": kind.short_names,
        "categories": ["all"] if kind.plural in ("pods", "services", "daemonsets") else [],
        "subresources": subresources,
    }


def _group_path(name: str, version: str) -> str:
    return f"apis/{name}/{version}" if name else f"api/{version}"


def _definition(kind: Kind) -> str:
    reversed_group = ".".join(reversed((kind.group or "core.api.k8s.io").split(".")))
    return f"{reversed_group}.{kind.version}.{kind.kind}"


def _described(kind: Kind) -> Obj:
    identity: Obj = {"group": kind.group, "version": kind.version, "kind": kind.kind}
    return put(kind.schema, [identity], "x-kubernetes-group-version-kind")


def _operations(kind: Kind) -> Obj:
    """Only what kubectl looks for: that the server checks fields and can dry-run."""
    identity: Obj = {"group": kind.group, "version": kind.version, "kind": kind.kind}
    parameters: list[JsonValue] = [
        {"name": name, "in": "query", "schema": {"type": "string", "uniqueItems": True}}
        for name in ("dryRun", "fieldManager", "fieldValidation")
    ]
    operation: Obj = {
        "x-kubernetes-group-version-kind": identity,
        "parameters": parameters,
        "responses": {"200": {"description": "OK"}},
    }
    return {
        "get": {**operation, "x-kubernetes-action": "get", "parameters": []},
        "patch": {**operation, "x-kubernetes-action": "patch"},
        "put": {**operation, "x-kubernetes-action": "put"},
    }


def _as_v3(schema: JsonValue) -> JsonValue:
    """References stand in an `allOf`, where `kubectl explain` follows them."""
    if isinstance(schema, Mapping):
        if "$ref" in schema:
            return {"allOf": [schema], "default": {}}
        return {key: _as_v3(item) for key, item in schema.items()}
    return schema
