"""Which model checkpoint a job is resumed from: the newest complete one, in the order memory, FSx, S3.

A torn checkpoint (shards missing, another size than recorded, no completion mark) is never picked: a job that
resumes from it fails again, or trains on nonsense. Tiers: SageMaker HyperPod managed tiered checkpointing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from core.messages.message import Message, message


class CheckpointTier(StrEnum):
    """Fastest first: at the same training step the earlier tier is read."""

    MEMORY = "memory"
    FSX = "fsx"
    S3 = "s3"


_TIER_ORDER = {tier: position for position, tier in enumerate(CheckpointTier)}


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointShard:
    """One rank's part. `bytes_recorded` is what the writer noted, `bytes_found` what is there now."""

    rank: int
    bytes_recorded: int
    bytes_found: int
    hosts: frozenset[str] = frozenset()
    """Memory tier: the nodes that hold a copy. Empty elsewhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCheckpoint:
    training_step: int
    tier: CheckpointTier
    location: str
    world_size: int
    shards: tuple[CheckpointShard, ...]
    is_marked_complete: bool
    """The writer's own mark: the metadata file, written last."""
    saved_at: datetime | None = None


class CheckpointFlaw(StrEnum):
    NOT_MARKED_COMPLETE = "not_marked_complete"
    SHARD_MISSING = "shard_missing"
    SHARD_TORN = "shard_torn"
    SHARD_LOST_WITH_NODE = "shard_lost_with_node"
    EMPTY = "empty"


@dataclass(frozen=True, slots=True, kw_only=True)
class PassedOver:
    """A checkpoint that was not taken although it is newer, and why."""

    checkpoint: ModelCheckpoint
    flaw: CheckpointFlaw

    def explain(self) -> Message:
        return message(
            f"health.checkpoint_{self.flaw}", step=self.checkpoint.training_step, location=self.checkpoint.location
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckpointChoice:
    chosen: ModelCheckpoint | None
    """None: the job has to start anew, which only a person may decide."""
    passed_over: tuple[PassedOver, ...]


def choose_checkpoint(
    checkpoints: Iterable[ModelCheckpoint], *, lost_hosts: frozenset[str] = frozenset()
) -> CheckpointChoice:
    """The newest whole checkpoint. `lost_hosts`: nodes whose memory is gone (rebooted, replaced or off)."""
    ordered = sorted(checkpoints, key=lambda one: (-one.training_step, _TIER_ORDER[one.tier], one.location))
    passed: list[PassedOver] = []
    for checkpoint in ordered:
        flaw = flaw_of(checkpoint, lost_hosts)
        if flaw is None:
            return CheckpointChoice(chosen=checkpoint, passed_over=tuple(passed))
        passed.append(PassedOver(checkpoint=checkpoint, flaw=flaw))
    return CheckpointChoice(chosen=None, passed_over=tuple(passed))


def flaw_of(checkpoint: ModelCheckpoint, lost_hosts: frozenset[str] = frozenset()) -> CheckpointFlaw | None:
    """What keeps a checkpoint from being read whole; None when nothing does."""
    if checkpoint.world_size < 1 or not checkpoint.shards:
        return CheckpointFlaw.EMPTY
    if not checkpoint.is_marked_complete:
        return CheckpointFlaw.NOT_MARKED_COMPLETE
    if {shard.rank for shard in checkpoint.shards} != set(range(checkpoint.world_size)):
        return CheckpointFlaw.SHARD_MISSING
    for shard in checkpoint.shards:
        if shard.bytes_found != shard.bytes_recorded or shard.bytes_found <= 0:
            return CheckpointFlaw.SHARD_TORN
        if checkpoint.tier is CheckpointTier.MEMORY and not shard.hosts - lost_hosts:
            return CheckpointFlaw.SHARD_LOST_WITH_NODE
    return None
