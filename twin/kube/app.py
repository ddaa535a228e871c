"""The HTTP side of the twin's Kubernetes API: control planes under `/k8s/<EKS cluster name>`."""

from __future__ import annotations

import asyncio
import base64
import binascii
from collections.abc import Mapping
from typing import Final, Protocol

import yaml
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from core.json_value import JsonValue
from twin.kube import discovery, protobuf
from twin.kube.errors import ApiError, bad_request, method_not_allowed, no_such_path
from twin.kube.objects import Obj, encode, mapping, name_of, number, parse_json, text
from twin.kube.paths import Target, resource_target
from twin.kube.planes import ControlPlane, ControlPlanes
from twin.kube.reading import collection, pod_log, selected, shown
from twin.kube.resources import DeleteOptions, PatchType, WriteOptions, Written
from twin.kube.subresources import access_review, evict, scale_of, set_scale

EFFECT: Final = "twin.effect"
"""In a request's ASGI scope once its answer is ready: the call that took effect."""
LOST: Final = "twin.lost"
"""The same: true when the answer must not reach the caller. Whoever holds the connection sees to both."""
_METHODS: Final = ["GET", "POST", "PUT", "PATCH", "DELETE"]
_VERBS: Final[Mapping[str, str]] = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_AGGREGATED: Final = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
_SUCCESS: Final[Obj] = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
_LARGEST_BODY_BYTES: Final = 3 * 1024 * 1024
"""The real API server's own bound."""
_REVIEWS: Final = ["apis", "authorization.k8s.io", "v1", "selfsubjectaccessreviews"]


class Authorise(Protocol):
    def __call__(self, token: str) -> str | None:
        """The user behind a bearer token, `None` for a token that is not ours."""


class CallLog(Protocol):
    """The twin's request log (`twin.request_log.RequestLog`), where effects are counted."""

    def mutation_arrived(self, call: str) -> None: ...

    def record(self, *, call: str, caller: str, outcome: str, took_effect: bool, request_id: str) -> bool:
        """True: the answer must not reach the caller."""


def make_app(planes: ControlPlanes, authorise: Authorise, log: CallLog) -> Starlette:
    """An ASGI application; clients' mutating requests go to `log`, controllers' own writes do not."""
    server = _Server(planes, authorise, log)
    routes = [
        Route("/k8s/{cluster}", server.handle, methods=_METHODS),
        Route("/k8s/{cluster}/{path:path}", server.handle, methods=_METHODS),
    ]
    return Starlette(routes=routes)


class _Server:
    def __init__(self, planes: ControlPlanes, authorise: Authorise, log: CallLog) -> None:
        self._planes = planes
        self._authorise = authorise
        self._log = log

    async def handle(self, request: Request) -> Response:
        try:
            user = self._authorise(_token(request.headers.get("authorization", "")))
            if user is None:
                raise ApiError(401, "Unauthorized", "Unauthorized")
            plane = self._planes.find(request.path_params["cluster"])
            if plane is None:
                raise no_such_path()
            parts = [part for part in request.path_params.get("path", "").split("/") if part]
            if request.method == "GET" and (answer := _discover(plane, request, parts)) is not None:
                return answer
            body = await _body(request)
            if parts == _REVIEWS and request.method == "POST":
                return _json(access_review(_parsed(request, body), user), 201)
            target = resource_target(plane.kinds, parts)
            if request.method == "GET":
                return self._read(plane, target, request)
            # In a thread: the log may wait for the world, and other requests shall not wait for that.
            return await asyncio.to_thread(self._write, plane, target, request, body, user)
        except ApiError as error:
            return _json(error.body(), error.code)

    def _read(self, plane: ControlPlane, target: Target, request: Request) -> Response:
        if not target.name.name:
            return collection(plane, target, request)
        obj = plane.resources.get(target.kind, target.name)
        match target.subresource:
            case "" | "status":
                return shown(plane, target.kind, obj, request)
            case "scale":
                return _json(scale_of(target.kind, obj))
            case "log":
                return pod_log(plane, self._planes.config.pods, target, obj, request)
            case other:
                raise method_not_allowed(f"GET of {other}")

    def _write(self, plane: ControlPlane, target: Target, request: Request, body: bytes, user: str) -> Response:
        what = target.kind.plural + (f"/{target.subresource}" if target.subresource else "")
        verb = _VERBS[request.method]
        if verb == "delete" and not target.name.name:
            verb = "deletecollection"
        call, caller = f"k8s:{verb}:{what}", f"{user} {request.headers.get('user-agent', '')}".strip()
        request_id = request.headers.get("audit-id") or self._planes.fresh_id()
        self._log.mutation_arrived(call)
        try:
            response, took_effect = self._written(plane, target, request, body)
        except ApiError as error:
            self._log.record(call=call, caller=caller, outcome=error.reason, took_effect=False, request_id=request_id)
            raise
        response.headers["audit-id"] = request_id
        lost = self._log.record(call=call, caller=caller, outcome="ok", took_effect=took_effect, request_id=request_id)
        if took_effect:
            request.scope[EFFECT] = call
        request.scope[LOST] = lost
        return response

    def _written(self, plane: ControlPlane, target: Target, request: Request, body: bytes) -> tuple[Response, bool]:
        """The answer, and whether anything is different now."""
        options = _write_options(request, target)
        match request.method, target.subresource:
            case "POST", "eviction":
                options_of_delete = _delete_options(request, mapping(_parsed(request, body), "deleteOptions"))
                evict(plane.resources, target.kind, target.name, options_of_delete)
                return _json(_SUCCESS, 201), True
            case "POST", "" if not target.name.name:
                written = plane.resources.create(target.kind, target.name.namespace, _parsed(request, body), options)
            case "PUT" | "PATCH", "scale":
                scale = _parsed(request, body)
                written = set_scale(plane.resources, target.kind, target.name, scale, options)
                return _json(scale_of(target.kind, written.object)), written.changed
            case "PUT", "" | "status" if target.name.name:
                written = plane.resources.replace(target.kind, target.name, _parsed(request, body), options)
            case "PATCH", "" | "status" if target.name.name:
                kind = _patch_type(request)
                patch = _parsed_yaml(body) if kind is PatchType.APPLY else _parsed_any(request, body)
                written = plane.resources.patch(target.kind, target.name, kind, patch, options)
            case "DELETE", "":
                return _delete(plane, target, request, body)
            case _:
                raise method_not_allowed(f"{request.method} of {request.url.path}")
        return _answered(plane, target, request, written), written.changed


def _discover(plane: ControlPlane, request: Request, parts: list[str]) -> Response | None:
    """The answer to a GET that is about no object."""
    match parts:
        case ["healthz" | "livez" | "readyz"]:
            return Response("ok", media_type="text/plain")
        case ["api" | "apis"] if "as=APIGroupDiscoveryList" in request.headers.get("accept", ""):
            body = encode(discovery.aggregated(plane.kinds, core=parts == ["api"]))
            return Response(body, headers={"content-type": _AGGREGATED})
        case ["openapi", "v3"]:
            return _json(discovery.openapi_index(plane.kinds, f"/k8s/{plane.name}"))
        case [] | ["version" | "api" | "apis"] | ["api" | "apis", _] | ["apis", _, _] | ["openapi", *_]:
            found = _document(plane, parts)
        case _:
            return None
    if found is None:
        raise no_such_path()
    return _json(found)


def _document(plane: ControlPlane, parts: list[str]) -> Obj | None:
    kinds = plane.kinds
    match parts:
        case []:
            return {"paths": ["/api", "/apis", "/openapi/v3", "/version"]}
        case ["version"]:
            return discovery.VERSION
        case ["api"]:
            return discovery.api_versions()
        case ["apis"]:
            return discovery.group_list(kinds)
        case ["api", version]:
            return discovery.resource_list(kinds, "", version)
        case ["apis", group]:
            return discovery.group(kinds, group)
        case ["apis", group, version]:
            return discovery.resource_list(kinds, group, version)
        case ["openapi", "v3", *rest]:
            return discovery.openapi_v3(kinds, "/".join(rest))
        case _:
            return None


def _delete(plane: ControlPlane, target: Target, request: Request, body: bytes) -> tuple[Response, bool]:
    options = _delete_options(request, _parsed(request, body) if body else {})
    if not target.name.name:
        items = selected(plane, target, request)
        for item in items:
            plane.resources.delete(target.kind, name_of(item), options)
        return _json(_SUCCESS), bool(items) and not options.dry_run
    before = plane.resources.get(target.kind, target.name)
    going = plane.resources.delete(target.kind, target.name, options)
    if going is not None or target.kind.resource == "pods":
        return shown(plane, target.kind, going or before, request), not options.dry_run
    details: Obj = {
        "name": target.name.name, "group": target.kind.group, "kind": target.kind.plural,
        "uid": text(before, "metadata", "uid"),
    }  # fmt: skip
    return _json({**_SUCCESS, "details": details}), True


def _answered(plane: ControlPlane, target: Target, request: Request, written: Written) -> Response:
    response = shown(plane, target.kind, written.object, request, code=201 if written.created else 200)
    for warning in written.warnings:
        response.headers.append("Warning", f'299 - "{warning.replace(chr(34), chr(92) + chr(34))}"')
    return response


def _token(authorization: str) -> str:
    """A bearer token, or the password of basic authentication: kubectl sends no token over plain HTTP."""
    scheme, _, value = authorization.partition(" ")
    if scheme.lower() == "bearer":
        return value.strip()
    if scheme.lower() == "basic":
        try:
            return base64.b64decode(value, validate=True).decode().partition(":")[2]
        except (binascii.Error, UnicodeDecodeError):
            return ""
    return ""


def _write_options(request: Request, target: Target) -> WriteOptions:
    query = request.query_params
    agent = request.headers.get("user-agent", "").split("/")[0]
    if _is_apply(request) and not query.get("fieldManager"):
        raise bad_request("fieldManager is required for apply patch")
    return WriteOptions(
        manager=query.get("fieldManager") or agent or "unknown",
        subresource=target.subresource,
        dry_run=query.get("dryRun") == "All",
        force=query.get("force") == "true",
        field_validation=query.get("fieldValidation") or "Warn",
    )


def _delete_options(request: Request, body: Obj) -> DeleteOptions:
    query, grace = request.query_params, number(body, "gracePeriodSeconds")
    written = query.get("gracePeriodSeconds", "")
    return DeleteOptions(
        grace_seconds=int(written) if grace is None and written.isdigit() else grace,
        uid=text(body, "preconditions", "uid"),
        resource_version=text(body, "preconditions", "resourceVersion"),
        orphan="Orphan" in (text(body, "propagationPolicy"), query.get("propagationPolicy")),
        dry_run=query.get("dryRun") == "All" or body.get("dryRun") == ["All"],
    )


async def _body(request: Request) -> bytes:
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > _LARGEST_BODY_BYTES:
            raise ApiError(413, "RequestEntityTooLarge", f"a request has at most {_LARGEST_BODY_BYTES} bytes")
    return body


def _content_type(request: Request) -> str:
    return request.headers.get("content-type", "").partition(";")[0].strip()


def _is_apply(request: Request) -> bool:
    return request.method == "PATCH" and _content_type(request) == PatchType.APPLY.value


def _patch_type(request: Request) -> PatchType:
    try:
        return PatchType(_content_type(request))
    except ValueError:
        message = f"the body of the request was in an unknown format: {_content_type(request)!r}"
        raise ApiError(415, "UnsupportedMediaType", message) from None


def _parsed(request: Request, body: bytes) -> Obj:
    value = _parsed_any(request, body)
    if not isinstance(value, Mapping):
        raise bad_request("the body of the request is not an object")
    return value


def _parsed_any(request: Request, body: bytes) -> JsonValue:
    if _content_type(request) == protobuf.MEDIA_TYPE:
        return protobuf.decode(body)
    try:
        return parse_json(body)
    except (ValueError, RecursionError) as error:
        raise bad_request(f"the body of the request is not JSON: {error}") from None


class _PlainLoader(yaml.SafeLoader):
    """Without aliases: a few lines of them can stand for gigabytes."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("aliases are not accepted")
        return super().compose_node(parent, index)


def _parsed_yaml(body: bytes) -> JsonValue:
    try:
        value: JsonValue = yaml.load(body, _PlainLoader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise bad_request(f"the body of the request is not YAML: {error}") from None
    return value


def _json(body: Obj, code: int = 200) -> Response:
    return Response(encode(body), status_code=code, media_type="application/json")
