"""The control endpoint: what a test or an operator of the twin does to it from outside.

GET  /_twin/state      what lives, in the words of a scenario's `live` block
GET  /_twin/quiet      {quiet, moving}: whether anything still moves, and what; a pending job may start at the
                       scheduler's next round, so ask twice, a second apart
GET  /_twin/requests   ?since=N: the request log
GET  /_twin/effects    call -> how often it took effect
GET  /_twin/clock      POST {factor?, advance_seconds?}
POST /_twin/reset      {world?, seed?, time_factor?}
GET  /_twin/faults     every fault that was armed, with when it fired
POST /_twin/faults     a list of faults (`twin.faults.FaultSpec`)
GET  /_twin/holds      answers kept back: {armed, held}
POST /_twin/holds      {call}: keep the next answer of that call back once it has taken effect
POST /_twin/release    let all of them go
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Annotated, TypeVar
from urllib.parse import parse_qs

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from twin.assembly import Twin
from twin.faults import FaultSpec
from twin.live import live_state
from twin.world.specification import WorldSpec

B = TypeVar("B", bound=BaseModel)


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ClockChange(_Body):
    factor: Annotated[float | None, Field(gt=0)] = None
    advance_seconds: Annotated[float, Field(ge=0)] = 0


class Reset(_Body):
    world: WorldSpec | None = None
    """`None` = the same world again."""
    seed: int | None = None
    time_factor: Annotated[float | None, Field(gt=0)] = None


class Hold(_Body):
    call: Annotated[str, Field(pattern=r"^[a-z0-9-]+:[A-Za-z0-9]+(:[a-z/]+)?$")]
    """`sagemaker:CreateCluster`, `k8s:create:hyperpodpytorchjobs`."""


class Control:
    """Answers with a status and a JSON value; a bad body is 400 and changes nothing."""

    def __init__(self, twin: Twin) -> None:
        self._twin = twin
        self._routes: Mapping[tuple[str, str], Callable[[Mapping[str, str], bytes], object]] = {
            ("GET", "/_twin/state"): self._state,
            ("GET", "/_twin/quiet"): self._quiet,
            ("GET", "/_twin/requests"): self._requests,
            ("GET", "/_twin/effects"): lambda query, body: self._twin.log.effects(),
            ("GET", "/_twin/clock"): self._clock,
            ("POST", "/_twin/clock"): self._set_clock,
            ("POST", "/_twin/reset"): self._reset,
            ("GET", "/_twin/holds"): lambda query, body: self._twin.holds.shown(),
            ("POST", "/_twin/holds"): self._hold,
            ("POST", "/_twin/release"): lambda query, body: {"released": self._twin.holds.release()},
            ("GET", "/_twin/faults"): self._faults,
            ("POST", "/_twin/faults"): self._arm,
        }

    def __call__(self, method: str, path: str, query: str, body: bytes) -> tuple[int, object]:
        route = self._routes.get((method, path.rstrip("/")))
        if route is None:
            return 404, {"error": f"no {method} {path}", "routes": [" ".join(key) for key in self._routes]}
        try:
            return 200, route({key: values[0] for key, values in parse_qs(query).items()}, body)
        except ValidationError as error:
            return 400, {"error": json.loads(error.json(include_url=False, include_input=False))}
        except ValueError as error:
            return 400, {"error": str(error)}

    def _state(self, query: Mapping[str, str], body: bytes) -> object:
        del query, body
        with self._twin.lock:
            self._twin.advance()
            return live_state(self._twin.sim.world, self._twin.kubernetes.workloads, self._twin.zones_of)

    def _quiet(self, query: Mapping[str, str], body: bytes) -> object:
        del query, body
        with self._twin.lock:
            self._twin.advance()
            moving = self._twin.movements()
        return {"quiet": not moving, "moving": moving}

    def _requests(self, query: Mapping[str, str], body: bytes) -> object:
        del body
        entries, following = self._twin.log.entries(int(query.get("since", "0")))
        return {"entries": [entry.to_json() for entry in entries], "next": following}

    def _clock(self, query: Mapping[str, str], body: bytes) -> object:
        del query, body
        clock = self._twin.clock
        return {"now": clock.now().isoformat(), "factor": clock.factor}

    def _set_clock(self, query: Mapping[str, str], body: bytes) -> object:
        change = _parsed(ClockChange, body)
        with self._twin.lock:
            self._twin.advance()
            if change.factor is not None:
                self._twin.clock.set_factor(change.factor)
            self._twin.clock.advance(change.advance_seconds)
            self._twin.advance()
        return self._clock(query, b"")

    def _hold(self, query: Mapping[str, str], body: bytes) -> object:
        del query
        self._twin.holds.arm(_parsed(Hold, body).call)
        return self._twin.holds.shown()

    def _reset(self, query: Mapping[str, str], body: bytes) -> object:
        reset = _parsed(Reset, body)
        self._twin.reset(reset.world, reset.seed)
        if reset.time_factor is not None:
            self._twin.clock.set_factor(reset.time_factor)
        return self._clock(query, b"")

    def _faults(self, query: Mapping[str, str], body: bytes) -> object:
        del query, body
        with self._twin.lock:
            return [
                {**fault.spec, "number": fault.number, "problem": fault.problem, "fired_at": _text(fault.fired_at)}
                for fault in self._twin.sim.world.faults
            ]

    def _arm(self, query: Mapping[str, str], body: bytes) -> object:
        specs = _FAULTS.validate_json(body)
        with self._twin.lock:
            self._twin.faults.arm(specs)
        return self._faults(query, b"")


_FAULTS = TypeAdapter(list[FaultSpec])


def _text(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment is not None else None


def _parsed(kind: type[B], body: bytes) -> B:
    return kind.model_validate_json(body or b"{}")
