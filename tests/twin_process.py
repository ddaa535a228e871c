"""A whole twin in this process, on loopback, and the real adapters that talk to it over the wire."""

from __future__ import annotations

import json
import threading
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import boto3

from core.clock import SystemClock
from core.json_value import JsonObject
from tools.clients.aws import BotoAws
from tools.clients.base import Clients
from tools.clients.kubernetes import EksConnector
from twin.kubernetes_half import ServedKubernetes
from twin.server import RunningTwin, TwinConfig, serve
from twin.world.specification import WorldSpec

TOKEN = "TWINTESTTOKEN"
REGION = "us-west-2"
STILL = 0.000001
"""A time factor at which nothing happens by itself: tests advance the clock."""
TAGS = {"muster:managed": "true"}
WORLD = WorldSpec(
    region=REGION,
    zones={
        "usw2-az1": {"ml.p5.48xlarge": 2, "ml.g5.12xlarge": 20},
        "usw2-az2": {"ml.p5.48xlarge": 16, "ml.p4d.24xlarge": 8, "ml.g5.12xlarge": 5},
    },
    quotas={"ml.p5.48xlarge": 16, "ml.g5.12xlarge": 20, "ml.p4d.24xlarge": 8},
)


class TwinClockReader:
    """The twin's time as a `core.clock.Clock`."""

    def __init__(self, running: RunningTwin) -> None:
        self._clock = running.twin.clock

    def now(self) -> datetime:
        return self._clock.now()


class WholeTwin:
    """One twin with clients for it. `reset` gives the next test a fresh world."""

    def __init__(self, running: RunningTwin) -> None:
        self._running = running
        self.endpoint, self.clock = running.endpoint, TwinClockReader(running)
        session = boto3.Session(aws_access_key_id=TOKEN, aws_secret_access_key="unused", region_name=REGION)
        # What waits before it asks again lets the twin's time pass, not ours.
        self.aws = BotoAws(
            session, region=REGION, endpoint_url=running.endpoint, allow_loopback=True, sleep=self.advance
        )
        self.clients = Clients(aws=self.aws, kubernetes=EksConnector(self.aws, self.clock), tags=TAGS)

    def reset(self, world: WorldSpec | None = None, *, seed: int = 0) -> None:
        self._running.twin.reset(world or WORLD, seed)
        self._running.twin.clock.set_factor(STILL)

    def advance(self, seconds: float) -> None:
        self.control("POST", "clock", {"advance_seconds": seconds})

    def effects(self) -> Mapping[str, int]:
        found: dict[str, int] = self.control("GET", "effects")
        return found

    def live(self) -> Any:
        """The `live` block of a scenario, as JSON of any shape."""
        return self.control("GET", "state")

    def break_later(self, *faults: JsonObject) -> None:
        """Arm faults in the words of a scenario."""
        self.control("POST", "faults", list(faults))

    def control(self, method: str, path: str, body: object = None) -> Any:
        request = urllib.request.Request(
            f"{self.endpoint}/_twin/{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"authorization": f"Bearer {TOKEN}"},
        )
        with urllib.request.urlopen(request, timeout=20) as response:
            return json.load(response)


@contextmanager
def whole_twin(folder: Path, *, world: WorldSpec | None = None) -> Iterator[WholeTwin]:
    config = TwinConfig(folder=folder, port=0, token=TOKEN, time_factor=STILL, seed=0, world=world or WORLD)
    ready, found = threading.Event(), list[RunningTwin]()

    def announce(running: RunningTwin) -> None:
        found.append(running)
        ready.set()

    def run() -> None:
        serve(config, clock=SystemClock(), on_ready=announce, make_kubernetes=ServedKubernetes)

    thread = threading.Thread(target=run, name="twin")
    thread.start()
    assert ready.wait(30), "the twin did not come up"
    try:
        yield WholeTwin(found[0])
    finally:
        found[0].stop()
        thread.join(30)
