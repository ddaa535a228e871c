"""What is read out of a training script's output."""

from __future__ import annotations

import pytest

from workflows.catalogue.submit_job.progress import TrainingProgress, newest_progress


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        pytest.param("step 3 loss 2.125", TrainingProgress(3, "2.125"), id="plain"),
        pytest.param("step 1 loss 9\nstep 2 loss 8\nsaved", TrainingProgress(2, "8"), id="newest line that tells"),
        pytest.param(
            "Step: 10/500 | lr 1e-4 | Loss: 1.5e-3", TrainingProgress(10, "1.5e-3", 500), id="with the last step"
        ),
        pytest.param("iteration=7 of 9, loss=nan", TrainingProgress(7, "nan", 9), id="loss lost"),
        pytest.param("epoch 3 done", None, id="no step"),
        pytest.param("footstep 3 lossless 2", None, id="words that only contain them"),
        pytest.param("", None, id="nothing"),
    ],
)
def test_the_newest_step_and_loss_are_found(log: str, expected: TrainingProgress | None) -> None:
    assert newest_progress(log) == expected
