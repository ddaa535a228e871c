"""Which model checkpoint a job resumes from."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.health.model_checkpoints import (
    CheckpointFlaw,
    CheckpointShard,
    CheckpointTier,
    ModelCheckpoint,
    choose_checkpoint,
    flaw_of,
)

MEMORY, FSX, S3 = CheckpointTier.MEMORY, CheckpointTier.FSX, CheckpointTier.S3


def shard(rank: int, **changes: object) -> CheckpointShard:
    whole = CheckpointShard(rank=rank, bytes_recorded=9, bytes_found=9, hosts=frozenset({f"n{rank}", f"n{rank + 1}"}))
    return replace(whole, **changes)  # type: ignore[arg-type]


def saved(step: int, tier: CheckpointTier = FSX, **changes: object) -> ModelCheckpoint:
    checkpoint = ModelCheckpoint(
        training_step=step,
        tier=tier,
        location=f"{tier}/{step}",
        world_size=2,
        shards=(shard(0), shard(1)),
        is_marked_complete=True,
    )
    return replace(checkpoint, **changes)  # type: ignore[arg-type]


def test_the_newest_whole_checkpoint_is_taken() -> None:
    assert choose_checkpoint([saved(10), saved(30), saved(20)]).chosen == saved(30)


def test_at_the_same_step_memory_comes_before_fsx_before_s3() -> None:
    assert choose_checkpoint([saved(10, S3), saved(10, FSX), saved(10, MEMORY)]).chosen == saved(10, MEMORY)
    assert choose_checkpoint([saved(10, S3), saved(10, FSX)]).chosen == saved(10, FSX)


def test_a_newer_step_in_a_slower_tier_beats_an_older_one_in_memory() -> None:
    assert choose_checkpoint([saved(10, MEMORY), saved(20, S3)]).chosen == saved(20, S3)


@pytest.mark.parametrize(
    ("torn", "flaw"),
    [
        (saved(30, is_marked_complete=False), CheckpointFlaw.NOT_MARKED_COMPLETE),
        (saved(30, shards=(shard(0),)), CheckpointFlaw.SHARD_MISSING),
        (saved(30, shards=(shard(0), shard(1, bytes_found=8))), CheckpointFlaw.SHARD_TORN),
        (saved(30, shards=(shard(0), shard(1, bytes_found=0, bytes_recorded=0))), CheckpointFlaw.SHARD_TORN),
        (saved(30, shards=()), CheckpointFlaw.EMPTY),
        (saved(30, world_size=-1), CheckpointFlaw.EMPTY),
    ],
    ids=lambda value: value.value if isinstance(value, CheckpointFlaw) else "",
)
def test_a_torn_checkpoint_is_passed_over_with_its_flaw(torn: ModelCheckpoint, flaw: CheckpointFlaw) -> None:
    choice = choose_checkpoint([torn, saved(10)])

    assert choice.chosen == saved(10)
    assert [passed.flaw for passed in choice.passed_over] == [flaw]
    assert "30" in choice.passed_over[0].explain().english()


def test_memory_that_went_with_its_node_is_not_picked_unless_a_neighbour_holds_a_copy() -> None:
    in_memory = saved(30, MEMORY)

    assert flaw_of(in_memory, frozenset({"n0"})) is None
    assert flaw_of(in_memory, frozenset({"n0", "n1"})) is CheckpointFlaw.SHARD_LOST_WITH_NODE


def test_without_a_whole_checkpoint_nothing_is_chosen() -> None:
    assert choose_checkpoint([saved(30, is_marked_complete=False)]).chosen is None


checkpoints = st.builds(
    saved,
    st.integers(min_value=-5, max_value=5),
    st.sampled_from(CheckpointTier),
    is_marked_complete=st.booleans(),
    world_size=st.integers(min_value=0, max_value=3),
)


@given(st.lists(checkpoints, max_size=8), st.sets(st.sampled_from(["n0", "n1", "n2"])))
def test_what_is_chosen_is_never_torn_and_nothing_newer_was_whole(found: list[ModelCheckpoint], lost: set[str]) -> None:
    chosen = choose_checkpoint(found, lost_hosts=frozenset(lost)).chosen
    whole = [one for one in found if flaw_of(one, frozenset(lost)) is None]

    assert (chosen is None) == (not whole)
    if chosen is not None:
        assert flaw_of(chosen, frozenset(lost)) is None
        assert chosen.training_step == max(one.training_step for one in whole)
