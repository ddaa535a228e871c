"""Who works on what, and when: leases, order on a cluster, dependencies, pausing and cancelling."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta

import pytest

from core.ids import WorkerId
from core.json_value import JsonObject
from state.errors import IllegalTransition, LeaseLost
from state.records import EffectStatus, QuestionStatus, Run, RunStatus
from state.repository import Repository
from state.steps import Advance, Sleep
from state.switches import Mutation
from tests.builders.people import person
from tests.builders.questions import zone_question
from tests.builders.workflows import ToyParams, create_run, done, make_worker, step, text, workflow
from tests.fakes.clock import FakeClock
from tests.fakes.toy_platform import FakePlatform
from tests.fakes.toy_tools import CREATE, Thing
from workflows.definition import Ask, Done, Next, Outcome, StepContext, Wait
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


def sleep_forever(context: StepContext, params: ToyParams) -> Outcome:
    return Wait(delay=timedelta(days=1), why=text("Long."))


def reason_of(repository: Repository, run: Run) -> str:
    reason = repository.get_run(run.id).reason
    return "" if reason is None else reason.english()


# Leases


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


# Order on a cluster


def test_conflicting_runs_of_a_cluster_go_one_after_another_in_order(repository: Repository, clock: FakeClock) -> None:
    first, second = (create_run(repository, cluster="c1") for _ in range(2))
    elsewhere = create_run(repository, cluster="c2")
    worker = make_worker(repository, clock, workflow(sleep_forever))

    worker.work_until_idle()

    assert [repository.get_run(run.id).status for run in (first, second, elsewhere)] == [
        RunStatus.WAITING,
        RunStatus.QUEUED,
        RunStatus.WAITING,
    ]
    assert first.id in reason_of(repository, second)
    repository.cancel_run(first.id, actor=person())
    worker.work_until_idle()
    assert repository.get_run(second.id).status is RunStatus.WAITING


def test_a_run_that_begins_says_no_longer_what_it_waited_for(repository: Repository, clock: FakeClock) -> None:
    first, second = (create_run(repository, cluster="c1") for _ in range(2))
    worker = make_worker(repository, clock, workflow(sleep_forever))
    worker.work_until_idle()
    repository.cancel_run(first.id, actor=person())

    run = claimed(repository, clock)

    assert (run.id, run.reason) == (second.id, None)


def test_jobs_run_beside_each_other_and_wait_for_an_earlier_deletion(repository: Repository, clock: FakeClock) -> None:
    job = workflow(sleep_forever, name="job", shares_cluster=True)
    deletion = create_run(repository, workflow="delete", cluster="c1")
    jobs = [create_run(repository, workflow="job", cluster="c1") for _ in range(2)]
    worker = make_worker(repository, clock, job, workflow(sleep_forever, name="delete"))

    worker.work_until_idle()
    assert [repository.get_run(run.id).status for run in jobs] == [RunStatus.QUEUED] * 2

    repository.cancel_run(deletion.id, actor=person())
    worker.work_until_idle()
    assert [repository.get_run(run.id).status for run in jobs] == [RunStatus.WAITING] * 2


def test_a_job_that_is_followed_does_not_hold_up_a_deletion_nor_stop_for_it(
    repository: Repository, clock: FakeClock
) -> None:
    followed = create_run(repository, workflow="job", cluster="c1")
    job = workflow(sleep_forever, name="job", shares_cluster=True)
    worker = make_worker(repository, clock, job, workflow(sleep_forever, name="delete"))
    worker.work_until_idle()
    deletion = create_run(repository, workflow="delete", cluster="c1")

    worker.work_until_idle()
    assert repository.get_run(deletion.id).status is RunStatus.WAITING

    clock.advance(timedelta(days=1))
    worker.work_until_idle(only=followed.id)
    assert repository.list_steps(followed.id)[0].attempts == 2


def test_a_deletion_waits_while_a_job_is_in_the_middle_of_a_step(repository: Repository, clock: FakeClock) -> None:
    create_run(repository, workflow="job", cluster="c1")
    claimed(repository, clock, sharing=("job",))
    create_run(repository, workflow="delete", cluster="c1")

    assert claim(repository, clock, worker="b", sharing=("job",)) is None


def test_a_failed_run_does_not_keep_others_from_its_cluster(repository: Repository, clock: FakeClock) -> None:
    def fail(context: StepContext, params: ToyParams) -> Outcome:
        raise KeyError("oops")

    failed = create_run(repository, workflow="fails", cluster="c1")
    delete = create_run(repository, cluster="c1")
    make_worker(repository, clock, workflow(fail, name="fails"), workflow(done)).work_until_idle()

    assert repository.get_run(failed.id).status is RunStatus.FAILED
    assert repository.get_run(delete.id).status is RunStatus.DONE


def test_a_paused_run_that_has_begun_keeps_its_cluster(repository: Repository, clock: FakeClock) -> None:
    begun = create_run(repository, cluster="c1")
    worker = make_worker(repository, clock, workflow(sleep_forever))
    worker.work_until_idle()
    repository.pause_run(begun.id, actor=person())
    other = create_run(repository, cluster="c1")

    worker.work_until_idle()

    assert repository.get_run(other.id).status is RunStatus.QUEUED


# Dependencies


def test_a_run_waits_for_what_it_depends_on(repository: Repository, clock: FakeClock) -> None:
    first = create_run(repository, workflow="slow")
    second = create_run(repository, depends_on=[first.id])
    worker = make_worker(repository, clock, workflow(sleep_forever, name="slow"), workflow(done))

    worker.work_until_idle()

    assert repository.get_run(second.id).status is RunStatus.QUEUED
    assert first.id in reason_of(repository, second)


def test_a_failure_leaves_its_dependants_queued_with_a_reason_until_a_retry_succeeds(
    repository: Repository, clock: FakeClock
) -> None:
    tries: list[int] = []

    def fail_once(context: StepContext, params: ToyParams) -> Outcome:
        tries.append(1)
        if len(tries) == 1:
            raise KeyError("oops")
        return Done()

    first = create_run(repository, workflow="fragile")
    second = create_run(repository, depends_on=[first.id])
    worker = make_worker(repository, clock, workflow(fail_once, name="fragile"), workflow(done))
    worker.work_until_idle()
    assert repository.get_run(second.id).status is RunStatus.QUEUED
    assert "has failed" in reason_of(repository, second)

    repository.retry_run(first.id, actor=person())
    worker.work_until_idle()

    assert repository.get_run(second.id).status is RunStatus.DONE


def test_a_cancellation_reaches_everything_that_depends_on_it(repository: Repository) -> None:
    first = create_run(repository)
    second = create_run(repository, depends_on=[first.id])
    third = create_run(repository, depends_on=[second.id])

    repository.cancel_run(first.id, actor=person())

    assert [repository.get_run(run.id).status for run in (second, third)] == [RunStatus.CANCELLED] * 2


# What people do to runs


def test_a_pause_of_a_held_run_comes_into_force_after_its_step(repository: Repository, clock: FakeClock) -> None:
    def ask_to_pause(context: StepContext, params: ToyParams) -> Outcome:
        repository.pause_run(context.run.id, actor=person("li"))
        return Next()

    run = create_run(repository)
    worker = make_worker(repository, clock, workflow(ask_to_pause, step("after")))
    worker.work_until_idle()
    paused = repository.get_run(run.id)
    assert (paused.status, paused.step, paused.stop_requested) == (RunStatus.PAUSED, "after", None)

    repository.resume_run(run.id, actor=person())
    worker.work_until_idle()

    assert repository.get_run(run.id).status is RunStatus.DONE


def test_a_cancelled_run_says_what_stays(repository: Repository, clock: FakeClock) -> None:
    def make_then_cancel(context: StepContext, params: ToyParams) -> Outcome:
        context.perform(CREATE, Thing())
        repository.cancel_run(context.run.id, actor=person("li"))
        context.perform(CREATE, Thing(name="second"))
        return Next()

    platform = FakePlatform(clock)
    run = create_run(repository)
    make_worker(repository, clock, workflow(make_then_cancel, step("after")), platform=platform).work_until_idle()

    cancelled = repository.get_run(run.id)
    assert cancelled.status is RunStatus.CANCELLED
    assert "li" in reason_of(repository, run) and "create_thing" in reason_of(repository, run)
    assert platform.counts() == {"Create thing": 1}
    assert [effect.status for effect in repository.list_effects(run.id)] == [EffectStatus.APPLIED]


def test_a_run_that_ends_anyway_is_done_and_not_cancelled(repository: Repository, clock: FakeClock) -> None:
    def cancel_late(context: StepContext, params: ToyParams) -> Outcome:
        repository.cancel_run(context.run.id, actor=person())
        return Done()

    run = create_run(repository)
    make_worker(repository, clock, workflow(cancel_late)).work_until_idle()

    assert repository.get_run(run.id).status is RunStatus.DONE


def test_cancelling_withdraws_what_the_run_still_asks(repository: Repository, clock: FakeClock) -> None:
    def ask(context: StepContext, params: ToyParams) -> Outcome:
        return Ask(question=zone_question())

    run = create_run(repository)
    make_worker(repository, clock, workflow(ask)).work_until_idle()

    repository.cancel_run(run.id, actor=person())

    assert [question.status for question in repository.list_questions(run_id=run.id)] == [QuestionStatus.WITHDRAWN]


def test_an_answer_to_a_paused_run_is_found_when_it_resumes(repository: Repository, clock: FakeClock) -> None:
    def ask(context: StepContext, params: ToyParams) -> Outcome:
        answer = context.answer("availability_zone")
        return Ask(question=zone_question()) if answer is None else Done(data={"zone": answer.value})

    run = create_run(repository)
    worker = make_worker(repository, clock, workflow(ask))
    worker.work_until_idle()
    repository.pause_run(run.id, actor=person())
    (question,) = repository.list_questions(run_id=run.id)
    repository.answer_question(question.id, options_version=1, principal=person(), option_id="option-usw2-az1")
    worker.work_until_idle()
    assert repository.get_run(run.id).status is RunStatus.PAUSED

    repository.resume_run(run.id, actor=person())
    worker.work_until_idle()

    assert repository.get_run(run.id).data == {"zone": "usw2-az1"}


@pytest.mark.parametrize(
    "act",
    [
        pytest.param(lambda repository, run: repository.retry_run(run, actor=person()), id="retry"),
        pytest.param(lambda repository, run: repository.resume_run(run, actor=person()), id="resume"),
        pytest.param(lambda repository, run: repository.cancel_run(run, actor=person()), id="cancel"),
        pytest.param(lambda repository, run: repository.pause_run(run, actor=person()), id="pause"),
    ],
)
def test_a_finished_run_is_left_alone(
    repository: Repository, clock: FakeClock, act: Callable[[Repository, str], Run]
) -> None:
    run = create_run(repository)
    make_worker(repository, clock, workflow(done)).work_until_idle()

    with pytest.raises(IllegalTransition):
        act(repository, run.id)

    assert repository.get_run(run.id).status is RunStatus.DONE


# Rest and the stop switch


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


# A worker that slept


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
