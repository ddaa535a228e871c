"""One control plane's objects with their history: what lists, watches and resourceVersions are answered from.

Knows nothing of what the objects mean. One lock orders all writes; objects are immutable, so readers may keep
what they got.
"""

from __future__ import annotations

import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from twin.kube.errors import ApiError, expired
from twin.kube.journal import Journal
from twin.kube.objects import Obj, ObjectName, put

_KEPT_CHANGES: Final = 5_000
_KEPT_PAGES: Final = 64


class ChangeType(StrEnum):
    ADDED = "ADDED"
    MODIFIED = "MODIFIED"
    DELETED = "DELETED"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One write. `before` tells a watch with a selector whether the object entered or left its view."""

    version: int
    resource: str
    type: ChangeType
    object: Obj
    before: Obj | None


class ObjectStore:
    def __init__(self, plane: str, journal: Journal, kept_changes: int = _KEPT_CHANGES) -> None:
        self.lock = threading.RLock()
        self._plane = plane
        self._journal = journal
        self._objects: dict[str, dict[ObjectName, Obj]] = {}
        for resource, name, obj in journal.objects(plane):
            self._objects.setdefault(resource, {})[name] = obj
        self._version = journal.planes().get(plane, 1)
        self._changes: deque[Change] = deque(maxlen=kept_changes)
        self._forgotten = self._version
        """Changes up to this version are no longer known."""
        self._wakers: list[Callable[[], None]] = []
        self._pages: OrderedDict[str, tuple[int, Sequence[Obj]]] = OrderedDict()
        self._page_number = 0

    @property
    def version(self) -> int:
        return self._version

    def get(self, resource: str, name: ObjectName) -> Obj | None:
        with self.lock:
            return self._objects.get(resource, {}).get(name)

    def objects(self, resource: str, namespace: str = "") -> list[Obj]:
        """Sorted by namespace and name; every namespace when none is given."""
        with self.lock:
            found = self._objects.get(resource, {})
            return [obj for name, obj in sorted(found.items()) if not namespace or name.namespace == namespace]

    def resources(self) -> list[str]:
        with self.lock:
            return [resource for resource, found in self._objects.items() if found]

    def write(self, resource: str, name: ObjectName, obj: Obj) -> Obj:
        """Store under a new resourceVersion, which the returned object carries."""
        with self.lock:
            before = self._objects.get(resource, {}).get(name)
            stored = put(obj, str(self._version + 1), "metadata", "resourceVersion")
            kind = ChangeType.MODIFIED if before else ChangeType.ADDED
            self._commit(resource, name, kind, stored, before)
            self._objects.setdefault(resource, {})[name] = stored
        self._wake()
        return stored

    def remove(self, resource: str, name: ObjectName) -> Obj:
        """The object as watchers see it go. KeyError when there is none."""
        with self.lock:
            before = self._objects[resource][name]
            gone = put(before, str(self._version + 1), "metadata", "resourceVersion")
            self._commit(resource, name, ChangeType.DELETED, gone, before)
            del self._objects[resource][name]
        self._wake()
        return gone

    def changes_after(self, version: int, resource: str) -> tuple[list[Change], int]:
        """The changes, and the version they lead to. 410 when some are forgotten, 504 if it is ahead."""
        with self.lock:
            if version < self._forgotten:
                raise expired(f"too old resource version: {version} ({self._forgotten})")
            if version > self._version:
                message = f"Too large resource version: {version}, current: {self._version}"
                raise ApiError(504, "Timeout", message)
            found: list[Change] = []
            for change in reversed(self._changes):
                if change.version <= version:
                    break
                if change.resource == resource:
                    found.append(change)
            return found[::-1], self._version

    def keep_page_source(self, items: Sequence[Obj]) -> str:
        """Remember a list so that its later pages show the same moment; the oldest is forgotten first."""
        with self.lock:
            self._page_number += 1
            key = str(self._page_number)
            self._pages[key] = (self._version, items)
            while len(self._pages) > _KEPT_PAGES:
                self._pages.popitem(last=False)
            return key

    def page_source(self, key: str) -> tuple[int, Sequence[Obj]]:
        with self.lock:
            if key not in self._pages:
                raise expired("The provided continue parameter is too old to display a consistent list result.")
            return self._pages[key]

    @contextmanager
    def waking(self, wake: Callable[[], None]) -> Iterator[None]:
        """`wake` is called after every write, from whichever thread wrote."""
        self._wakers.append(wake)
        try:
            yield
        finally:
            self._wakers.remove(wake)

    def _commit(self, resource: str, name: ObjectName, kind: ChangeType, obj: Obj, before: Obj | None) -> None:
        version = self._version + 1
        self._journal.write(self._plane, version, resource, name, None if kind is ChangeType.DELETED else obj)
        if len(self._changes) == self._changes.maxlen:
            self._forgotten = self._changes[0].version
        self._changes.append(Change(version=version, resource=resource, type=kind, object=obj, before=before))
        self._version = version

    def _wake(self) -> None:
        for wake in list(self._wakers):
            wake()
