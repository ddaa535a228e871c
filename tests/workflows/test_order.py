"""What goes before what: conflicting runs on a cluster, and dependencies."""

from __future__ import annotations

from datetime import timedelta

from core.ids import WorkerId
from state.records import Run, RunStatus
from state.repository import Repository
from tests.builders.people import person
from tests.builders.workflows import ToyParams, create_run, done, make_worker, text, workflow
from tests.fakes.clock import FakeClock
from workflows.definition import Done, Outcome, StepContext, Wait


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
