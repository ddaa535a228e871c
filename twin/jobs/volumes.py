"""PersistentVolumes and their claims: binding, making volumes by storage class, and what a bound claim stands for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from core.json_value import JsonObject, JsonValue
from twin.kube.objects import Obj, ObjectName, array, mapping, merged, name_of, objects, put, text, uid_of
from twin.kube.planes import ControlPlane
from twin.kube.quantity import thousandths
from twin.kube.resources import DeleteOptions

_VOLUMES, _CLAIMS, _CLASSES = "persistentvolumes", "persistentvolumeclaims", "storageclasses.storage.k8s.io"
_MADE_BY: Final = "pv.kubernetes.io/provisioned-by"


def bind_claims(plane: ControlPlane) -> None:
    """One round: waiting claims get a volume that fits or one made for them; volumes without their claim are let go."""
    for claim in plane.store.objects(_CLAIMS):
        if text(claim, "status", "phase") == "Pending":
            volume = _fitting(plane, claim) or _made_for(plane, claim)
            if volume is not None:
                _bind(plane, claim, volume)
    claims = {uid_of(claim) for claim in plane.store.objects(_CLAIMS)}
    for volume in plane.store.objects(_VOLUMES):
        if text(volume, "status", "phase") == "Bound" and text(volume, "spec", "claimRef", "uid") not in claims:
            _release(plane, volume)


def unbound_claim(plane: ControlPlane, pod: Obj) -> str:
    """Why the pod's claims keep it from being scheduled, in kube-scheduler's words; empty when they do not."""
    for name in _claims_of(pod):
        claim = plane.store.get(_CLAIMS, ObjectName(name_of(pod).namespace, name))
        if claim is None:
            return f'persistentvolumeclaim "{name}" not found'
        if text(claim, "status", "phase") != "Bound":
            return "pod has unbound immediate PersistentVolumeClaims"
    return ""


def storage_behind(plane: ControlPlane, claim: ObjectName) -> str:
    """What two claims share when they stand for the same storage: the driver's handle, else the volume's name."""
    bound = plane.store.get(_CLAIMS, claim) or {}
    volume = plane.store.get(_VOLUMES, ObjectName("", text(bound, "spec", "volumeName"))) or {}
    return text(volume, "spec", "csi", "volumeHandle") or name_of(volume).name


def _claims_of(pod: Obj) -> Sequence[str]:
    volumes = objects(pod, "spec", "volumes")
    return [name for volume in volumes if (name := text(volume, "persistentVolumeClaim", "claimName"))]


def _fitting(plane: ControlPlane, claim: Obj) -> Obj | None:
    wanted, modes = text(claim, "spec", "volumeName"), set(array(claim, "spec", "accessModes"))
    for volume in plane.store.objects(_VOLUMES):
        promised = mapping(volume, "spec", "claimRef")
        is_promised = (text(promised, "namespace"), text(promised, "name")) == name_of(claim)
        if (
            text(volume, "status", "phase") == "Available"
            and wanted in ("", name_of(volume).name)
            and (not promised or is_promised)
            and text(volume, "spec", "storageClassName") == text(claim, "spec", "storageClassName")
            and modes <= set(array(volume, "spec", "accessModes"))
            and _size(volume, "spec", "capacity") >= _size(claim, "spec", "resources", "requests")
        ):
            return volume
    return None


def _made_for(plane: ControlPlane, claim: Obj) -> Obj | None:
    """Dynamic provisioning, where the claim names a storage class."""
    class_name = text(claim, "spec", "storageClassName")
    found = plane.store.get(_CLASSES, ObjectName("", class_name)) if class_name else None
    if found is None or text(claim, "spec", "volumeName"):
        return None
    driver, name = text(found, "provisioner"), f"pvc-{uid_of(claim)}"
    spec: JsonObject = {
        "capacity": mapping(claim, "spec", "resources", "requests"),
        "accessModes": array(claim, "spec", "accessModes"),
        "storageClassName": class_name,
        "persistentVolumeReclaimPolicy": text(found, "reclaimPolicy") or "Delete",
        "csi": {"driver": driver, "volumeHandle": name},
    }
    plane.event(claim, "ProvisioningSucceeded", f"Successfully provisioned volume {name}", component=driver)
    return plane.resources.add(_VOLUMES, {"metadata": {"name": name, "annotations": {_MADE_BY: driver}}, "spec": spec})


def _bind(plane: ControlPlane, claim: Obj, volume: Obj) -> None:
    where = name_of(claim)
    reference: JsonObject = {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "namespace": where.namespace,
        "name": where.name,
        "uid": uid_of(claim),
    }
    status: dict[str, JsonValue] = {
        "phase": "Bound",
        "accessModes": array(volume, "spec", "accessModes"),
        "capacity": mapping(volume, "spec", "capacity"),
    }
    plane.resources.modify(
        _VOLUMES, name_of(volume), lambda v: put(put(v, reference, "spec", "claimRef"), "Bound", "status", "phase")
    )
    plane.resources.modify(
        _CLAIMS, where, lambda c: merged(put(c, name_of(volume).name, "spec", "volumeName"), status, "status")
    )


def _release(plane: ControlPlane, volume: Obj) -> None:
    if text(volume, "spec", "persistentVolumeReclaimPolicy") == "Delete":
        plane.resources.delete(plane.kinds.named(_VOLUMES), name_of(volume), DeleteOptions())
    else:
        plane.resources.modify(_VOLUMES, name_of(volume), lambda v: put(v, "Released", "status", "phase"))


def _size(obj: Obj, *path: str) -> int:
    try:
        return thousandths(mapping(obj, *path).get("storage", "0"))
    except ValueError:
        return 0
