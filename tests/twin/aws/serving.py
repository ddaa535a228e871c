"""A twin of this process, reached over loopback with real boto3 clients."""

from __future__ import annotations

import json
import threading
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import boto3
from botocore.config import Config

from core.clock import SystemClock
from tests.fakes.orchestration import FakeKubernetes
from twin.aws.api import OWN
from twin.aws.validation import violations
from twin.server import RunningTwin, TwinConfig, serve
from twin.world.specification import WorldSpec

TOKEN = "TWINTESTTOKEN"
REGION = "us-west-2"
SLOW = 0.000001
"""A time factor at which nothing happens by itself: tests advance the clock."""


class TwinUnderTest:
    """Clients of one twin, and its control endpoint. boto3's clients and answers are untyped, hence `Any`."""

    def __init__(self, running: RunningTwin) -> None:
        self.running, self.endpoint = running, running.endpoint
        self.is_hostile = False
        """Answers may break the model: a test says so."""
        self._clients: dict[tuple[str, str], Any] = {}

    def client(self, service: str, *, key: str = TOKEN, region: str = REGION) -> Any:
        if key != TOKEN or region != REGION:
            return self._new_client(service, key, region)
        found = self._clients.get((service, key))
        if found is None:
            found = self._clients[service, key] = self._new_client(service, key, region)
        return found

    def control(self, method: str, path: str, body: object = None, *, token: str = TOKEN) -> Any:
        request = urllib.request.Request(
            f"{self.endpoint}/_twin/{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"authorization": f"Bearer {token}"},
        )
        with urllib.request.urlopen(request, timeout=10) as response:
            return json.load(response)

    def advance(self, minutes: float) -> None:
        self.control("POST", "clock", {"advance_seconds": minutes * 60})

    def reset(self, world: WorldSpec | None = None, seed: int = 0) -> None:
        self.running.twin.reset(world or WORLD, seed)
        self.running.twin.clock.set_factor(SLOW)

    def effects(self) -> dict[str, int]:
        found: dict[str, int] = self.control("GET", "effects")
        return found

    def _new_client(self, service: str, key: str, region: str) -> Any:
        client = boto3.client(
            service,
            endpoint_url=self.endpoint,
            region_name=region,
            aws_access_key_id=key,
            aws_secret_access_key="unused",
            config=Config(retries={"total_max_attempts": 1}, connect_timeout=5, read_timeout=20),
        )
        if service in OWN:
            client.meta.events.register("after-call", self._check_answer)
        return client

    def _check_answer(self, parsed: dict[str, Any], model: Any, **_: object) -> None:
        """Every answer of the twin's own services keeps the service's model, as a request must."""
        if "Error" in parsed or self.is_hostile:
            return
        answer = {key: value for key, value in parsed.items() if key != "ResponseMetadata"}
        if model.output_shape is not None and model.name in OWN[model.service_model.service_name]:
            broken = violations(model.output_shape, _as_sent(answer))
            assert broken == [], f"{model.name}: {broken}"


WORLD = WorldSpec(
    region=REGION,
    zones={
        "usw2-az1": {"ml.p5.48xlarge": 2, "ml.g5.12xlarge": 20},
        "usw2-az2": {"ml.p5.48xlarge": 16, "ml.g5.12xlarge": 5},
    },
    quotas={"ml.p5.48xlarge": 16, "ml.g5.12xlarge": 20},
)


@contextmanager
def serving(config: TwinConfig) -> Iterator[TwinUnderTest]:
    """A twin of this process, served from a thread. moto's state is one per process: use one at a time."""
    ready, found = threading.Event(), []

    def announce(running: RunningTwin) -> None:
        found.append(running)
        ready.set()

    def run() -> None:
        serve(config, clock=SystemClock(), on_ready=announce, make_kubernetes=FakeKubernetes)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        assert ready.wait(20)
        yield TwinUnderTest(found[0])
    finally:
        for running in found:
            running.stop()
        thread.join(20)


def _as_sent(value: Any) -> Any:
    """Moments as the wire's epoch seconds, integral floats as the integers that the model wants."""
    match value:
        case dict():
            return {key: _as_sent(item) for key, item in value.items()}
        case list():
            return [_as_sent(item) for item in value]
        case datetime():
            return value.timestamp()
        case _:
            return value
