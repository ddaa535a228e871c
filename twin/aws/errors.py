"""What an AWS operation of the twin answers instead of a result."""

from __future__ import annotations


class AwsError(Exception):
    """`code` as the service spells it; nothing was changed. `extra` are further members of the error shape."""

    def __init__(self, code: str, message: str, *, status: int = 400, extra: dict[str, object] | None = None) -> None:
        super().__init__(f"{code}: {message}")
        self.code, self.message, self.status = code, message, status
        self.extra = extra or {}


class NotInTwin(AwsError):
    """The real service may well have it; the twin does not, and never answers a silent success."""

    def __init__(self, what: str) -> None:
        super().__init__(
            "NotImplementedInTwin", f"The local twin does not implement {what}. Nothing was done.", status=501
        )


def validation(message: str) -> AwsError:
    """The form of a cross-field refusal of SageMaker."""
    return AwsError("ValidationException", message)
