"""A user's data-parallel training script: softmax regression on made-up data, in numpy alone.

It knows nothing of Muster: RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT come from the launcher, gradients are
summed over sockets, and a checkpoint lets an interrupted run end with the same loss as an uninterrupted one.

SIGUSR1 spoils this rank's next gradient, as a bad batch or a failing device does.

    python -m twin.sample_job.train --steps 50 --checkpoint-dir /fsx/checkpoints/demo
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from twin.sample_job.checkpoints import load_newest, save
from twin.sample_job.collective import Collective, connect

FEATURES, CLASSES, BATCH_PER_STEP = 32, 10, 240
LEARNING_RATE = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    steps: int
    step_seconds: float
    checkpoint_dir: Path
    checkpoint_every: int
    keep: int
    seed: int
    connect_seconds: float


def main(arguments: list[str] | None = None) -> int:
    options = parse(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    rank, world = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))
    address = (os.environ.get("MASTER_ADDR", "127.0.0.1"), int(os.environ.get("MASTER_PORT", "29500")))
    print(f"rank {rank} of {world} starting, rendezvous at {address[0]}:{address[1]}", flush=True)
    with connect(rank, world, address, options.connect_seconds) as collective:
        train(options, rank, world, collective)
    return 0


def train(options: Options, rank: int, world: int, collective: Collective) -> None:
    """Every rank holds the same weights, which is what makes one checkpoint enough for all."""
    weights, step = np.zeros((FEATURES, CLASSES)), 0
    found = load_newest(options.checkpoint_dir) if rank == 0 else None
    if found is not None:
        weights, step = found
    # Rank 0 decides where to begin, so that all begin at the same step.
    state = collective.sum(np.append(weights, step) if rank == 0 else np.zeros(weights.size + 1))
    weights, step = state[:-1].reshape(weights.shape), int(state[-1])
    if step:
        print(f"resumed from step {step}", flush=True)
    spoiled: list[int] = []
    signal.signal(signal.SIGUSR1, lambda number, _: spoiled.append(number))
    truth = np.random.default_rng(options.seed).normal(size=weights.shape)
    while step < options.steps:
        began = time.monotonic()
        step += 1
        gradient, loss = gradient_of(weights, truth, options.seed, step, rank, world)
        if spoiled:
            gradient, loss = gradient * np.nan, float("nan")
            spoiled.clear()
        total = collective.sum(np.append(gradient, loss))
        weights = weights - LEARNING_RATE * total[:-1].reshape(weights.shape)
        loss = float(total[-1])
        print(f"step {step} loss {loss:.6f}", flush=True)
        is_due = step % options.checkpoint_every == 0 or step == options.steps
        if rank == 0 and is_due and np.isfinite(loss):
            save(options.checkpoint_dir, weights, step, options.keep)
            print(f"checkpoint saved at step {step}", flush=True)
        time.sleep(max(0.0, options.step_seconds - (time.monotonic() - began)))
    collective.sum(np.zeros(1))  # nobody leaves before the last checkpoint is written
    print(f"training complete at step {step}", flush=True)


def gradient_of(
    weights: np.ndarray, truth: np.ndarray, seed: int, step: int, rank: int, world: int
) -> tuple[np.ndarray, float]:
    """This rank's share of the step's batch, which depends on seed and step alone, not on who computes it."""
    batch = np.random.default_rng((seed, step))
    inputs = batch.normal(size=(BATCH_PER_STEP, FEATURES))
    labels = np.argmax(inputs @ truth, axis=1)
    mine = slice(rank, None, world)
    inputs, labels = inputs[mine], labels[mine]
    scores = inputs @ weights
    scores -= scores.max(axis=1, keepdims=True)
    probabilities = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    chosen = probabilities[np.arange(len(labels)), labels]
    loss = float(-np.log(chosen).sum()) / BATCH_PER_STEP
    probabilities[np.arange(len(labels)), labels] -= 1
    return inputs.T @ probabilities / BATCH_PER_STEP, loss


def parse(arguments: list[str] | None) -> Options:
    parser = argparse.ArgumentParser(description="Train a small model, data-parallel.")
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--step-seconds", type=float, default=0.1, help="least time a step takes")
    parser.add_argument("--checkpoint-dir", type=Path, default=Path(os.environ.get("CHECKPOINT_DIR", "checkpoints")))
    parser.add_argument("--checkpoint-every", type=int, default=10, help="steps between checkpoints")
    parser.add_argument("--keep", type=int, default=3, help="checkpoints kept")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--connect-seconds", type=float, default=60.0, help="deadline for all ranks to meet")
    return Options(**vars(parser.parse_args(arguments)))


if __name__ == "__main__":
    sys.exit(main())
