"""What goes because something else went: dependents of deleted owners, contents of ending namespaces."""

from __future__ import annotations

import shutil

from twin.kube.objects import ObjectName, array, is_terminating, mapping, name_of, objects, text, uid_of
from twin.kube.planes import ControlPlane, ControlPlanes
from twin.kube.resources import DeleteOptions


def clean(plane: ControlPlane) -> None:
    """One round; what needs grace is gone in a later one."""
    _collect_orphans(plane)
    for namespace in plane.store.objects("namespaces"):
        if is_terminating(namespace):
            _end_namespace(plane, name_of(namespace))


def remove_folders(planes: ControlPlanes) -> None:
    """Logs and working directories of pods that are no more."""
    living = {uid_of(pod) for plane in planes.all() for pod in plane.store.objects("pods")}
    for folder in planes.config.pods.iterdir():
        if folder.name not in living:
            shutil.rmtree(folder, ignore_errors=True)


def remove_volumes(planes: ControlPlanes, plane: ControlPlane) -> None:
    """What the pods of a deleted cluster had stored."""
    shutil.rmtree(planes.config.folder / "volumes" / plane.name, ignore_errors=True)


def _collect_orphans(plane: ControlPlane) -> None:
    owned = [
        (resource, obj)
        for resource in plane.store.resources()
        for obj in plane.store.objects(resource)
        if array(obj, "metadata", "ownerReferences")
    ]
    if not owned:
        return
    living = {uid_of(obj) for resource in plane.store.resources() for obj in plane.store.objects(resource)}
    for resource, obj in owned:
        owners = {text(owner, "uid") for owner in objects(obj, "metadata", "ownerReferences")}
        if not owners & living and not is_terminating(obj):
            plane.resources.delete(plane.kinds.named(resource), name_of(obj), DeleteOptions())


def _end_namespace(plane: ControlPlane, namespace: ObjectName) -> None:
    left = False
    for resource in plane.store.resources():
        if plane.kinds.named(resource).namespaced:
            for obj in plane.store.objects(resource, namespace.name):
                if not is_terminating(obj):
                    plane.resources.delete(plane.kinds.named(resource), name_of(obj), DeleteOptions())
                left = left or plane.store.get(resource, name_of(obj)) is not None
    current = plane.store.get("namespaces", namespace)
    held = current is not None and array(mapping(current, "metadata").get("finalizers"))
    if not left and not held:
        plane.resources.remove("namespaces", namespace)
