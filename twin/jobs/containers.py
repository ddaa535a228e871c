"""From a pod's container to a command line, an environment and folders on this machine."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import quote

from twin.jobs.processes import StartError
from twin.jobs.volumes import storage_behind
from twin.kube.objects import Obj, ObjectName, array, dig, mapping, name_of, objects, owner_of, strings, text, uid_of
from twin.kube.planes import ControlPlane

IMAGE_COMMANDS: Final[Mapping[str, tuple[str, ...]]] = {
    "muster/sample-job": ("python", "-m", "twin.sample_job.train"),
}
"""Entry points of images that the twin knows; of any other image only the pod's own command is run."""
_SHARED_HOST_PATH: Final = "/fsx"
"""HyperPod nodes mount FSx for Lustre there: the one host path that all nodes share."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    command: tuple[str, ...]
    environment: Mapping[str, str]


def launch_of(plane: ControlPlane, pod: Obj, container: Obj, folder: Path, extra: Mapping[str, str]) -> Launch:
    """`folder` is the twin's; `extra` comes before the container's own variables.

    The processes share this machine's file system, so that paths under a mount are rewritten to the folder that
    stands for the volume. A job's pods find in CHECKPOINT_DIR a folder that they share and that outlives them, for
    jobs that mount no volume. Raises StartError for a variable or volume that cannot be resolved.
    """
    mounts = _mounts(plane, pod, container, folder)
    environment = {"HOSTNAME": name_of(pod).name, **extra}
    if job := text(owner_of(pod), "uid"):
        environment["CHECKPOINT_DIR"] = str(folder / "volumes" / plane.name / "jobs" / job)
    for variable in objects(container, "env"):
        environment[text(variable, "name")] = _value(plane, pod, variable)
    command = [word for word in array(container, "command") if isinstance(word, str)]
    if not command:
        image = text(container, "image").partition(":")[0]
        known = next((words for name, words in IMAGE_COMMANDS.items() if image.endswith(name)), ())
        command = list(known)
    words = (*command, *(word for word in array(container, "args") if isinstance(word, str)))
    return Launch(
        command=tuple(_rewritten(word, mounts) for word in words),
        environment={name: _rewritten(value, mounts) for name, value in environment.items()},
    )


def _mounts(plane: ControlPlane, pod: Obj, container: Obj, folder: Path) -> dict[str, Path]:
    """Mount path -> folder, the longest path first."""
    volumes = {text(volume, "name"): volume for volume in objects(pod, "spec", "volumes")}
    found: dict[str, Path] = {}
    for mount in objects(container, "volumeMounts"):
        volume = volumes.get(text(mount, "name"))
        if volume is None:
            raise StartError(f'volumeMounts: volume "{text(mount, "name")}" not found')
        source = _volume_folder(plane, pod, volume, folder)
        source = source / text(mount, "subPath")
        source.mkdir(parents=True, exist_ok=True)
        found[text(mount, "mountPath").rstrip("/")] = source
    return dict(sorted(found.items(), key=lambda item: -len(item[0])))


def _volume_folder(plane: ControlPlane, pod: Obj, volume: Obj, folder: Path) -> Path:
    volumes, namespace = folder / "volumes" / plane.name, name_of(pod).namespace
    if claim := text(volume, "persistentVolumeClaim", "claimName"):
        # Beside the clusters' own folders: a file system outlives a cluster and may be mounted in several.
        storage = storage_behind(plane, ObjectName(namespace, claim))
        return folder / "volumes" / "file-systems" / quote(storage, safe="")
    if path := text(volume, "hostPath", "path"):
        shared = path == _SHARED_HOST_PATH or path.startswith(_SHARED_HOST_PATH + "/")
        place = "shared" if shared else f"nodes/{text(pod, 'spec', 'nodeName')}"
        return volumes / place / path.strip("/")
    return folder / "pods" / uid_of(pod) / "volumes" / text(volume, "name")


def _rewritten(word: str, mounts: Mapping[str, Path]) -> str:
    """`/fsx/a` and `--dir=/fsx/a` with the mount's path replaced."""
    option, equals, value = word.partition("=") if word.startswith("-") else ("", "", word)
    for path, folder in mounts.items():
        if value == path or value.startswith(path + "/"):
            return f"{option}{equals}{folder}{value[len(path) :]}"
    return word


def _value(plane: ControlPlane, pod: Obj, variable: Obj) -> str:
    source = mapping(variable, "valueFrom")
    if not source:
        return text(variable, "value")
    if path := text(source, "fieldRef", "fieldPath"):
        found = dig(pod, *path.split("."))
        return found if isinstance(found, str) else ""
    for kind, resource in (("configMapKeyRef", "configmaps"), ("secretKeyRef", "secrets")):
        if reference := mapping(source, kind):
            owner = plane.store.get(resource, ObjectName(name_of(pod).namespace, text(reference, "name")))
            data = strings(owner, "data") if owner else {}
            key = text(reference, "key")
            if key in data:
                return base64.b64decode(data[key]).decode() if resource == "secrets" else data[key]
            if reference.get("optional") is True:
                return ""
            raise StartError(f"couldn't find key {key} in {resource} {text(reference, 'name')}")
    raise StartError(f"the twin does not resolve {', '.join(source)} of variable {text(variable, 'name')}")
