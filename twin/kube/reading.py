"""Lists, pages, tables, watches and logs: what a GET answers with."""

from __future__ import annotations

import base64
import binascii
from datetime import timedelta
from pathlib import Path
from typing import Final

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from core.json_value import JsonValue
from twin.kube.errors import bad_request
from twin.kube.kinds import Kind
from twin.kube.logs import LogRequest, find_log, log_stream
from twin.kube.objects import Obj, encode, moment_of, text, uid_of
from twin.kube.paths import Target
from twin.kube.planes import ControlPlane
from twin.kube.selecting import Predicate, field_predicate, label_predicate
from twin.kube.tables import table
from twin.kube.watching import WatchRequest, watch

_WATCH_SECONDS: Final = 1_800.0


def collection(plane: ControlPlane, target: Target, request: Request) -> Response:
    """A list, one page of it, or a watch."""
    kind, query = target.kind, request.query_params
    if query.get("watch") in ("true", "1"):
        return _watched(plane, target, request)
    with plane.store.lock:
        version, items = plane.store.version, selected(plane, target, request)
    items = [_versioned(kind, item) for item in items]
    metadata: dict[str, JsonValue] = {"resourceVersion": str(version)}
    limit = _whole_number(request, "limit") or 0
    token = query.get("continue", "")
    if token:
        key, offset = _decoded(token)
        version, kept = plane.store.page_source(key)
        page = list(kept[offset : offset + limit] if limit else kept[offset:])
        metadata = {"resourceVersion": str(version), **_more(key, offset + len(page), len(kept))}
    elif limit and len(items) > limit:
        page = items[:limit]
        metadata.update(_more(plane.store.keep_page_source(items), limit, len(items)))
    else:
        page = items
    if _wants_table(request):
        return _json(table(kind, page, metadata, plane.clock.now(), query.get("includeObject", "Metadata")))
    return _json({"kind": f"{kind.kind}List", "apiVersion": kind.api_version, "metadata": metadata, "items": page})


def selected(plane: ControlPlane, target: Target, request: Request) -> list[Obj]:
    """The objects of a collection that the request's selectors match."""
    matches = _predicate(request)
    return [obj for obj in plane.store.objects(target.kind.resource, target.name.namespace) if matches(obj)]


def shown(plane: ControlPlane, kind: Kind, obj: Obj, request: Request, code: int = 200) -> Response:
    """One object, as a table where the client asks for one."""
    obj = _versioned(kind, obj)
    if _wants_table(request):
        metadata = {"resourceVersion": text(obj, "metadata", "resourceVersion")}
        include = request.query_params.get("includeObject", "Metadata")
        return _json(table(kind, [obj], metadata, plane.clock.now(), include), code)
    return _json(obj, code)


def pod_log(plane: ControlPlane, pods: Path, target: Target, pod: Obj, request: Request) -> Response:
    query, seconds = request.query_params, _whole_number(request, "sinceSeconds")
    wanted = LogRequest(
        container=query.get("container", ""),
        previous=query.get("previous") == "true",
        follow=query.get("follow") == "true",
        tail_lines=_whole_number(request, "tailLines"),
        limit_bytes=_whole_number(request, "limitBytes"),
        since=moment_of(query.get("sinceTime", ""))
        if seconds is None
        else plane.clock.now() - timedelta(seconds=seconds),
        timestamps=query.get("timestamps") == "true",
    )
    path = find_log(pods, pod, wanted)

    def is_running() -> bool:
        now = plane.store.get("pods", target.name)
        return now is not None and uid_of(now) == uid_of(pod) and text(now, "status", "phase") == "Running"

    return StreamingResponse(log_stream(path, wanted, is_running, plane.clock.now), media_type="text/plain")


def _watched(plane: ControlPlane, target: Target, request: Request) -> Response:
    query, kind = request.query_params, target.kind
    as_table, include = _wants_table(request), query.get("includeObject", "Metadata")

    def show(obj: Obj) -> JsonValue:
        obj = _versioned(kind, obj)
        if not as_table:
            return obj
        metadata = {"resourceVersion": text(obj, "metadata", "resourceVersion")}
        return table(kind, [obj], metadata, plane.clock.now(), include)

    seconds = _whole_number(request, "timeoutSeconds")
    wanted = WatchRequest(
        kind=kind,
        namespace=target.name.namespace,
        matches=_predicate(request),
        version=query.get("resourceVersion", ""),
        bookmarks=query.get("allowWatchBookmarks") in ("true", "1"),
        initial_events_end=query.get("sendInitialEvents") == "true",
        timeout_seconds=_WATCH_SECONDS if seconds is None else seconds,
        show=show,
    )
    return StreamingResponse(watch(plane, wanted), media_type="application/json")


def _predicate(request: Request) -> Predicate:
    labels = label_predicate(request.query_params.get("labelSelector", ""))
    fields = field_predicate(request.query_params.get("fieldSelector", ""))
    return lambda obj: labels(obj) and fields(obj)


def _versioned(kind: Kind, obj: Obj) -> Obj:
    """The object under the version that was asked for."""
    return {**obj, "apiVersion": kind.api_version, "kind": kind.kind}


def _wants_table(request: Request) -> bool:
    return "as=Table" in request.headers.get("accept", "").split(",")[0]


def _whole_number(request: Request, name: str) -> int | None:
    written = request.query_params.get(name, "")
    if not written:
        return None
    if not written.isdigit():
        raise bad_request(f"invalid value {written!r} of {name}: a number of at least 0 is wanted")
    return int(written)


def _more(key: str, offset: int, total: int) -> dict[str, JsonValue]:
    if offset >= total:
        return {}
    return {
        "continue": base64.urlsafe_b64encode(f"{key}:{offset}".encode()).decode(),
        "remainingItemCount": total - offset,
    }


def _decoded(token: str) -> tuple[str, int]:
    try:
        key, offset = base64.urlsafe_b64decode(token).decode().split(":")
        return key, int(offset)
    except (binascii.Error, ValueError):
        raise bad_request("continue key is not valid") from None


def _json(body: Obj, code: int = 200) -> Response:
    return Response(encode(body), status_code=code, media_type="application/json")
