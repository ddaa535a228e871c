"""A worker: its lease, its rest, and what it may still do after it slept."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta

import pytest

from core.ids import WorkerId
from core.json_value import JsonObject
from state.errors import LeaseLost
from state.records import Run, RunStatus
from state.repository import Repository
from state.steps import Advance, Sleep
from state.switches import Mutation
from tests.builders.people import person
from tests.builders.workflows import ToyParams, create_run, done, make_worker, step, text, workflow
from tests.fakes.clock import FakeClock
from tests.fakes.toy_platform import FakePlatform
from tests.fakes.toy_tools import CREATE, Thing
from workflows.definition import Done, Outcome, StepContext, Wait
from workflows.failing import RetryPolicy
from workflows.worker import Heartbeat, rest_until_news


def claim(repository: Repository, clock: FakeClock, *, worker: str = "a", sharing: tuple[str, ...] = ()) -> Run | None:
    return repository.claim_run(
        worker=WorkerId(worker), lease_until=clock.now() + timedelta(seconds=30), sharing=sharing
    )


def claimed(repository: Repository, clock: FakeClock, *, worker: str = "a", sharing: tuple[str, ...] = ()) -> Run:
    run = claim(repository, clock, worker=worker, sharing=sharing)
    assert run is not None
    return run


def test_a_held_run_is_claimed_by_nobody_else(repository: Repository, clock: FakeClock) -> None:
    create_run(repository)
    claimed(repository, clock)

    assert claim(repository, clock, worker="b") is None


def test_a_run_whose_lease_ran_out_is_taken_over_and_its_old_holder_shut_out(
    repository: Repository, clock: FakeClock
) -> None:
    create_run(repository)
    old = claimed(repository, clock)
    old = repository.begin_first_step(old, Advance(step=step("a").name, kind="wait", title=text("a")))
    clock.advance(timedelta(seconds=30))

    new = claimed(repository, clock, worker="b")

    assert new.fence == old.fence + 1
    with pytest.raises(LeaseLost):
        repository.finish_step(old, Sleep(until=clock.now(), why=text("late")))
    with pytest.raises(LeaseLost):
        repository.renew_lease(old, until=clock.now() + timedelta(hours=1))
    assert repository.get_run(new.id).status is RunStatus.RUNNING
    assert "run.taken_over" in [event.what for event in repository.list_audit(new.id)]


def test_a_renewed_lease_is_not_taken_over(repository: Repository, clock: FakeClock) -> None:
    create_run(repository)
    run = claimed(repository, clock)
    clock.advance(timedelta(seconds=29))
    repository.renew_lease(run, until=clock.now() + timedelta(seconds=30))
    clock.advance(timedelta(seconds=29))

    assert claim(repository, clock, worker="b") is None


def test_who_holds_a_run_learns_that_its_lease_has_run_out(repository: Repository, clock: FakeClock) -> None:
    create_run(repository)
    run = claimed(repository, clock)

    with Heartbeat(repository, clock, timedelta(seconds=30)).holding(run) as still_held:
        still_held()
        clock.advance(timedelta(seconds=30))
        with pytest.raises(LeaseLost):
            still_held()


def test_a_drained_worker_gives_its_run_back_between_two_steps(repository: Repository, clock: FakeClock) -> None:
    run = create_run(repository)
    first = make_worker(repository, clock, workflow(step("a"), step("b"), step("c")))
    asked = iter([False, False, True, True])

    first.run_until(lambda: next(asked))

    held = repository.get_run(run.id)
    assert (held.status, held.lease_owner, held.step) == (RunStatus.WAITING, None, "b")
    make_worker(repository, clock, workflow(step("a"), step("b"), step("c"))).work_until_idle()
    assert repository.get_run(run.id).status is RunStatus.DONE


def test_two_workers_share_the_runs_and_do_each_once(repository: Repository, clock: FakeClock) -> None:
    platform = FakePlatform(clock)

    def make(context: StepContext, params: ToyParams) -> Outcome:
        context.perform(CREATE, Thing(name=context.run.id))
        return Done()

    runs = [create_run(repository) for _ in range(12)]
    workers = [
        make_worker(repository, clock, workflow(make), platform=platform, worker_id=f"worker-{number}")
        for number in range(3)
    ]
    threads = [threading.Thread(target=worker.work_until_idle) for worker in workers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert [repository.get_run(run.id).status for run in runs] == [RunStatus.DONE] * 12
    assert sorted(platform.counts().values()) == [1] * 12


def test_while_the_stop_switch_is_on_nothing_begins(repository: Repository, clock: FakeClock) -> None:
    run = create_run(repository)
    worker = make_worker(repository, clock, workflow(done))
    repository.set_mutation(Mutation.STOPPED, actor=person())
    worker.work_until_idle()
    assert repository.get_run(run.id).status is RunStatus.QUEUED

    repository.set_mutation(Mutation.ALLOWED, actor=person())
    worker.work_until_idle()

    assert repository.get_run(run.id).status is RunStatus.DONE


def test_a_worker_rests_until_the_next_run_is_due(repository: Repository, clock: FakeClock) -> None:
    def wait(context: StepContext, params: ToyParams) -> Outcome:
        return Wait(delay=timedelta(seconds=3), why=text("Soon."))

    create_run(repository)
    rests: list[float] = []
    worker = make_worker(repository, clock, workflow(wait), idle=rests.append)

    worker.run_until(lambda: bool(rests))

    assert rests == [3.0]


def test_news_that_came_before_the_rest_ends_it_at_once(repository: Repository) -> None:
    poke = threading.Event()
    rest = rest_until_news(repository, poke)
    rest(0.0)
    create_run(repository)

    rest(60.0)  # would hang here if the commit between the two rests were missed


def test_a_poke_ends_the_rest(repository: Repository) -> None:
    poke = threading.Event()
    rest = rest_until_news(repository, poke)
    rest(0.0)
    poke.set()

    rest(60.0)


class NappingPlatform(FakePlatform):
    """Calls `nap` during its first look: what happens to a process that is stopped for a while there."""

    def __init__(self, clock: FakeClock, nap: Callable[[], None]) -> None:
        super().__init__(clock)
        self._nap: Callable[[], None] | None = nap

    def call(self, service: str, operation: str, params: JsonObject) -> JsonObject:
        seen = super().call(service, operation, params)
        if operation == "List" and self._nap is not None:
            nap, self._nap = self._nap, None
            nap()
        return seen


def test_a_worker_that_sleeps_between_its_look_and_its_call_does_not_call(
    repository: Repository, clock: FakeClock
) -> None:
    def make(context: StepContext, params: ToyParams) -> Outcome:
        context.perform(CREATE, Thing())
        return Done()

    def oversleep() -> None:
        clock.advance(timedelta(seconds=31))
        make_worker(repository, clock, workflow(make), platform=platform, worker_id="quick").work_until_idle()

    platform = NappingPlatform(clock, oversleep)
    run = create_run(repository)
    make_worker(repository, clock, workflow(make), platform=platform, worker_id="sleepy").work_until_idle()

    assert platform.counts() == {"Create thing": 1}
    assert repository.get_run(run.id).status is RunStatus.DONE
    assert repository.verify_audit(run.id) is None


def test_a_worker_that_sleeps_through_its_step_commits_nothing_of_it(repository: Repository, clock: FakeClock) -> None:
    workers: list[str] = []

    def slow(context: StepContext, params: ToyParams) -> Outcome:
        workers.append(str(context.run.lease_owner))
        if len(workers) == 1:
            clock.advance(timedelta(seconds=31))
            make_worker(repository, clock, workflow(slow), worker_id="quick").work_until_idle()
        return Done(data={"by": str(context.run.lease_owner)})

    run = create_run(repository)
    make_worker(repository, clock, workflow(slow), worker_id="sleepy").work_until_idle()

    assert workers == ["sleepy", "quick"]
    assert repository.get_run(run.id).data == {"by": "quick"}


def test_a_step_that_costs_worker_after_worker_fails_in_the_end(repository: Repository, clock: FakeClock) -> None:
    def deadly(context: StepContext, params: ToyParams) -> Outcome:
        raise KeyboardInterrupt  # as near to a killed process as one process can come

    run = create_run(repository)
    for _ in range(20):
        with suppress(KeyboardInterrupt):
            make_worker(repository, clock, workflow(deadly), retries=RetryPolicy(budget=3)).work_until_idle()
        clock.advance(timedelta(seconds=30))

    failed = repository.get_run(run.id)
    assert failed.status is RunStatus.FAILED
    assert repository.list_steps(run.id)[0].attempts == 5


def test_a_run_that_is_due_often_does_not_starve_the_others(repository: Repository, clock: FakeClock) -> None:
    def busy(context: StepContext, params: ToyParams) -> Outcome:
        clock.advance(timedelta(seconds=2))
        return Wait(delay=timedelta(seconds=1), why=text("Again."))

    greedy, patient = (create_run(repository) for _ in range(2))
    worker = make_worker(repository, clock, workflow(busy))

    asked = iter([False] * 12 + [True] * 9)
    worker.run_until(lambda: next(asked))

    assert repository.list_steps(greedy.id)[0].attempts - repository.list_steps(patient.id)[0].attempts <= 1


def test_a_run_that_is_due_while_the_stop_switch_is_on_keeps_no_processor_busy(
    repository: Repository, clock: FakeClock
) -> None:
    def wait(context: StepContext, params: ToyParams) -> Outcome:
        return Wait(delay=timedelta(seconds=1), why=text("Soon."))

    create_run(repository)
    rests: list[float] = []
    worker = make_worker(repository, clock, workflow(wait), idle=rests.append)
    worker.work_until_idle()
    clock.advance(timedelta(minutes=1))
    repository.set_mutation(Mutation.STOPPED, actor=person())

    worker.run_until(lambda: len(rests) == 3)

    assert min(rests) > 0.05
