"""The sample training script: its checkpoints, and that an interruption changes nothing of the result."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from twin.sample_job.checkpoints import load_newest, save
from twin.sample_job.collective import connect
from twin.sample_job.train import main


def test_the_newest_checkpoint_is_loaded(tmp_path: Path) -> None:
    save(tmp_path, np.ones((2, 2)), 10, keep=3)
    save(tmp_path, np.full((2, 2), 2.0), 20, keep=3)

    found = load_newest(tmp_path)

    assert found is not None
    assert found[1] == 20
    assert found[0].tolist() == [[2.0, 2.0], [2.0, 2.0]]


def test_old_checkpoints_are_dropped(tmp_path: Path) -> None:
    for step in (1, 2, 3, 4):
        save(tmp_path, np.ones(1), step, keep=2)

    assert sorted(path.name for path in tmp_path.iterdir()) == ["step-00000003.ckpt", "step-00000004.ckpt"]


@pytest.mark.parametrize("kept_bytes", [0, 10, 40, 200])
def test_a_torn_checkpoint_is_passed_over(tmp_path: Path, kept_bytes: int) -> None:
    save(tmp_path, np.ones((2, 2)), 10, keep=3)
    torn = save(tmp_path, np.zeros((2, 2)), 20, keep=3)
    torn.write_bytes(torn.read_bytes()[:kept_bytes])

    found = load_newest(tmp_path)

    assert found is not None
    assert found[1] == 10


def test_without_a_checkpoint_there_is_nothing_to_load(tmp_path: Path) -> None:
    assert load_newest(tmp_path / "none") is None


def test_a_resumed_run_ends_like_one_that_was_not_interrupted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in {"RANK": "0", "WORLD_SIZE": "1", "MASTER_PORT": "0"}.items():
        monkeypatch.setenv(name, value)
    quick = ("--step-seconds", "0", "--checkpoint-every", "4", "--checkpoint-dir")
    main(["--steps", "12", *quick, str(tmp_path / "calm")])
    calm = capsys.readouterr().out

    main(["--steps", "6", *quick, str(tmp_path / "broken")])
    main(["--steps", "12", *quick, str(tmp_path / "broken")])
    resumed = capsys.readouterr().out

    assert "resumed from step 6" in resumed
    assert calm.splitlines()[-3].startswith("step 12 loss ")
    assert calm.splitlines()[-3] == resumed.splitlines()[-3]


def test_a_rank_that_is_alone_gives_up_at_the_deadline() -> None:
    with pytest.raises(TimeoutError, match="ranks \\[1\\]"), connect(0, 2, ("127.0.0.1", 0), deadline_seconds=0.1):
        pass
