"""From a request's path to what it is about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from twin.kube.errors import no_such_path
from twin.kube.kinds import Kind, Kinds
from twin.kube.objects import ObjectName


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A collection (`name` empty), an object, or a subresource of one."""

    kind: Kind
    name: ObjectName
    subresource: str = ""


def resource_target(kinds: Kinds, parts: Sequence[str]) -> Target:
    """`parts` of `api/v1/namespaces/x/pods/y/log` or `apis/<group>/<version>/...`. Raises 404."""
    if len(parts) < 3 or (parts[0] == "apis" and len(parts) < 4) or parts[0] not in ("api", "apis"):
        raise no_such_path()
    group, version, rest = ("", parts[1], parts[2:]) if parts[0] == "api" else (parts[1], parts[2], parts[3:])
    namespace = ""
    if rest[0] == "namespaces" and len(rest) >= 3 and rest[2] not in ("status", "finalize"):
        namespace, rest = rest[1], rest[2:]
    kind = kinds.find(group, version, rest[0])
    if kind is None or len(rest) > 3 or (namespace and not kind.namespaced):
        raise no_such_path()
    name, subresource = (rest[1] if len(rest) > 1 else ""), (rest[2] if len(rest) > 2 else "")
    if name and kind.namespaced and not namespace:
        raise no_such_path()
    if subresource and subresource not in kind.subresources:
        raise no_such_path()
    return Target(kind=kind, name=ObjectName(namespace, name), subresource=subresource)
