"""A verdict about utilisation: the cause, what it was seen in, and what would settle it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from core.health.utilisation.facts import Fact, Sample
from core.messages.message import Message, message


class UtilisationCause(StrEnum):
    """In the order in which they are asked: an earlier one makes the later ones pointless."""

    NOT_VISIBLE = "not_visible"
    WAITING_QUOTA = "waiting_quota"
    WAITING_HEALTH = "waiting_health"
    """Free GPUs are on nodes that are out of service."""
    WAITING_FRAGMENTED = "waiting_fragmented"
    NOT_REQUESTED = "not_requested"
    """GPUs are free and nobody waits."""
    IDLE = "idle"
    """Allocated, and nothing runs on them."""
    NETWORK = "network"
    """GPUs spin in collectives: full utilisation, no tensor work, low power."""
    CPU_BINDING = "cpu_binding"
    DATA = "data"
    CHECKPOINT = "checkpoint"
    THROTTLING = "throttling"
    GPU_FAULT = "gpu_fault"
    SLOW_RANK = "slow_rank"
    BADPUT = "badput"


@dataclass(frozen=True, slots=True, kw_only=True)
class MetricEvidence:
    """One figure that speaks for a verdict."""

    fact: Fact
    value: float
    threshold: float
    where: str
    """Node, pod, queue or job."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UtilisationVerdict:
    cause: UtilisationCause
    evidence: tuple[MetricEvidence, ...]
    missing: tuple[Fact, ...] = ()
    """With `not_visible`: what could not be seen."""

    @property
    def message(self) -> Message:
        places = dict.fromkeys(one.where for one in self.evidence if one.where)
        names = [fact.value for fact in self.missing]
        return message(f"health.util_{self.cause}", where=", ".join(names or [*places][:_SHOWN]) or "-")

    @property
    def settled_by(self) -> Message:
        """The cheapest next test."""
        return message(f"health.settle_{self.cause}")


_SHOWN = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class UtilisationReport:
    """Every verdict that holds, in the fixed order."""

    verdicts: tuple[UtilisationVerdict, ...]
    missing: tuple[Fact, ...]

    @property
    def leading(self) -> UtilisationVerdict | None:
        """The first cause that was seen; `not_visible` only where nothing else was. None = nothing found, all seen."""
        seen = [verdict for verdict in self.verdicts if verdict.cause is not UtilisationCause.NOT_VISIBLE]
        return next(iter(seen or self.verdicts), None)


def evidence(fact: Fact, samples: tuple[Sample, ...], threshold: float) -> tuple[MetricEvidence, ...]:
    return tuple(
        MetricEvidence(fact=fact, value=sample.value, threshold=threshold, where=place_of(sample)) for sample in samples
    )


def place_of(sample: Sample) -> str:
    host = sample.label("Hostname", "instance", "node", "exported_instance")
    device = sample.label("gpu", "device")
    owner = sample.label("pod", "cluster_queue", "job_name", "FileSystemId")
    return "/".join(part for part in (host, device) if part) or owner
