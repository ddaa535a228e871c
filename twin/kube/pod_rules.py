"""What the API server refuses in a pod's spec beyond its schema: what would make one pod meddle with another."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, TypeAlias

from twin.kube.objects import Obj, mapping, objects, text
from twin.kube.quantity import thousandths

Wrong: TypeAlias = tuple[str, str, str]
"""(field, reason, message)."""

_LABEL: Final = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")
_SUBDOMAIN: Final = re.compile(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?")


def wrong_in_pod_spec(spec: Obj, path: str) -> list[Wrong]:
    """Names that are no DNS labels or come twice, quantities that are none, paths that climb out of their volume."""
    return [*_wrong_names(spec, path), *_wrong_quantities(spec, path), *_wrong_paths(spec, path)]


def wrong_name(name: str, field: str) -> list[Wrong]:
    if _LABEL.fullmatch(name):
        return []
    return [
        (field, "FieldValueInvalid", f'Invalid value: "{name}": a lowercase RFC 1123 label of at most 63 characters')
    ]


def _wrong_names(spec: Obj, path: str) -> Iterator[Wrong]:
    for kind in ("containers", "volumes"):
        seen: set[str] = set()
        for i, item in enumerate(objects(spec, kind)):
            name, field = text(item, "name"), f"{path}.{kind}[{i}].name"
            yield from wrong_name(name, field)
            if name in seen:
                yield field, "FieldValueDuplicate", f'Duplicate value: "{name}"'
            seen.add(name)
    node = text(spec, "nodeName")
    if node and not _SUBDOMAIN.fullmatch(node):
        yield f"{path}.nodeName", "FieldValueInvalid", f'Invalid value: "{node}"'


def _wrong_quantities(spec: Obj, path: str) -> Iterator[Wrong]:
    for i, container in enumerate(objects(spec, "containers")):
        for kind in ("limits", "requests"):
            for name, quantity in mapping(container, "resources", kind).items():
                try:
                    negative = thousandths(quantity) < 0
                except ValueError:
                    negative = True
                if negative:
                    field = f"{path}.containers[{i}].resources.{kind}[{name}]"
                    yield field, "FieldValueInvalid", f"Invalid value: {quantity!r}: no resource quantity"


def _wrong_paths(spec: Obj, path: str) -> Iterator[Wrong]:
    paths = [
        (f"volumes[{i}].hostPath.path", text(v, "hostPath", "path")) for i, v in enumerate(objects(spec, "volumes"))
    ]
    for i, container in enumerate(objects(spec, "containers")):
        for j, mount in enumerate(objects(container, "volumeMounts")):
            paths.append((f"containers[{i}].volumeMounts[{j}].subPath", text(mount, "subPath")))
    for field, written in paths:
        if ".." in written.split("/") or "\0" in written or (field.endswith("subPath") and written.startswith("/")):
            message = f"Invalid value: {written!r}: must stay inside its volume: no '..', and relative in a subPath"
            yield f"{path}.{field}", "FieldValueInvalid", message
