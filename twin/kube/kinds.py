"""The kinds that the twin's API server holds: one row of `kinds.yaml` each.

A row says where a kind lives, what fields it takes and what `kubectl get` shows of it; storing, watching,
patching, discovery and OpenAPI follow from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from core.json_value import JsonValue
from twin.kube.objects import Obj, array, objects, text
from twin.kube.parts import TABLE
from twin.kube.schema_notation import object_schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column of `kubectl get`. `path` is dotted; a priority above 0 shows with `-o wide` only."""

    name: str
    path: str
    type: str = "string"
    priority: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalePaths:
    """Where the scale subresource reads and writes, dotted."""

    spec: str
    status: str
    selector: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    group: str
    """Empty for the core group."""
    version: str
    kind: str
    plural: str
    schema: dict[str, JsonValue]
    namespaced: bool = True
    short_names: tuple[str, ...] = ()
    columns: tuple[Column, ...] = ()
    has_status: bool = True
    """Status is written through its own subresource and survives a write of the rest."""
    scale: ScalePaths | None = None
    custom: bool = False
    """Defined by a CRD at AWS: no strategic merge patch, lists are whole."""

    @property
    def api_version(self) -> str:
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def resource(self) -> str:
        """`nodes`, or `workloads.kueue.x-k8s.io`: the same for all versions of a group."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def subresources(self) -> tuple[str, ...]:
        extra = ("log", "eviction") if self.resource == "pods" else ()
        return (*(["status"] if self.has_status else []), *(["scale"] if self.scale else []), *extra)


def _row(row: Obj) -> Kind:
    group, _, version = text(row, "api").rpartition("/")
    fields = text(row, "fields")
    schema = object_schema(f"apiVersion:str kind:str metadata:ObjectMeta {fields}")
    paths = [path for path in array(row, "scale") if isinstance(path, str)]
    return Kind(
        group=group,
        version=version,
        kind=text(row, "kind"),
        plural=text(row, "plural"),
        schema=schema,
        namespaced=row.get("cluster_wide") is not True,
        short_names=tuple(text(row, "short").split()),
        columns=tuple(_column(word) for word in text(row, "columns").split()),
        has_status="status:" in fields,
        scale=ScalePaths(spec=paths[0], status=paths[1]) if paths else None,
        custom=("." in group and not group.endswith(".k8s.io")) or group == "kueue.x-k8s.io",
    )


def _column(word: str) -> Column:
    name, _, path = word.partition("=")
    return Column(name=name.replace("_", " ").lstrip("~"), path=path, priority=int(name.startswith("~")))


BUILT_IN: Final = tuple(_row(row) for row in objects(TABLE, "kinds"))


class Kinds:
    """The registry of one control plane: the built-in rows and those that CRDs add."""

    def __init__(self, rows: Iterable[Kind] = BUILT_IN) -> None:
        self._rows = {(row.group, row.version, row.plural): row for row in rows}

    def __iter__(self) -> Iterator[Kind]:
        return iter(list(self._rows.values()))

    def find(self, group: str, version: str, plural: str) -> Kind | None:
        return self._rows.get((group, version, plural))

    def group_versions(self) -> list[tuple[str, str]]:
        """(group, version) in the order of the rows, the core group among them."""
        return list(dict.fromkeys((row.group, row.version) for row in self))

    def named(self, resource: str) -> Kind:
        """The first row of `nodes` or `workloads.kueue.x-k8s.io`; KeyError without one."""
        for row in self:
            if row.resource == resource:
                return row
        raise KeyError(resource)

    def add(self, row: Kind) -> None:
        self._rows[(row.group, row.version, row.plural)] = row

    def remove(self, row: Kind) -> None:
        self._rows.pop((row.group, row.version, row.plural), None)
