"""AWS's wire protocols: requests to parameters and results to bytes, both driven by the service's shapes."""

from __future__ import annotations

import base64
import functools
import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar
from urllib.parse import parse_qsl, unquote
from xml.sax.saxutils import escape

from botocore.model import ListShape, MapShape, OperationModel, Shape, StructureShape

from twin.aws.errors import AwsError
from twin.aws.models import Service
from twin.aws.params import Json, Reply

EC2_NAMESPACE = "http://ec2.amazonaws.com/doc/2016-11-15/"
_QUERY_SERVICES = frozenset({"ec2", "sts", "iam", "cloudformation", "autoscaling"})
T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One HTTP request. Header names in lower case; `path` still percent-encoded."""

    method: str
    path: str
    query: str
    headers: Mapping[str, str]
    body: bytes
    service: str = ""
    """boto3's service name, from the scope of the signature."""
    region: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Response:
    status: int
    body: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


_COPIES = frozenset({"CopyObject", "UploadPartCopy"})
_COPY_SOURCE = "x-amz-copy-source"


def operation_name(service: Service, request: Request) -> str:
    """Which operation is meant, whether the twin has it or not. Raises `AwsError` when the service has no such one."""
    if service.protocol == "json":
        name = request.headers.get("x-amz-target", "").rpartition(".")[2]
    elif service.protocol in {"query", "ec2"}:
        name = dict(parse_qsl(request.body.decode())).get("Action", "")
    else:
        name = _route(service, request)[0]
    if name not in service.known_operations:
        raise AwsError("UnknownOperationException", f"{service.name} has no operation {name or request.path!r}.")
    return name


def parse_params(service: Service, operation: OperationModel, request: Request) -> dict[str, Json]:
    """The request's parameters by member name, not yet validated."""
    if service.protocol == "json":
        return _json_body(request)
    if service.protocol == "ec2":
        form = dict(parse_qsl(request.body.decode(), keep_blank_values=True))
        return dict(_ec2_members(operation.input_shape, form, "")) if operation.input_shape else {}
    return _rest_params(service, operation, request)


def serialize(
    service: Service,
    operation: OperationModel,
    result: Reply,
    request_id: str,
    disturb: Callable[[Shape, object], object] | None = None,
) -> Response:
    """`disturb` may change the JSON of an answer.

    Raises `KeyError` for a member that the output shape lacks: the model is the contract for the twin too.
    """
    shape = operation.output_shape
    if service.protocol == "ec2":
        inner = "".join(_xml_members(shape, result)) if shape is not None else ""
        tag = f"{operation.name}Response"
        xml = f'<{tag} xmlns="{EC2_NAMESPACE}"><requestId>{request_id}</requestId>{inner}</{tag}>'
        return Response(status=200, body=xml.encode(), headers={"content-type": "text/xml;charset=UTF-8"})
    body = _to_json(shape, result) if shape is not None else {}
    if disturb is not None and shape is not None:
        body = disturb(shape, body)
    content_type = "application/x-amz-json-1.1" if service.protocol == "json" else "application/json"
    headers = {"content-type": content_type, "x-amzn-requestid": request_id}
    return Response(status=operation.http.get("responseCode", 200), body=json.dumps(body).encode(), headers=headers)


def serialize_error(service: str, error: AwsError, request_id: str) -> Response:
    """In the form that clients of `service` read."""
    detail = f"<Code>{error.code}</Code><Message>{escape(error.message)}</Message>"
    if service == "s3":
        xml = f"<Error>{detail}<RequestId>{request_id}</RequestId></Error>"
    elif service == "ec2":
        errors = f"<Errors><Error>{detail}</Error></Errors>"
        xml = f"<Response>{errors}<RequestID>{request_id}</RequestID></Response>"
    elif service in _QUERY_SERVICES:
        inner = f"<Error><Type>Sender</Type>{detail}</Error>"
        xml = f"<ErrorResponse>{inner}<RequestId>{request_id}</RequestId></ErrorResponse>"
    else:
        body = {"__type": error.code, "message": error.message, "Message": error.message, **error.extra}
        headers = {
            "content-type": "application/x-amz-json-1.1",
            "x-amzn-errortype": error.code,
            "x-amzn-requestid": request_id,
        }
        return Response(status=error.status, body=json.dumps(body).encode(), headers=headers)
    return Response(status=error.status, body=xml.encode(), headers={"content-type": "text/xml"})


def _json_body(request: Request) -> dict[str, Json]:
    try:
        body = json.loads(request.body or b"{}")
    except ValueError as error:
        raise AwsError("SerializationException", f"The body is not JSON: {error}") from error
    if not isinstance(body, dict):
        raise AwsError("SerializationException", "The body must be a JSON object.")
    return {str(key): value for key, value in body.items() if value is not None}


def _rest_params(service: Service, operation: OperationModel, request: Request) -> dict[str, Json]:
    _, in_path = _route(service, request)
    query: dict[str, list[str]] = {}
    for key, value in parse_qsl(request.query, keep_blank_values=True):
        query.setdefault(key, []).append(value)
    params: dict[str, Json] = {}
    body = _json_body(request) if request.body else {}
    shape = operation.input_shape
    if not isinstance(shape, StructureShape):
        return params
    for name, member in shape.members.items():
        wire_name = member.serialization.get("name", name)
        match member.serialization.get("location"):
            case "uri":
                params[name] = in_path[wire_name]
            case "querystring" if wire_name in query:
                values = query[wire_name]
                params[name] = list(values) if isinstance(member, ListShape) else _from_text(member, values[0])
            case None if wire_name in body:
                params[name] = body[wire_name]
            case _:
                pass
    unknown = set(body) - {member.serialization.get("name", name) for name, member in shape.members.items()}
    return params | {name: body[name] for name in unknown}


def _route(service: Service, request: Request) -> tuple[str, dict[str, str]]:
    """The most literal route that matches wins."""
    query = {key for key, _ in parse_qsl(request.query, keep_blank_values=True)}
    for name, method, pattern, required in _routes(service.name, tuple(service.known_operations.items())):
        found = pattern.fullmatch(request.path)
        if name in _COPIES and _COPY_SOURCE not in request.headers:
            continue  # S3 tells a copy from an upload to the same address by a header alone
        if method == request.method and found and required <= query:
            return name, {key.replace("_dash_", "-"): unquote(text) for key, text in found.groupdict().items()}
    return "", {}


@functools.cache
def _routes(
    service: str, operations: tuple[tuple[str, tuple[str, str]], ...]
) -> list[tuple[str, str, re.Pattern[str], frozenset[str]]]:
    del service  # part of the key only for readers of a cache dump
    routes = []
    for name, (method, uri) in operations:
        path, _, query = uri.partition("?")
        required = frozenset(key for key, _ in parse_qsl(query, keep_blank_values=True))
        parts = re.split(r"(\{[^}]+\})", path)
        pattern = "".join(_path_part(part) if part.startswith("{") else re.escape(part) for part in parts)
        routes.append((path.count("{"), -len(required), -len(path), name, method, re.compile(pattern + "/?"), required))
    routes.sort(key=lambda route: route[:4])
    return [route[3:] for route in routes]


def _path_part(part: str) -> str:
    name = part.strip("{}+").replace("-", "_dash_")
    return f"(?P<{name}>{'.+' if part.endswith('+}') else '[^/]+'})"


def _ec2_members(shape: StructureShape, form: Mapping[str, str], prefix: str) -> Iterator[tuple[str, Json]]:
    for name, member in shape.members.items():
        wire_name = prefix + _ec2_name(name, member)
        if isinstance(member, StructureShape):
            inner: Json = dict(_ec2_members(member, form, wire_name + "."))
        elif isinstance(member, ListShape):
            inner = _ec2_list(member, form, wire_name + ".")
        else:
            inner = _from_text(member, form[wire_name]) if wire_name in form else None
        if inner not in (None, {}, []):
            yield name, inner


def _ec2_name(name: str, member: Shape) -> str:
    given = member.serialization.get("queryName") or member.serialization.get("name") or name
    return str(given)[0].upper() + str(given)[1:]


def _ec2_list(shape: ListShape, form: Mapping[str, str], prefix: str) -> list[Json]:
    items: list[Json] = []
    number = 1
    while any(key == f"{prefix}{number}" or key.startswith(f"{prefix}{number}.") for key in form):
        if isinstance(shape.member, StructureShape):
            items.append(dict(_ec2_members(shape.member, form, f"{prefix}{number}.")))
        else:
            items.append(_from_text(shape.member, form[f"{prefix}{number}"]))
        number += 1
    return items


def _from_text(shape: Shape, text: str) -> Json:
    if shape.type_name in {"integer", "long"}:
        return int(text) if re.fullmatch(r"-?\d+", text) else text
    if shape.type_name == "boolean":
        return {"true": True, "false": False}.get(text.lower(), text)
    return text


def _to_json(shape: Shape, value: object) -> object:
    if value is None:
        return None
    match shape:
        case StructureShape():
            members, values = shape.members, _as(value, Mapping)
            wire = {name: members[name].serialization.get("name", name) for name in values}
            return {wire[name]: _to_json(members[name], item) for name, item in values.items() if item is not None}
        case ListShape():
            return [_to_json(shape.member, item) for item in _as(value, (list, tuple))]
        case MapShape():
            return {key: _to_json(shape.value, item) for key, item in _as(value, Mapping).items()}
        case _:
            return _scalar(value)


def _scalar(value: object) -> object:
    match value:
        case datetime():
            return value.timestamp()
        case bytes():
            return base64.b64encode(value).decode()
        case _:
            return value


def _xml_members(shape: StructureShape, value: object) -> Iterator[str]:
    for name, item in _as(value, Mapping).items():
        member = shape.members[name]
        if item is not None:
            tag = member.serialization.get("name", name)
            yield f"<{tag}>{_xml_value(member, item)}</{tag}>"


def _xml_value(shape: Shape, value: object) -> str:
    match shape:
        case StructureShape():
            return "".join(_xml_members(shape, value))
        case ListShape():
            return "".join(f"<item>{_xml_value(shape.member, item)}</item>" for item in _as(value, (list, tuple)))
        case _ if isinstance(value, bool):
            return "true" if value else "false"
        case _ if isinstance(value, datetime):
            return value.strftime("%Y-%m-%dT%H:%M:%S.000Z")
        case _:
            return escape(str(value))


def _as(value: object, kind: type[T] | tuple[type[T], ...]) -> T:
    if not isinstance(value, kind):
        raise TypeError(f"{value!r} is not {kind}")
    return value
