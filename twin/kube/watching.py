"""Watches: a stream of changes from a resourceVersion on, with bookmarks."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from core.json_value import JsonValue
from twin.kube.errors import ApiError
from twin.kube.kinds import Kind
from twin.kube.objects import Obj, encode, put, text
from twin.kube.planes import ControlPlane
from twin.kube.selecting import Predicate
from twin.kube.store import Change, ChangeType

_BOOKMARK_SECONDS: Final = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchRequest:
    kind: Kind
    namespace: str
    """Empty for all."""
    matches: Predicate
    version: str
    """As the client sent it: empty or `0` begins with what there is."""
    bookmarks: bool
    initial_events_end: bool
    """The client asked for `sendInitialEvents` and waits for the bookmark that ends them."""
    timeout_seconds: float
    show: Callable[[Obj], JsonValue]


async def watch(plane: ControlPlane, request: WatchRequest) -> AsyncIterator[bytes]:
    """JSON lines of `{"type", "object"}`; a version that is too old ends it with an ERROR of 410."""
    loop, woken = asyncio.get_running_loop(), asyncio.Event()

    def wake() -> None:
        with suppress(RuntimeError):  # the loop has closed: nobody reads any more
            loop.call_soon_threadsafe(woken.set)

    ends = time.monotonic() + request.timeout_seconds
    with plane.store.waking(wake):
        try:
            lines, cursor = _first(plane, request)
            for line in lines:
                yield line
            while not plane.closed:
                woken.clear()
                changes, cursor = plane.store.changes_after(cursor, request.kind.resource)
                for change in changes:
                    seen = _line_of(change, request)
                    if seen is not None:
                        yield seen
                patience = min(_BOOKMARK_SECONDS, ends - time.monotonic())
                if patience > 0 and await _woken_within(woken, patience):
                    continue
                if request.bookmarks:
                    yield _bookmark(request, cursor)
                if time.monotonic() >= ends:
                    return
        except ApiError as error:
            yield _line("ERROR", error.body())


async def _woken_within(woken: asyncio.Event, seconds: float) -> bool:
    try:
        await asyncio.wait_for(woken.wait(), seconds)
    except TimeoutError:
        return False
    return True


def _first(plane: ControlPlane, request: WatchRequest) -> tuple[list[bytes], int]:
    """What is there already, and the version to go on from."""
    if request.version not in ("", "0") and not request.initial_events_end:
        if not request.version.isdigit():
            raise ApiError(400, "BadRequest", f"invalid resource version {request.version!r}")
        return [], int(request.version)
    with plane.store.lock:
        found = [obj for obj in plane.store.objects(request.kind.resource, request.namespace) if request.matches(obj)]
        cursor = plane.store.version
    lines = [_line("ADDED", request.show(obj)) for obj in found]
    return [*lines, _bookmark(request, cursor, end=True)] if request.initial_events_end else lines, cursor


def _line_of(change: Change, request: WatchRequest) -> bytes | None:
    """An object that enters or leaves the selection is added or deleted for this watcher."""
    sees, saw = (
        _in_view(change.object, request),
        change.before is not None and _in_view(change.before, request),
    )
    match change.type, saw, sees:
        case ChangeType.DELETED, True, _:
            return _line("DELETED", request.show(change.object))
        case ChangeType.ADDED | ChangeType.MODIFIED, True, True:
            return _line("MODIFIED", request.show(change.object))
        case ChangeType.ADDED | ChangeType.MODIFIED, True, False:
            return _line("DELETED", request.show(change.object))
        case ChangeType.ADDED | ChangeType.MODIFIED, False, True:
            return _line("ADDED", request.show(change.object))
        case _:
            return None


def _in_view(obj: Obj, request: WatchRequest) -> bool:
    inside = not request.namespace or text(obj, "metadata", "namespace") == request.namespace
    return inside and request.matches(obj)


def _bookmark(request: WatchRequest, version: int, *, end: bool = False) -> bytes:
    bare: Obj = {
        "kind": request.kind.kind,
        "apiVersion": request.kind.api_version,
        "metadata": {"resourceVersion": str(version), "creationTimestamp": None},
    }
    return _line(
        "BOOKMARK",
        put(bare, {"k8s.io/initial-events-end": "true"}, "metadata", "annotations") if end else bare,
    )


def _line(kind: str, obj: JsonValue) -> bytes:
    return encode({"type": kind, "object": obj}) + b"\n"
