"""The runner's hand on its twin: the control endpoint, typed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import httpx

from core.json_value import JsonObject, JsonValue
from core.reasons import WhoActs
from interfaces.bootstrap.servers import ServerRecord

_SECONDS = 60.0


class TwinRefused(RuntimeError):
    """The control endpoint did not take what it was given, or gives no answer."""

    who_acts = WhoActs.OPERATOR


@dataclass(frozen=True, slots=True, kw_only=True)
class TwinTime:
    now: datetime
    factor: float


class ScenarioTwin:
    """Every method raises `TwinRefused`."""

    def __init__(self, server: ServerRecord) -> None:
        self._client = httpx.Client(
            base_url=f"{server.endpoint}/_twin",
            headers={"authorization": f"Bearer {server.token}"},
            timeout=_SECONDS,
            trust_env=False,
        )

    def reset(self, world: JsonObject, *, seed: int, factor: float) -> TwinTime:
        return _time(self._ask("POST", "reset", {"world": world, "seed": seed, "time_factor": factor}))

    def advance(self, seconds: float) -> TwinTime:
        return _time(self._ask("POST", "clock", {"advance_seconds": seconds}))

    def time(self) -> TwinTime:
        return _time(self._ask("GET", "clock"))

    def state(self) -> JsonObject:
        """As a scenario's `live` block names things."""
        return _object(self._ask("GET", "state"))

    def moving(self) -> tuple[str, ...]:
        """What keeps the twin from being quiet."""
        return tuple(str(item) for item in _list(_object(self._ask("GET", "quiet")).get("moving")))

    def effects(self) -> Mapping[str, int]:
        """Call -> how often it took effect, whoever sent it."""
        found = _object(self._ask("GET", "effects"))
        return {call: count for call, count in found.items() if isinstance(count, int)}

    def arm(self, faults: Sequence[JsonObject]) -> None:
        self._ask("POST", "faults", list(faults))

    def faults(self) -> Sequence[JsonObject]:
        """All that were armed, with `fired_at` and `problem`."""
        return [_object(item) for item in _list(self._ask("GET", "faults"))]

    def hold(self, call: str) -> None:
        """Keep the next answer of `call` back once it has taken effect."""
        self._ask("POST", "holds", {"call": call})

    def held(self) -> tuple[str, ...]:
        return tuple(str(call) for call in _list(_object(self._ask("GET", "holds")).get("held")))

    def release(self) -> None:
        self._ask("POST", "release", {})

    def close(self) -> None:
        self._client.close()

    def _ask(self, method: str, path: str, body: JsonValue = None) -> JsonValue:
        try:
            response = self._client.request(method, f"/{path}", json=body)
        except httpx.HTTPError as error:
            raise TwinRefused(f"{method} {path}: {str(error) or type(error).__name__}") from error
        if response.status_code != 200:
            raise TwinRefused(f"{method} {path}: {response.status_code} {response.text[:500]}")
        answer: JsonValue = response.json()
        return answer


def _time(answer: JsonValue) -> TwinTime:
    data = _object(answer)
    factor = data["factor"]
    if not isinstance(factor, int | float):
        raise TwinRefused(f"not a factor: {factor!r}")
    return TwinTime(now=datetime.fromisoformat(str(data["now"])), factor=float(factor))


def _object(value: JsonValue) -> JsonObject:
    if not isinstance(value, Mapping):
        raise TwinRefused(f"not an object: {value!r}")
    return value


def _list(value: JsonValue) -> Sequence[JsonValue]:
    return value if isinstance(value, Sequence) and not isinstance(value, str) else ()
