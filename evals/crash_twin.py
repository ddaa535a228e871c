"""A twin in a process of its own for measurements: it is reset between two plays, and its clock stands still."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from core.json_value import JsonObject, JsonValue
from interfaces.settings import inherited_environment
from twin.world.specification import WorldSpec

TOKEN = "TWINMEASURED"
STILL = 0.000001
"""Factor at which nothing happens by itself: whoever waits advances the clock."""
_READY = "twin ready at "
_ANSWER_SECONDS = 60.0
_END_SECONDS = 20.0
_PAUSE_SECONDS, _MOST_PAUSES = 300.0, 24


class TwinControl:
    """The twin's control endpoint."""

    def __init__(self, endpoint: str) -> None:
        self.endpoint = endpoint

    def reset(self, world: WorldSpec, *, seed: int) -> None:
        body: JsonObject = {"world": world.model_dump(mode="json"), "seed": seed, "time_factor": STILL}
        self._ask("POST", "reset", body)

    def effects(self) -> Counter[str]:
        """Call -> how often it took effect since the reset."""
        return Counter({call: int(str(count)) for call, count in self._ask("GET", "effects").items()})

    def live(self) -> JsonObject:
        return self._ask("GET", "state")

    def settle(self) -> None:
        """Lets go on until nothing moves any more, or for two hours: nodes that are ending take their time."""
        for _ in range(_MOST_PAUSES):
            if self._ask("GET", "quiet")["quiet"] is True:
                return
            self.advance(_PAUSE_SECONDS)

    def now(self) -> datetime:
        return _moment(self._ask("GET", "clock"))

    def advance(self, seconds: float) -> datetime:
        return _moment(self._ask("POST", "clock", {"advance_seconds": seconds}))

    def _ask(self, method: str, path: str, body: JsonObject | None = None) -> JsonObject:
        request = urllib.request.Request(
            f"{self.endpoint}/_twin/{path}",
            method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"authorization": f"Bearer {TOKEN}"},
        )
        with urllib.request.urlopen(request, timeout=_ANSWER_SECONDS) as response:
            answer: JsonValue = json.load(response)
        if not isinstance(answer, dict):
            raise ValueError(f"the twin answered {path} with {answer!r}")
        return answer


class TwinTime:
    """The twin's time for one process. It moves only when this process advances it, so it need not be asked for."""

    def __init__(self, control: TwinControl) -> None:
        self._control = control
        self._now = control.now()

    def now(self) -> datetime:
        return self._now

    def refresh(self) -> None:
        """Another process may have moved it: said once, when this one begins."""
        self._now = self._control.now()

    def advance(self, seconds: float) -> None:
        self._now = self._control.advance(seconds)


@contextmanager
def running_twin() -> Iterator[tuple[TwinControl, Path]]:
    """A twin and a folder beside it, both gone afterwards. In memory where the machine can: nothing here has to
    survive a power cut, and a killed process loses nothing that the system holds."""
    memory = Path("/dev/shm")
    with TemporaryDirectory(dir=memory if os.access(memory, os.W_OK) else None, prefix="muster-crash-") as name:
        folder = Path(name)
        with (folder / "twin.log").open("wb") as log:
            process = subprocess.Popen(_command(folder), env=_environment(folder), stdout=subprocess.PIPE, stderr=log)
        try:
            assert process.stdout is not None
            line = process.stdout.readline().decode()
            if not line.startswith(_READY):
                raise RuntimeError(f"the twin did not start: {(folder / 'twin.log').read_text()[-2000:]}")
            yield TwinControl(line.removeprefix(_READY).strip()), folder
        finally:
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Asked first, so that it ends its own processes; a twin that hangs must not cost what was measured."""
    process.terminate()
    try:
        process.wait(_END_SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _command(folder: Path) -> list[str]:
    given = {"--folder": folder / "twin", "--token": TOKEN, "--time-factor": f"{STILL:f}"}
    options = [str(part) for pair in given.items() for part in pair]
    return [sys.executable, "-P", "-m", "interfaces.bootstrap.twin", *options]


def _environment(folder: Path) -> dict[str, str]:
    return inherited_environment() | {"AWS_EC2_METADATA_DISABLED": "true", "AWS_CONFIG_FILE": str(folder / "nowhere")}


def _moment(answer: JsonObject) -> datetime:
    return datetime.fromisoformat(str(answer["now"]))
