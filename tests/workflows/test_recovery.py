"""Runs of workers that died are taken over at once when that can be known, and else when their lease ends."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

from core.ids import WorkerId
from state.repository import Repository
from tests.builders.workflows import create_run
from tests.fakes.clock import FakeClock
from workflows.recovery import is_dead, take_over_dead, this_worker

ROOT = Path(__file__).parents[2]
NAME_ITSELF = "from workflows.recovery import this_worker; print(this_worker())"


def worker_that_ended() -> WorkerId:
    told = subprocess.run(
        [sys.executable, "-c", NAME_ITSELF],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": str(ROOT)},
    )
    return WorkerId(told.stdout.strip())


def test_a_living_worker_is_not_dead() -> None:
    assert not is_dead(this_worker())


def test_a_worker_whose_process_ended_is_dead() -> None:
    assert is_dead(worker_that_ended())


def test_a_process_that_got_the_same_number_later_is_not_mistaken_for_the_worker() -> None:
    machine, pid, started, number = this_worker().split("/")

    assert is_dead(WorkerId(f"{machine}/{pid}/{int(started) - 1}/{number}"))


def test_of_a_worker_elsewhere_nothing_is_known() -> None:
    assert not is_dead(WorkerId(f"elsewhere/{os.getpid()}/1/0"))
    assert not is_dead(WorkerId("nonsense"))


def test_the_runs_of_a_dead_worker_can_be_claimed_at_once(repository: Repository, clock: FakeClock) -> None:
    lease_until = clock.now() + timedelta(minutes=5)
    run = create_run(repository)
    repository.claim_run(worker=worker_that_ended(), lease_until=lease_until)
    assert repository.claim_run(worker=this_worker(), lease_until=lease_until) is None

    assert [freed.id for freed in take_over_dead(repository)] == [run.id]

    assert repository.claim_run(worker=this_worker(), lease_until=lease_until) is not None


def test_the_runs_of_living_workers_are_left_to_them(repository: Repository, clock: FakeClock) -> None:
    create_run(repository)
    repository.claim_run(worker=this_worker(), lease_until=clock.now() + timedelta(minutes=5))

    assert take_over_dead(repository) == []
