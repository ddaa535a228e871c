"""Scale, eviction and the review of one's own rights."""

from __future__ import annotations

import math

from core.json_value import JsonValue
from twin.kube.errors import ApiError, bad_request, no_such_path
from twin.kube.kinds import Kind
from twin.kube.objects import (
    Obj,
    ObjectName,
    condition_of,
    dig,
    is_terminating,
    mapping,
    name_of,
    number,
    put,
    strings,
    text,
    uid_of,
)
from twin.kube.resources import DeleteOptions, Resources, WriteOptions, Written
from twin.kube.selecting import label_selector_matches


def scale_of(kind: Kind, obj: Obj) -> Obj:
    """The `autoscaling/v1` Scale of an object."""
    if kind.scale is None:
        raise no_such_path()
    metadata = {
        key: mapping(obj, "metadata").get(key)
        for key in ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
    }
    status: dict[str, JsonValue] = {"replicas": number(obj, *kind.scale.status.split(".")) or 0}
    if kind.scale.selector:
        status["selector"] = text(obj, *kind.scale.selector.split("."))
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": metadata,
        "spec": {"replicas": number(obj, *kind.scale.spec.split(".")) or 0},
        "status": status,
    }


def set_scale(resources: Resources, kind: Kind, name: ObjectName, scale: Obj, options: WriteOptions) -> Written:
    if kind.scale is None:
        raise no_such_path()
    replicas = number(scale, "spec", "replicas")
    if replicas is None or replicas < 0:
        raise bad_request(f"spec.replicas must be a number of at least 0, not {dig(scale, 'spec', 'replicas')!r}")
    obj = put(resources.get(kind, name), replicas, *kind.scale.spec.split("."))
    version = text(scale, "metadata", "resourceVersion")
    if version:
        obj = put(obj, version, "metadata", "resourceVersion")
    return resources.replace(kind, name, obj, options)


def evict(resources: Resources, kind: Kind, name: ObjectName, options: DeleteOptions) -> None:
    """Delete the pod unless a PodDisruptionBudget forbids it: then 429, as the real API answers."""
    pod = resources.get(kind, name)
    for budget in resources.store.objects("poddisruptionbudgets.policy", name.namespace):
        selector = mapping(budget, "spec", "selector")
        if selector and label_selector_matches(selector, strings(pod, "metadata", "labels")):
            pods = [
                other
                for other in resources.store.objects("pods", name.namespace)
                if label_selector_matches(selector, strings(other, "metadata", "labels"))
            ]
            healthy = [other for other in pods if _is_healthy(other)]
            needed = _needed(budget, len(pods))
            if uid_of(pod) in {uid_of(other) for other in healthy} and len(healthy) - 1 < needed:
                raise _too_many(name_of(budget).name, needed, len(healthy))
    resources.delete(kind, name, options)


def access_review(body: Obj, user: str) -> Obj:
    """Whoever holds the twin's token may do everything there."""
    if text(body, "kind") not in ("", "SelfSubjectAccessReview"):
        raise bad_request(f"{text(body, 'kind')!r} is not a SelfSubjectAccessReview")
    return {
        "kind": "SelfSubjectAccessReview",
        "apiVersion": "authorization.k8s.io/v1",
        "metadata": {},
        "spec": mapping(body, "spec"),
        "status": {"allowed": True, "reason": f"{user} holds the twin's token"},
    }


def _is_healthy(pod: Obj) -> bool:
    return condition_of(pod, "Ready").get("status") == "True" and not is_terminating(pod)


def _needed(budget: Obj, total: int) -> int:
    least, most = dig(budget, "spec", "minAvailable"), dig(budget, "spec", "maxUnavailable")
    if least is not None:
        return _share(least, total)
    return total - _share(most, total) if most is not None else 0


def _share(value: JsonValue, total: int) -> int:
    """A number, or a percentage of `total`, rounded up as Kubernetes does."""
    if isinstance(value, str) and value.endswith("%"):
        return math.ceil(int(value[:-1]) * total / 100)
    return value if isinstance(value, int) else 0


def _too_many(budget: str, needed: int, healthy: int) -> ApiError:
    cause: Obj = {
        "reason": "DisruptionBudget",
        "message": f"The disruption budget {budget} needs {needed} healthy pods and has {healthy} currently",
    }
    message = "Cannot evict pod as it would violate the pod's disruption budget."
    return ApiError(429, "TooManyRequests", message, {"causes": [cause]})
