"""Turns what botocore raises into the tools' errors, by the one question that matters: did it happen?

Codes that services send without declaring them come from AWS's public error lists. A code that is not
listed falls back on its HTTP status.
"""

from __future__ import annotations

from botocore import exceptions as boto
from botocore.exceptions import ClientError

from core.messages.message import message
from core.reasons import FailureClass
from tools.errors import Conflict, OutcomeUnknown, RejectedByPlatform, RetryableToolError, TargetNotFound, ToolError

_THROTTLED = frozenset(
    {
        "EC2ThrottledException",
        "PriorRequestNotComplete",
        "ProvisionedThroughputExceededException",
        "RequestLimitExceeded",
        "RequestThrottled",
        "RequestThrottledException",
        "SlowDown",
        "Throttling",
        "ThrottlingException",
        "TooManyRequestsException",
    }
)
_NOT_FOUND = frozenset(
    {
        "404",
        "NoSuchBucket",
        "NoSuchEntity",
        "NoSuchKey",
        "NoSuchResourceException",
        "NotFoundException",
        "ResourceNotFound",
        "ResourceNotFoundException",
    }
)
_CONFLICT = frozenset(
    {
        "BucketAlreadyExists",
        "BucketAlreadyOwnedByYou",
        "BucketNotEmpty",
        "ConcurrentModification",
        "ConflictException",
        "DeleteConflict",
        "DependencyViolation",
        "EntityAlreadyExists",
        "EntityAlreadyExistsException",
        "IncorrectState",
        "InvalidGroup.Duplicate",
        "InvalidPermission.Duplicate",
        "OperationAborted",
        "PreconditionFailed",
        "Resource.AlreadyAssociated",
        "ResourceAlreadyExistsException",
        "ResourceInUse",
        "ResourceInUseException",
        "RouteAlreadyExists",
    }
)
_QUOTA = frozenset(
    {
        "AddressLimitExceeded",
        "InstanceLimitExceeded",
        "LimitExceeded",
        "LimitExceededException",
        "NatGatewayLimitExceeded",
        "ResourceLimitExceeded",
        "ResourceLimitExceededException",
        "ServiceLimitExceeded",
        "VcpuLimitExceeded",
        "VpcLimitExceeded",
    }
)
_CAPACITY = frozenset({"InsufficientFreeAddressesInSubnet", "InsufficientInstanceCapacity"})
_PERMISSION = frozenset(
    {
        "403",
        "AccessDenied",
        "AccessDeniedException",
        "AuthFailure",
        "ExpiredToken",
        "ExpiredTokenException",
        "InvalidClientTokenId",
        "InvalidSignatureException",
        "SignatureDoesNotMatch",
        "UnauthorizedOperation",
        "UnrecognizedClientException",
    }
)
_CONFIG = frozenset(
    {
        "BadRequest",
        "IncompatibleParameterError",
        "InvalidInput",
        "InvalidParameter",
        "InvalidParameterException",
        "InvalidParameterValue",
        "InvalidRequestException",
        "MalformedPolicyDocument",
        "NotImplementedInTwin",
        "ValidationError",
        "ValidationException",
    }
)
_HTTP_NOT_IMPLEMENTED = 501
"""A server that does not know the method has done nothing: the one 5xx whose outcome is known."""


def from_service(error: ClientError, call: str, *, changes: bool) -> ToolError:
    """An error that the service answered. `changes`: the call would have changed something."""
    details = error.response.get("Error", {})
    code, raw = str(details.get("Code", "")), str(details.get("Message", ""))
    status = int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
    kind, failure_class, key = _classify(code, raw, status, changes=changes)
    return kind(
        message(key, call=call, code=code or str(status), raw=raw),
        call=call,
        failure_class=failure_class,
        code=code,
        raw=raw,
    )


def from_transport(error: boto.BotoCoreError, call: str, *, changes: bool) -> ToolError:
    """An error on the way there or back: no answer, an answer that was cut, or nothing sent at all."""
    raw = str(error)
    if isinstance(error, boto.EndpointConnectionError | boto.ConnectTimeoutError | boto.ProxyConnectionError):
        return _unreachable(call, raw)
    if isinstance(error, boto.NoCredentialsError | boto.PartialCredentialsError | boto.CredentialRetrievalError):
        return _rejected(call, raw, FailureClass.PERMISSION)
    if isinstance(error, boto.ParamValidationError | boto.UnknownServiceError | boto.NoRegionError):
        return _rejected(call, raw, FailureClass.CONFIG)
    return _unknown(call, raw) if changes else _unreachable(call, raw)


def not_sent(call: str, member: str, why: str) -> RejectedByPlatform:
    """The model forbids it: refused before a call was spent."""
    return RejectedByPlatform(
        message("tools.request_invalid", call=call, member=member, why=why),
        call=call,
        failure_class=FailureClass.CONFIG,
        code="ValidationException",
        raw=f"{member}: {why}",
    )


def _classify(code: str, raw: str, status: int, *, changes: bool) -> tuple[type[ToolError], FailureClass, str]:
    if code in _THROTTLED or status == 429:
        return RetryableToolError, FailureClass.TRANSIENT, "tools.throttled"
    if code in _NOT_FOUND or code.endswith((".NotFound", "NotFoundException")):
        return TargetNotFound, FailureClass.CONFIG, "tools.target_not_found"
    if code in _CONFLICT:
        # What stands in the way may be our own effect of an attempt whose answer was lost, or pass by itself.
        return Conflict, FailureClass.TRANSIENT, "tools.conflict"
    if "assume the execution role" in raw or "could not be assumed" in raw:
        # SageMaker's and EKS's words for a role that was made some seconds ago and is not known everywhere yet.
        return RetryableToolError, FailureClass.TRANSIENT, "tools.role_not_assumable_yet"
    for codes, failure_class in (
        (_QUOTA, FailureClass.QUOTA),
        (_CAPACITY, FailureClass.CAPACITY),
        (_PERMISSION, FailureClass.PERMISSION),
        (_CONFIG, FailureClass.CONFIG),
    ):
        if code in codes:
            return RejectedByPlatform, failure_class, "tools.rejected"
    if (status >= 500 and status != _HTTP_NOT_IMPLEMENTED) or code.startswith("RequestTimeout"):
        if changes:
            return OutcomeUnknown, FailureClass.UNKNOWN, "tools.outcome_unknown"
        return RetryableToolError, FailureClass.TRANSIENT, "tools.service_error"
    return RejectedByPlatform, FailureClass.UNKNOWN, "tools.rejected"


def _unreachable(call: str, raw: str) -> RetryableToolError:
    return RetryableToolError(
        message("tools.unreachable", call=call, raw=raw), call=call, failure_class=FailureClass.TRANSIENT, raw=raw
    )


def _rejected(call: str, raw: str, failure_class: FailureClass) -> RejectedByPlatform:
    return RejectedByPlatform(
        message("tools.rejected", call=call, code=failure_class.value, raw=raw),
        call=call,
        failure_class=failure_class,
        raw=raw,
    )


def _unknown(call: str, raw: str) -> OutcomeUnknown:
    return OutcomeUnknown(
        message("tools.outcome_unknown", call=call, code="no answer", raw=raw),
        call=call,
        failure_class=FailureClass.UNKNOWN,
        raw=raw,
    )
