"""The AWS side of the wire: one request in, one answer out, one line in the log."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Final
from urllib.parse import parse_qsl

from twin.auth import signed_scope
from twin.aws import ec2, eks, fsx, pricing, quotas, sagemaker
from twin.aws.context import Context, Handler
from twin.aws.errors import AwsError, NotInTwin
from twin.aws.hostile import Disturbance
from twin.aws.models import Service, load_service
from twin.aws.moto_host import SERVICES as MOTO_SERVICES
from twin.aws.params import Params
from twin.aws.validation import summary, violations
from twin.aws.wire import Request, Response, operation_name, parse_params, serialize, serialize_error
from twin.request_log import RequestLog
from twin.world import durations

_LOG = logging.getLogger(__name__)
OWN: Final[Mapping[str, Mapping[str, Handler]]] = {
    "sagemaker": sagemaker.OPERATIONS,
    "eks": eks.OPERATIONS,
    "ec2": ec2.OPERATIONS,
    "fsx": fsx.OPERATIONS,
    "service-quotas": quotas.OPERATIONS,
    "pricing": pricing.OPERATIONS,
}
# The name in the signature's scope -> boto3's name, where they differ.
_SIGNING_NAMES: Final = {"servicequotas": "service-quotas", "api.pricing": "pricing"}
_GLOBAL: Final = frozenset({"iam", "sts", "pricing", "s3"})
_READS: Final = ("Describe", "List", "Get", "Search", "Head", "Select", "Filter", "AssumeRole", "Simulate", "Decode")
_INVALID: Final = {
    "eks": "InvalidParameterException",
    "ec2": "InvalidParameterValue",
    "fsx": "BadRequest",
    "service-quotas": "IllegalArgumentException",
    "pricing": "InvalidParameterException",
}
_THROTTLED: Final = {"ec2": "RequestLimitExceeded", "s3": "SlowDown", "service-quotas": "TooManyRequestsException"}
SLOW_READ_SECONDS: Final = 1.5
_UNKNOWN_CALLER: Final = {
    "ec2": "AuthFailure",
    "s3": "InvalidAccessKeyId",
    "sts": "InvalidClientTokenId",
    "iam": "InvalidClientTokenId",
}


@dataclass(frozen=True, slots=True)
class Answer:
    response: Response
    is_lost: bool = False
    """The effect is done, and the caller must see its connection break."""
    effect: str | None = None
    """The call, as the log names it, when it took effect."""
    delay_seconds: float = 0.0
    """Real time by which the answer comes late."""


class AwsApi:
    """One request at a time, under `lock`.

    `make_context` brings the world up to now; `save` is called after each call that took effect, before its answer.
    """

    def __init__(
        self,
        make_context: Callable[[], Context],
        lock: threading.RLock,
        log: RequestLog,
        save: Callable[[], None],
        token: str,
    ) -> None:
        self._make_context, self._lock, self._log, self._save, self._token = make_context, lock, log, save, token
        self._services: dict[str, Service] = {}

    def warm_up(self) -> None:
        for name in sorted({*OWN, *MOTO_SERVICES}):
            with self._lock:
                self._service(name)

    def answer(self, request: Request) -> Answer:
        """Never raises for what a client sent."""
        with self._lock:
            ctx = self._make_context()
            request_id = ctx.sim.uuid()
            scope = signed_scope(request.headers, request.query)
            service = _SIGNING_NAMES.get(scope.service, scope.service) if scope is not None else _guess(request)
            try:
                self._admit(ctx, service, scope.access_key if scope else "", scope.region if scope else "")
            except AwsError as error:
                return Answer(serialize_error(service, error, request_id))
            request = replace(request, service=service, region=scope.region if scope is not None else "")
            return self._carry_out(ctx, request, request_id)

    def _admit(self, ctx: Context, service: str, access_key: str, region: str) -> None:
        if not access_key:
            raise AwsError("MissingAuthenticationToken", "The request is not signed.", status=403)
        if access_key != self._token and access_key not in ctx.sim.world.issued_keys:
            code = _UNKNOWN_CALLER.get(service, "UnrecognizedClientException")
            raise AwsError(code, "The security token included in the request is invalid.", status=403)
        home = ctx.sim.world.region
        if region != home and service not in _GLOBAL:
            code = _UNKNOWN_CALLER.get(service, "UnrecognizedClientException")
            raise AwsError(code, f"The twin's account has region {home} only, not {region}.", status=403)

    def _carry_out(self, ctx: Context, request: Request, request_id: str) -> Answer:
        operation = "?"
        changes = False
        try:
            service = self._service(request.service)
            operation = operation_name(service, request)
            changes = not operation.startswith(_READS)
            if changes:
                self._log.mutation_arrived(f"{request.service}:{operation}")
            if ctx.is_on("throttle"):
                raise AwsError(_THROTTLED.get(service.name, "ThrottlingException"), "Rate exceeded", status=429)
            response = self._respond(ctx, service, operation, request, request_id, changes)
            outcome = "ok" if response.status < 400 else _error_code(response)
        except AwsError as error:
            response, outcome = serialize_error(request.service, error, request_id), error.code
        except Exception as error:  # noqa: BLE001 - a fault of the twin is the service's 500, and is told in its log
            _LOG.exception("%s:%s failed", request.service, operation)
            internal = AwsError("InternalFailure", f"A fault of the twin: {error!r}", status=500)
            response, outcome = serialize_error(request.service, internal, request_id), internal.code
        took_effect = changes and outcome == "ok" and ctx.outcome.took_effect
        lost = self._log.record(
            call=f"{request.service}:{operation}",
            caller=_caller(request),
            outcome=outcome,
            took_effect=took_effect,
            request_id=request_id,
        )
        if took_effect:
            self._save()
        is_slow = not changes and ctx.is_on("slow_reads")
        effect = f"{request.service}:{operation}" if took_effect else None
        return Answer(response, lost, effect, SLOW_READ_SECONDS if is_slow else 0.0)

    def _respond(
        self, ctx: Context, service: Service, operation: str, request: Request, request_id: str, changes: bool
    ) -> Response:
        handler = OWN.get(service.name, {}).get(operation)
        if handler is None:
            if service.name not in MOTO_SERVICES:
                raise NotInTwin(f"{service.name}:{operation}")
            return self._ask_moto(ctx, operation, request, changes)
        model = service.operation(operation)
        values = parse_params(service, model, request)
        found = violations(model.input_shape, values)
        if found:
            raise AwsError(_INVALID.get(service.name, "ValidationException"), summary(found))
        disturb = Disturbance(ctx.sim.random) if ctx.is_on("hostile") and not changes else None
        return serialize(service, model, handler(ctx, Params(values)), request_id, disturb)

    def _ask_moto(self, ctx: Context, operation: str, request: Request, changes: bool) -> Response:
        if request.service == "ec2" and dict(parse_qsl(request.body.decode())).get("DryRun") == "true":
            # moto carries some dry runs out.
            text = "Request would have succeeded, but DryRun flag is set."
            raise AwsError("DryRunOperation", text, status=412)
        response = ctx.account.call(request, changes=changes)
        if response.status >= 400:
            return response
        if operation == "CreateRole":
            name = dict(parse_qsl(request.body.decode())).get("RoleName", "")
            usable_from = ctx.sim.now + timedelta(seconds=ctx.sim.between(durations.ROLE_PROPAGATION))
            ctx.sim.world.roles_usable_from[name] = usable_from
        if request.service == "sts" and (found := re.search(rb"<AccessKeyId>([^<]+)<", response.body)):
            ctx.sim.world.issued_keys[found[1].decode()] = operation
        return response

    def _service(self, name: str) -> Service:
        if name not in OWN and name not in MOTO_SERVICES:
            raise NotInTwin(f"the service {name}")
        if name not in self._services:
            self._services[name] = load_service(name, OWN.get(name, {}))
        return self._services[name]


def _guess(request: Request) -> str:
    """Whose error form an unsigned request gets."""
    if "x-amz-target" in request.headers:
        return "sagemaker"
    return "ec2" if b"Action=" in request.body else "s3"


def _caller(request: Request) -> str:
    scope = signed_scope(request.headers, request.query)
    agent = request.headers.get("user-agent", "").split(" ")[0]
    return f"{scope.access_key if scope is not None else ''} {agent}".strip()


def _error_code(response: Response) -> str:
    """moto's code, out of XML or JSON."""
    found = re.search(rb"<Code>([^<]+)<|\"__type\":\s*\"([^\"]+)\"", response.body)
    return (found[1] or found[2]).decode() if found else str(response.status)
