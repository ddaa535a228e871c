"""What a write means: names, versions, generations, ownership, finalizers and deletion.

Both the HTTP side and the twin's own controllers write through here; only requests carry `WriteOptions` with
a
manager and are tracked in `managedFields`.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from random import Random

from core.clock import Clock
from core.json_value import JsonValue
from twin.kube import ownership
from twin.kube.defaults import prepared, refusal
from twin.kube.errors import ApiError, already_exists, bad_request, conflict, forbidden, not_found, stale
from twin.kube.kinds import Kind, Kinds
from twin.kube.merge import json_patch, merge_patch, strategic_patch
from twin.kube.objects import (
    Obj,
    ObjectName,
    array,
    drop,
    is_terminating,
    mapping,
    name_of,
    number,
    objects,
    put,
    text,
    timestamp,
    uid_of,
)
from twin.kube.store import ObjectStore
from twin.kube.validation import checked

_SERVER_FIELDS = ("uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "generation")


class PatchType(StrEnum):
    JSON = "application/json-patch+json"
    MERGE = "application/merge-patch+json"
    STRATEGIC = "application/strategic-merge-patch+json"
    APPLY = "application/apply-patch+yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteOptions:
    manager: str
    subresource: str = ""
    """Empty or `status`."""
    dry_run: bool = False
    force: bool = False
    field_validation: str = "Warn"
    """`Strict` refuses unknown fields, `Warn` names them, `Ignore` cuts them silently."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    object: Obj
    before: Obj | None = None
    created: bool = False
    changed: bool = True
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteOptions:
    grace_seconds: int | None = None
    uid: str = ""
    resource_version: str = ""
    orphan: bool = False
    dry_run: bool = False


class Resources:
    """The writes of one control plane. `on_write(kind, before, after)` is called outside the lock."""

    def __init__(self, store: ObjectStore, kinds: Kinds, clock: Clock, random: Random) -> None:
        self.store = store
        self.kinds = kinds
        self.clock = clock
        self._random = random
        self.on_write: list[Callable[[Kind, Obj | None, Obj | None], None]] = []

    def get(self, kind: Kind, name: ObjectName) -> Obj:
        found = self.store.get(kind.resource, name)
        if found is None:
            raise not_found(kind.group, kind.plural, name.name)
        return found

    def create(self, kind: Kind, namespace: str, body: Obj, options: WriteOptions) -> Written:
        with self.store.lock:
            obj = self._named(kind, namespace, body)
            name = name_of(obj)
            self._check_namespace(kind, name)
            if self.store.get(kind.resource, name) is not None:
                raise already_exists(kind.group, kind.plural, name.name)
            obj, warnings = self._accepted(kind, obj, options)
            written = self._store_new(kind, obj, options, warnings)
        return self._told(kind, written)

    def replace(self, kind: Kind, name: ObjectName, body: Obj, options: WriteOptions) -> Written:
        with self.store.lock:
            before = self.get(kind, name)
            body, warnings = self._accepted(kind, self._addressed(kind, name, body), options)
            written = self._store_changed(kind, before, body, options, warnings)
        return self._told(kind, written)

    def patch(
        self, kind: Kind, name: ObjectName, patch_type: PatchType, patch: JsonValue, options: WriteOptions
    ) -> Written:
        if patch_type is PatchType.STRATEGIC and kind.custom:
            message = "strategic merge patch is not supported for custom resources"
            raise ApiError(415, "UnsupportedMediaType", message)
        with self.store.lock:
            if patch_type is PatchType.APPLY:
                written = self._apply(kind, name, mapping(patch), options)
            else:
                before = self.get(kind, name)
                merge = {PatchType.JSON: json_patch, PatchType.MERGE: merge_patch}.get(patch_type, strategic_patch)
                after = self._addressed(kind, name, mapping(merge(before, patch)))
                after, warnings = self._accepted(kind, after, options)
                written = self._store_changed(kind, before, after, options, warnings)
        return self._told(kind, written)

    def delete(self, kind: Kind, name: ObjectName, options: DeleteOptions) -> Obj | None:
        """The object while it is still going, `None` when it is gone at once."""
        with self.store.lock:
            obj = self.get(kind, name)
            if options.uid and options.uid != uid_of(obj):
                raise conflict(kind.group, kind.plural, name.name, f"uid {options.uid} is not {uid_of(obj)}")
            if options.resource_version not in ("", text(obj, "metadata", "resourceVersion")):
                raise stale(kind.group, kind.plural, name.name)
            grace = self._grace(kind, obj, options)
            if options.dry_run:
                return obj
            if options.orphan:
                self._orphan_dependents(uid_of(obj))
            after = None
            if grace or array(obj, "metadata", "finalizers") or kind.resource == "namespaces":
                after = self._marked(kind, obj, grace)
            else:
                self.store.remove(kind.resource, name)
        self._tell(kind, obj, after)
        return after

    def modify(self, resource: str, name: ObjectName, change: Callable[[Obj], Obj]) -> Obj | None:
        """A controller's own write: `None` without such an object, no new version without a difference."""
        with self.store.lock:
            before = self.store.get(resource, name)
            if before is None:
                return None
            after = change(before)
            return before if after == before else self.store.write(resource, name, after)

    def add(self, resource: str, obj: Obj) -> Obj:
        """A controller's own create."""
        kind = self.kinds.named(resource)
        with self.store.lock:
            name = name_of(obj)
            if self.store.get(resource, name) is not None:
                raise already_exists(kind.group, kind.plural, name.name)
            obj = {"apiVersion": kind.api_version, "kind": kind.kind, **prepared(kind, obj)}
            return self.store.write(resource, name, self._born(obj))

    def remove(self, resource: str, name: ObjectName) -> None:
        """A controller's own last step: gone without further ado, nothing when it is gone already."""
        with self.store.lock:
            if self.store.get(resource, name) is not None:
                self.store.remove(resource, name)

    def _named(self, kind: Kind, namespace: str, body: Obj) -> Obj:
        name = text(body, "metadata", "name")
        if not name:
            prefix = text(body, "metadata", "generateName")
            if not prefix:
                raise _missing_name(kind)
            name = prefix + "".join(self._random.choices("bcdfghjklmnpqrstvwxz2456789", k=5))
        obj = self._addressed(kind, ObjectName(namespace, name), put(body, name, "metadata", "name"))
        for field in (*_SERVER_FIELDS, "resourceVersion", "managedFields"):
            obj = drop(obj, "metadata", field)
        return obj

    def _addressed(self, kind: Kind, name: ObjectName, body: Obj) -> Obj:
        """The body with the names of the request's path; 400 where it says something else."""
        if text(body, "kind") not in ("", kind.kind) or text(body, "apiVersion") not in (
            "",
            kind.api_version,
        ):
            said = f"{text(body, 'apiVersion')}, Kind={text(body, 'kind')}"
            raise bad_request(f"the object provided ({said}) is not a {kind.api_version}, Kind={kind.kind}")
        if text(body, "metadata", "name") not in ("", name.name):
            said = text(body, "metadata", "name")
            raise bad_request(f"the name of the object ({said}) does not match the name on the URL ({name.name})")
        if text(body, "metadata", "namespace") not in ("", name.namespace):
            raise bad_request("the namespace of the provided object does not match the namespace sent on the request")
        body = put({**body, "apiVersion": kind.api_version, "kind": kind.kind}, name.name, "metadata", "name")
        return put(body, name.namespace, "metadata", "namespace") if name.namespace else body

    def _check_namespace(self, kind: Kind, name: ObjectName) -> None:
        if not kind.namespaced:
            return
        namespace = self.store.get("namespaces", ObjectName("", name.namespace))
        if namespace is None:
            raise not_found("", "namespaces", name.namespace)
        if is_terminating(namespace):
            raise forbidden(
                f'{kind.resource} "{name.name}" is forbidden: unable to create new content in namespace '
                f"{name.namespace} because it is being terminated"
            )

    def _accepted(
        self, kind: Kind, obj: Obj, options: WriteOptions, *, partial: bool = False
    ) -> tuple[Obj, tuple[str, ...]]:
        kept, unknown = checked(kind, obj, partial=partial)
        if unknown and options.field_validation == "Strict":
            listed = ", ".join(f'unknown field "{field}"' for field in unknown)
            raise bad_request(
                f"{kind.kind} in version {kind.version!r} cannot be handled: strict decoding error: {listed}"
            )
        warned = options.field_validation == "Warn"
        return kept, tuple(f'unknown field "{field}"' for field in unknown) if warned else ()

    def _store_new(self, kind: Kind, obj: Obj, options: WriteOptions, warnings: tuple[str, ...]) -> Written:
        if kind.has_status and kind.resource != "nodes":
            obj = drop(obj, "status")
        if error := refusal(kind, None, obj):
            raise error
        obj = self._born(prepared(kind, obj))
        if not array(obj, "metadata", "managedFields"):
            owner = ownership.Owner(manager=options.manager, operation="Update")
            obj = ownership.updated(kind, None, obj, owner, self._now())
        if not options.dry_run:
            obj = self.store.write(kind.resource, name_of(obj), obj)
        return Written(object=obj, created=True, changed=not options.dry_run, warnings=warnings)

    def _store_changed(
        self,
        kind: Kind,
        before: Obj,
        after: Obj,
        options: WriteOptions,
        warnings: tuple[str, ...],
        *,
        tracked: bool = False,
    ) -> Written:
        name = name_of(before)
        if text(after, "metadata", "resourceVersion") not in (
            "",
            text(before, "metadata", "resourceVersion"),
        ):
            raise stale(kind.group, kind.plural, name.name)
        if text(after, "metadata", "uid") not in ("", uid_of(before)):
            raise conflict(kind.group, kind.plural, name.name, "Precondition failed: UID in precondition differs")
        after = self._settled(kind, before, after, options.subresource)
        if error := refusal(kind, before, after):
            raise error
        if _content(after) == _content(before) and (not tracked or _owners(after) == _owners(before)):
            return Written(object=before, changed=False, warnings=warnings)
        if not tracked:
            owner = ownership.Owner(manager=options.manager, operation="Update", subresource=options.subresource)
            after = ownership.updated(kind, before, after, owner, self._now())
        if options.dry_run:
            return Written(object=after, changed=False, warnings=warnings)
        if (
            is_terminating(after)
            and not array(after, "metadata", "finalizers")
            and kind.resource not in ("pods", "namespaces")
        ):
            after = self.store.remove(kind.resource, name)
        else:
            after = self.store.write(kind.resource, name, after)
        return Written(object=after, before=before, warnings=warnings)

    def _settled(self, kind: Kind, before: Obj, after: Obj, subresource: str) -> Obj:
        """`after` with what this kind of write may not touch as it was, and the generation counted."""
        if subresource == "status":
            return put(before, after.get("status"), "status") if "status" in after else before
        if kind.has_status and kind.resource != "namespaces":
            after = put(after, before["status"], "status") if "status" in before else drop(after, "status")
        for field in (*_SERVER_FIELDS, "resourceVersion"):
            value = mapping(before, "metadata").get(field)
            after = drop(after, "metadata", field) if value is None else put(after, value, "metadata", field)
        changed = _spec(before) != _spec(after)
        return put(after, (number(before, "metadata", "generation") or 1) + int(changed), "metadata", "generation")

    def _apply(self, kind: Kind, name: ObjectName, config: Obj, options: WriteOptions) -> Written:
        config = self._addressed(kind, name, config)
        if array(config, "metadata", "managedFields"):
            raise bad_request("metadata.managedFields must be nil")
        config, warnings = self._accepted(kind, config, options, partial=True)
        before = self.store.get(kind.resource, name)
        owner = ownership.Owner(manager=options.manager, operation="Apply", subresource=options.subresource)
        after: Obj = ownership.applied(kind, before, config, owner, force=options.force, time=self._now())
        checked(kind, after)
        if before is None:
            if options.subresource:
                raise not_found(kind.group, kind.plural, name.name)
            self._check_namespace(kind, name)
            return self._store_new(kind, after, options, warnings)
        managed = mapping(after, "metadata").get("managedFields")
        settled = put(self._settled(kind, before, after, options.subresource), managed, "metadata", "managedFields")
        return self._store_changed(kind, before, settled, options, warnings, tracked=True)

    def _born(self, obj: Obj) -> Obj:
        metadata: dict[str, JsonValue] = {
            **mapping(obj, "metadata"),
            "uid": str(uuid.UUID(int=self._random.getrandbits(128), version=4)),
            "creationTimestamp": self._now(),
            "generation": 1,
        }
        return put(obj, metadata, "metadata")

    def _grace(self, kind: Kind, obj: Obj, options: DeleteOptions) -> int:
        """Seconds a pod is given to end; 0 when nothing runs."""
        if kind.resource != "pods" or not text(obj, "spec", "nodeName"):
            return 0
        if text(obj, "status", "phase") in ("Succeeded", "Failed"):
            return 0
        if options.grace_seconds is not None:
            return options.grace_seconds
        return number(obj, "spec", "terminationGracePeriodSeconds") or 0

    def _marked(self, kind: Kind, obj: Obj, grace: int) -> Obj:
        if is_terminating(obj):
            return obj
        marked = put(obj, self._now(), "metadata", "deletionTimestamp")
        marked = put(marked, grace, "metadata", "deletionGracePeriodSeconds")
        if kind.resource == "namespaces":
            marked = put(marked, "Terminating", "status", "phase")
        return self.store.write(kind.resource, name_of(obj), marked)

    def _orphan_dependents(self, owner_uid: str) -> None:
        for resource in self.store.resources():
            for obj in self.store.objects(resource):
                owners = objects(obj, "metadata", "ownerReferences")
                kept: Sequence[Obj] = [owner for owner in owners if owner.get("uid") != owner_uid]
                if len(kept) != len(owners):
                    self.store.write(resource, name_of(obj), put(obj, kept, "metadata", "ownerReferences"))

    def _told(self, kind: Kind, written: Written) -> Written:
        if written.changed:
            self._tell(kind, written.before, written.object)
        return written

    def _tell(self, kind: Kind, before: Obj | None, after: Obj | None) -> None:
        for told in self.on_write:
            told(kind, before, after)

    def _now(self) -> str:
        return timestamp(self.clock.now())


def _missing_name(kind: Kind) -> ApiError:
    message = "Required value: name or generateName is required"
    return ApiError(422, "Invalid", f'{kind.kind} "" is invalid: metadata.name: {message}')


def _spec(obj: Obj) -> Obj:
    return {key: value for key, value in obj.items() if key not in ("metadata", "status")}


def _content(obj: Obj) -> Obj:
    return drop(obj, "metadata", "managedFields")


def _owners(obj: Obj) -> list[Obj]:
    return [drop(entry, "time") for entry in objects(obj, "metadata", "managedFields")]
