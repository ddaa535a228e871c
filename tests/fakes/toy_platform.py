"""A tiny platform with the habits that make effects hard: no idempotency by name, lists that lag, lost answers.

Its state is a list of lines, in memory or in a file that several processes share: one line per call that took
effect, which is what duplicates and losses are counted in.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import timedelta
from enum import StrEnum
from pathlib import Path

from core.clock import Clock
from core.json_value import JsonObject
from core.messages.message import message
from core.reasons import FailureClass
from tests.fakes.clock import FakeClock
from tools.clients.base import Clients, KubernetesClient
from tools.errors import OutcomeUnknown, RejectedByPlatform, RetryableToolError, ToolError


class Fault(StrEnum):
    THROTTLED = "throttled"
    REJECTED = "rejected"
    LOST_REQUEST = "lost_request"
    """The answer is missing and nothing happened."""
    LOST_RESPONSE = "lost_response"
    """The answer is missing and it happened."""


def nothing(event: str) -> None:
    """The default of `FakePlatform.watch`."""


class FakePlatform:
    """An `AwsClient`. Operations of the service `things`:

    `Create` makes one more thing, whatever its name; `CreateOnce` answers a known token as the first time;
    `Add` raises the number of units; `Buy` spends money; `List` shows everything at once, but for what
    `CreateSlowly` made, which it shows `lag` later.
    """

    region, account, is_local = "us-west-2", "123456789012", True

    def __init__(self, clock: Clock | None = None, path: Path | None = None, *, lag: timedelta = timedelta()) -> None:
        self.clock = clock or FakeClock()
        self.lag = lag
        self.faults: dict[str, list[Fault]] = {}
        """Operation -> what its next calls meet, one fault each."""
        self.calls: list[str] = []
        """Every operation that was called, whether it took effect or not."""
        self.watch: Callable[[str], None] = nothing
        """Told before and after each call that changes something: `before:Create`, `after:Create`."""
        self._path, self._lines = path, list[JsonObject]()

    def call(self, service: str, operation: str, params: JsonObject) -> JsonObject:
        self.calls.append(operation)
        if operation == "List":
            return {"things": [effect for effect in self.effects() if self._is_shown(effect)]}
        fault = self.faults.get(operation, [None]).pop(0) if self.faults.get(operation) else None
        if fault in {Fault.THROTTLED, Fault.REJECTED, Fault.LOST_REQUEST}:
            raise _error(operation, fault)
        self.watch(f"before:{operation}")
        result = self._change(operation, params)
        self.watch(f"after:{operation}")
        if fault is Fault.LOST_RESPONSE:
            raise _error(operation, fault)
        return result

    def pages(self, service: str, operation: str, params: JsonObject, key: str) -> Iterator[JsonObject]:
        raise NotImplementedError

    def effects(self) -> list[JsonObject]:
        """Every call that took effect, oldest first."""
        if self._path is None:
            return list(self._lines)
        return [json.loads(line) for line in self._path.read_text().splitlines()] if self._path.exists() else []

    def counts(self) -> Counter[str]:
        """How often each operation took effect, by operation and name."""
        return Counter(f"{effect['operation']} {effect['name']}" for effect in self.effects())

    def clients(self) -> Clients:
        return Clients(aws=self, kubernetes=NoKubernetes(), tags={})

    def _change(self, operation: str, params: JsonObject) -> JsonObject:
        known = self.effects()
        if operation == "CreateOnce":
            for effect in known:
                if effect["token"] == params["token"]:
                    return {"id": effect["id"]}
        effect = {**params, "operation": operation, "id": f"thing-{len(known) + 1}", "at": self.clock.now().timestamp()}
        if self._path is None:
            self._lines.append(effect)
        else:
            self._append(self._path, effect)
        return {"id": effect["id"]}

    def _is_shown(self, effect: JsonObject) -> bool:
        if effect["operation"] != "CreateSlowly":
            return True
        at = effect["at"]
        assert isinstance(at, float)
        return at <= (self.clock.now() - self.lag).timestamp()

    def _append(self, path: Path, effect: JsonObject) -> None:
        """One write call, so that a killed process leaves a whole line or none."""
        descriptor = os.open(path, os.O_CREAT | os.O_APPEND | os.O_WRONLY)
        os.write(descriptor, (json.dumps(effect) + "\n").encode())
        os.close(descriptor)


class NoKubernetes:
    def connect(self, eks_cluster_name: str) -> KubernetesClient:
        raise NotImplementedError("the fake platform has no Kubernetes")


def _error(operation: str, fault: Fault) -> ToolError:
    kinds = {Fault.THROTTLED: RetryableToolError, Fault.REJECTED: RejectedByPlatform}
    classes = {Fault.REJECTED: FailureClass.QUOTA}
    return kinds.get(fault, OutcomeUnknown)(
        message("general.text", text=f"{operation}: {fault.value}."),
        call=f"things:{operation}",
        failure_class=classes.get(fault, FailureClass.TRANSIENT),
        code=fault.value,
        raw=f"raw text of {fault.value}",
    )
