"""What the API server answers instead of an object: `Status` bodies as client libraries parse them.

Codes and reasons are those of Kubernetes' `metav1.Status` (API conventions, "Response Status Kind").
"""

from __future__ import annotations

from collections.abc import Sequence

from core.json_value import JsonValue
from twin.kube.objects import Obj


class ApiError(Exception):
    """Ends a request with a `Status` of `code` and `reason`."""

    def __init__(self, code: int, reason: str, message: str, details: Obj | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.details = details or {}

    def body(self) -> dict[str, JsonValue]:
        return {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            "reason": self.reason,
            "details": self.details,
            "code": self.code,
        }


def not_found(group: str, plural: str, name: str) -> ApiError:
    return ApiError(404, "NotFound", f'{_resource(group, plural)} "{name}" not found', _details(group, plural, name))


def no_such_path() -> ApiError:
    return ApiError(404, "NotFound", "the server could not find the requested resource")


def already_exists(group: str, plural: str, name: str) -> ApiError:
    message = f'{_resource(group, plural)} "{name}" already exists'
    return ApiError(409, "AlreadyExists", message, _details(group, plural, name))


def conflict(group: str, plural: str, name: str, why: str, causes: Sequence[Obj] = ()) -> ApiError:
    message = f'Operation cannot be fulfilled on {_resource(group, plural)} "{name}": {why}'
    return ApiError(409, "Conflict", message, {**_details(group, plural, name), "causes": list(causes)})


def stale(group: str, plural: str, name: str) -> ApiError:
    why = "the object has been modified; please apply your changes to the latest version and try again"
    return conflict(group, plural, name, why)


def invalid(group: str, kind: str, name: str, causes: Sequence[tuple[str, str, str]]) -> ApiError:
    """`causes`: (field, reason such as FieldValueInvalid, message)."""
    listed = ", ".join(f"{field}: {message}" for field, _, message in causes)
    message = f'{_resource(group, kind)} "{name}" is invalid: {listed}'
    written: list[JsonValue] = [{"field": f, "reason": r, "message": m} for f, r, m in causes]
    return ApiError(422, "Invalid", message, {"name": name, "group": group, "kind": kind, "causes": written})


def bad_request(message: str) -> ApiError:
    return ApiError(400, "BadRequest", message)


def forbidden(message: str) -> ApiError:
    return ApiError(403, "Forbidden", message)


def expired(message: str) -> ApiError:
    return ApiError(410, "Expired", message)


def method_not_allowed(what: str) -> ApiError:
    return ApiError(405, "MethodNotAllowed", f"the twin's API server does not offer {what}")


def _resource(group: str, word: str) -> str:
    return f"{word}.{group}" if group else word


def _details(group: str, plural: str, name: str) -> dict[str, JsonValue]:
    return {"name": name, "group": group, "kind": plural}
