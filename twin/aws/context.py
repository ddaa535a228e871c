"""What an operation of the twin may use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

from twin.aws.moto_host import MotoHost
from twin.aws.params import Params, Reply
from twin.world.provisioning import Provisioning
from twin.world.simulation import Simulation
from twin.world.state import ACCOUNT, World
from twin.world.upkeep import Upkeep


@dataclass(slots=True)
class Outcome:
    """Whether a mutating call changed anything; a replay under a known token and a batch of refusals do not."""

    took_effect: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """Handed to every handler, under the simulation's lock."""

    sim: Simulation
    provisioning: Provisioning
    upkeep: Upkeep
    account: MotoHost
    """The rest of the customer's account."""
    endpoint: str
    """`http://127.0.0.1:<port>`, for what carries addresses."""
    seen: World
    """The world as reads see it: `sim.world`, or an older one while reads are stale."""
    is_on: Callable[[str], bool]
    """Whether a fault that lasts is in force."""
    outcome: Outcome = field(default_factory=Outcome)

    def arn(self, service: str, resource: str) -> str:
        return f"arn:aws:{service}:{self.sim.world.region}:{ACCOUNT}:{resource}"


Handler: TypeAlias = Callable[[Context, Params], Reply]
