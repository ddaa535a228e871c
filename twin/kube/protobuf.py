"""The few messages that kubectl sends as protobuf: creates of small kinds, evictions, access reviews.

Field numbers are those of the `generated.proto` files of kubernetes/api and apimachinery. Anything else is
refused with 415, which names JSON as the way.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from typing import Final

from core.json_value import JsonValue
from twin.kube.errors import ApiError, bad_request
from twin.kube.objects import Obj, array, mapping

MEDIA_TYPE: Final = "application/vnd.kubernetes.protobuf"
_MAGIC: Final = b"k8s\x00"

# message -> "number name type" by comma; {t} is a map, [t] a list, a word in capitals another message.
_MESSAGES: Final[Mapping[str, str]] = {
    "ObjectMeta": "1 name str,2 generateName str,3 namespace str,5 uid str,6 resourceVersion str,"
    "11 labels {str},"
    "12 annotations {str},"
    "14 finalizers [str]",
    "Namespace": "1 metadata ObjectMeta",
    "ConfigMap": "1 metadata ObjectMeta,2 data {str},3 binaryData {bytes},4 immutable bool",
    "Secret": "1 metadata ObjectMeta,2 data {bytes},3 type str,4 stringData {str},5 immutable bool",
    "ServiceAccount": "1 metadata ObjectMeta",
    "PodDisruptionBudget": "1 metadata ObjectMeta,2 spec BudgetSpec",
    "BudgetSpec": "1 minAvailable IntOrString,2 selector LabelSelector,3 maxUnavailable IntOrString",
    "LabelSelector": "1 matchLabels {str}",
    "Eviction": "1 metadata ObjectMeta,2 deleteOptions DeleteOptions",
    "DeleteOptions": "1 gracePeriodSeconds int,2 preconditions Preconditions,4 propagationPolicy str,5 dryRun [str]",
    "Preconditions": "1 uid str,2 resourceVersion str",
    "SelfSubjectAccessReview": "1 metadata ObjectMeta,2 spec ReviewSpec",
    "ReviewSpec": "1 resourceAttributes ResourceAttributes",
    "ResourceAttributes": "1 namespace str,2 verb str,3 group str,4 version str,5 resource str,7 name str",
}


def decode(body: bytes) -> Obj:
    """The object of a `k8s\\0` envelope. Raises 400 for what is cut, 415 for a kind not listed here."""
    if not body.startswith(_MAGIC):
        raise bad_request("the body of the request is no Kubernetes protobuf envelope")
    envelope = dict(_fields(body[len(_MAGIC) :]))
    meta, raw = envelope.get(1, b""), envelope.get(2, b"")
    if not isinstance(meta, bytes) or not isinstance(raw, bytes):
        raise bad_request("the protobuf envelope is malformed")
    names = {number: value.decode() for number, value in _fields(meta) if isinstance(value, bytes)}
    kind = names.get(2, "")
    if kind not in _MESSAGES:
        message = f"the twin reads no protobuf of {kind}: send application/json"
        raise ApiError(415, "UnsupportedMediaType", message)
    return {"apiVersion": names.get(1, ""), "kind": kind, **_message(kind, raw)}


def _message(name: str, raw: bytes) -> dict[str, JsonValue]:
    layout = {int(row.split()[0]): row.split()[1:] for row in _MESSAGES[name].split(",")}
    found: dict[str, JsonValue] = {}
    for number, value in _fields(raw):
        if number in layout:
            field, kind = layout[number]
            if kind.startswith("["):
                found[field] = [*array(found, field), _value(kind[1:-1], value)]
            elif kind.startswith("{") and isinstance(value, bytes):
                entry = dict(_fields(value))
                key = entry.get(1, b"")
                named = key.decode() if isinstance(key, bytes) else ""
                found[field] = {**mapping(found, field), named: _value(kind[1:-1], entry.get(2, b""))}
            else:
                found[field] = _value(kind, value)
    # Empty text stands for an absent field in these messages.
    return {field: value for field, value in found.items() if value not in ("", {})}


def _value(kind: str, value: int | bytes) -> JsonValue:
    if isinstance(value, int):
        return bool(value) if kind == "bool" else value
    match kind:
        case "str":
            return value.decode()
        case "bytes":
            return base64.b64encode(value).decode()
        case "IntOrString":
            parts = dict(_fields(value))
            chosen = parts.get(3, b"") if parts.get(1) else parts.get(2, 0)
            return chosen.decode() if isinstance(chosen, bytes) else chosen
        case _:
            return _message(kind, value)


def _fields(raw: bytes) -> Iterator[tuple[int, int | bytes]]:
    """(field number, number or bytes) of each field."""
    at = 0
    while at < len(raw):
        tag, at = _varint(raw, at)
        number, wire = tag >> 3, tag & 7
        if wire == 0:
            value, at = _varint(raw, at)
            yield number, value
        elif wire == 2:
            size, at = _varint(raw, at)
            if at + size > len(raw):
                raise bad_request("the protobuf message is cut")
            yield number, raw[at : at + size]
            at += size
        else:
            raise bad_request(f"protobuf wire type {wire} is not read here")


def _varint(raw: bytes, at: int) -> tuple[int, int]:
    value, shift = 0, 0
    while at < len(raw):
        byte = raw[at]
        value, shift, at = value | (byte & 0x7F) << shift, shift + 7, at + 1
        if byte < 0x80:
            return value, at
    raise bad_request("the protobuf message is cut")
