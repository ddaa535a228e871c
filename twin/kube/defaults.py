"""What the API server fills in or refuses per kind, beyond the schema."""

from __future__ import annotations

import base64
from typing import Final

from core.json_value import JsonValue
from twin.kube.errors import ApiError
from twin.kube.kinds import Kind
from twin.kube.objects import Obj, array, dig, drop, mapping, merged, number, objects, put, strings, text
from twin.kube.pod_rules import Wrong, wrong_in_pod_spec, wrong_name
from twin.kube.validation import refused

_MOST_PODS_OF_A_JOB: Final = 1_000
_POD_SPEC_CHANGEABLE: Final = (
    "activeDeadlineSeconds",
    "tolerations",
    "nodeName",
    "terminationGracePeriodSeconds",
)


def prepared(kind: Kind, obj: Obj) -> Obj:
    """The object as a create stores it."""
    match kind.resource:
        case "pods":
            spec = {"restartPolicy": "Always", "terminationGracePeriodSeconds": 30, **mapping(obj, "spec")}
            return put(put(obj, spec, "spec"), {"phase": "Pending"}, "status")
        case "namespaces":
            name = text(obj, "metadata", "name")
            obj = merged(obj, {"kubernetes.io/metadata.name": name}, "metadata", "labels")
            return put(put(obj, ["kubernetes"], "spec", "finalizers"), {"phase": "Active"}, "status")
        case "secrets":
            plain = strings(obj, "stringData")
            encoded: dict[str, JsonValue] = {
                key: base64.b64encode(value.encode()).decode() for key, value in plain.items()
            }
            obj = merged(drop(obj, "stringData"), encoded, "data")
            return obj if text(obj, "type") else put(obj, "Opaque", "type")
        case "persistentvolumes" | "persistentvolumeclaims":
            phase = "Available" if kind.plural == "persistentvolumes" else "Pending"
            return put(obj, {"phase": phase}, "status")
        case "hyperpodpytorchjobs.sagemaker.amazonaws.com":
            return obj if text(obj, "spec", "nprocPerNode") else put(obj, "auto", "spec", "nprocPerNode")
        case _:
            return obj


def refusal(kind: Kind, before: Obj | None, after: Obj) -> ApiError | None:
    """Why the object may not become `after`, if it may not."""
    wrong: list[Wrong] = []
    if kind.resource == "pods" and before is not None and _frozen(before) != _frozen(after):
        message = (
            "Forbidden: pod updates may not change fields other than `spec.containers[*].image`, "
            "`spec.activeDeadlineSeconds`, `spec.terminationGracePeriodSeconds` or `spec.tolerations`"
        )
        wrong.append(("spec", "FieldValueForbidden", message))
    if kind.resource == "pods" and not objects(after, "spec", "containers"):
        wrong.append(("spec.containers", "FieldValueRequired", "Required value"))
    if kind.resource == "pods":
        wrong += wrong_in_pod_spec(mapping(after, "spec"), "spec")
    if kind.resource == "hyperpodpytorchjobs.sagemaker.amazonaws.com":
        wrong += _wrong_in_job(after)
    return refused(kind, after, wrong) if wrong else None


def _frozen(pod: Obj) -> Obj:
    """What may not change in a pod."""
    spec = {key: value for key, value in mapping(pod, "spec").items() if key not in _POD_SPEC_CHANGEABLE}
    containers = [{k: v for k, v in c.items() if k != "image"} for c in objects(spec, "containers")]
    return {**spec, "containers": containers}


def _wrong_in_job(job: Obj) -> list[Wrong]:
    wrong: list[Wrong] = []
    pods = sum(number(replica, "replicas") or 0 for replica in objects(job, "spec", "replicaSpecs"))
    if pods > _MOST_PODS_OF_A_JOB:
        message = f"Invalid value: {pods}: the twin makes at most {_MOST_PODS_OF_A_JOB} pods of a job"
        wrong.append(("spec.replicaSpecs", "FieldValueInvalid", message))
    for i, replica in enumerate(objects(job, "spec", "replicaSpecs")):
        most, wanted = number(replica, "maxReplicas"), number(replica, "replicas") or 0
        path = f"spec.replicaSpecs[{i}]"
        wrong += wrong_name(text(replica, "name"), f"{path}.name")
        wrong += wrong_in_pod_spec(mapping(replica, "template", "spec"), f"{path}.template.spec")
        if most is not None and wanted > most:
            wrong.append(
                (f"{path}.replicas", "FieldValueInvalid", f"Invalid value: {wanted}: more than maxReplicas {most}")
            )
    elastic = mapping(job, "spec", "elasticPolicy")
    step, steps = number(elastic, "replicaIncrementStep"), array(elastic, "replicaDiscreteValues")
    if step is not None and steps:
        message = "Invalid value: replicaIncrementStep and replicaDiscreteValues exclude each other"
        wrong.append(("spec.elasticPolicy", "FieldValueInvalid", message))
    least, most = number(elastic, "minReplicas"), number(elastic, "maxReplicas")
    if least is not None and most is not None and least > most:
        message = f"Invalid value: {least}: more than maxReplicas {most}"
        wrong.append(("spec.elasticPolicy.minReplicas", "FieldValueInvalid", message))
    processes = dig(job, "spec", "nprocPerNode")
    if isinstance(processes, str) and processes not in ("auto", "cpu", "gpu") and not processes.isdigit():
        message = f'Invalid value: "{processes}": one of auto, cpu, gpu or a number'
        wrong.append(("spec.nprocPerNode", "FieldValueInvalid", message))
    return wrong
