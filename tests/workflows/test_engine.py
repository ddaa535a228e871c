"""From step to step: what each outcome and each error does to a run."""

from __future__ import annotations

from datetime import timedelta

import pytest

from core.failures import Failure, NextAction
from core.reasons import FailureClass
from state.records import EffectStatus, FeedKind, QuestionStatus, RunStatus, StepStatus
from state.repository import Repository
from tests.builders.people import person
from tests.builders.questions import zone_question
from tests.builders.workflows import ToyParams, create_run, done, make_worker, step, text, workflow
from tests.fakes.clock import FakeClock
from tests.fakes.toy_platform import FakePlatform, Fault
from tests.fakes.toy_tools import CREATE, Thing
from workflows.definition import Ask, Done, Fail, Next, Outcome, StepContext, Wait
from workflows.failing import RetryPolicy


def create_thing(context: StepContext, params: ToyParams) -> Outcome:
    return Next(data={"id": context.perform(CREATE, Thing(name=params.name))["id"]})


def test_a_run_goes_through_its_steps_and_keeps_their_data(repository: Repository, clock: FakeClock) -> None:
    def second(context: StepContext, params: ToyParams) -> Outcome:
        return Done(data={"seen": context.run.data["id"]})

    run = create_run(repository)
    make_worker(repository, clock, workflow(create_thing, second)).work_until_idle()

    ended = repository.get_run(run.id)
    assert (ended.status, ended.data) == (RunStatus.DONE, {"id": "thing-1", "seen": "thing-1"})
    assert [(record.name, record.status) for record in repository.list_steps(run.id)] == [
        ("create_thing", StepStatus.DONE),
        ("second", StepStatus.DONE),
    ]


def test_the_last_step_may_simply_go_on(repository: Repository, clock: FakeClock) -> None:
    run = create_run(repository)
    make_worker(repository, clock, workflow(step("a"), step("b"))).work_until_idle()

    assert repository.get_run(run.id).status is RunStatus.DONE


def test_a_waiting_run_is_left_alone_until_its_time(repository: Repository, clock: FakeClock) -> None:
    def wait_once(context: StepContext, params: ToyParams) -> Outcome:
        if context.now < context.step_started_at + timedelta(minutes=1):
            return Wait(delay=timedelta(minutes=1), why=text("Not yet."))
        return Done()

    run = create_run(repository)
    worker = make_worker(repository, clock, workflow(wait_once))
    worker.work_until_idle()
    assert repository.get_run(run.id).status is RunStatus.WAITING
    assert repository.next_wake_at() == clock.now() + timedelta(minutes=1)

    clock.advance(timedelta(seconds=59))
    worker.work_until_idle()
    assert repository.list_steps(run.id)[0].attempts == 1

    clock.advance(timedelta(seconds=1))
    worker.work_until_idle()
    assert repository.get_run(run.id).status is RunStatus.DONE


def test_a_step_that_waits_past_its_deadline_fails_with_what_it_waited_for(
    repository: Repository, clock: FakeClock
) -> None:
    def wait(context: StepContext, params: ToyParams) -> Outcome:
        return Wait(delay=timedelta(minutes=5), why=text("2 of 4 nodes."))

    run = create_run(repository)
    worker = make_worker(repository, clock, workflow(step("nodes", wait, deadline=timedelta(minutes=10))))
    for _ in range(3):
        worker.work_until_idle()
        clock.advance(timedelta(minutes=5))

    ended = repository.get_run(run.id)
    assert ended.status is RunStatus.FAILED
    assert ended.reason is not None and "2 of 4 nodes" in ended.reason.english()


def test_an_asked_question_waits_for_its_answer_and_is_asked_once(repository: Repository, clock: FakeClock) -> None:
    def ask(context: StepContext, params: ToyParams) -> Outcome:
        answer = context.answer("availability_zone")
        return Ask(question=zone_question()) if answer is None else Done(data={"zone": answer.value})

    run = create_run(repository)
    worker = make_worker(repository, clock, workflow(ask))
    worker.work_until_idle()
    (question,) = repository.list_questions(run_id=run.id)
    assert repository.get_run(run.id).waiting_for == question.id

    repository.answer_question(question.id, options_version=1, principal=person(), option_id="option-usw2-az2")
    worker.work_until_idle()

    assert repository.get_run(run.id).data == {"zone": "usw2-az2"}
    assert len(repository.list_questions(run_id=run.id)) == 1


def test_a_withdrawn_question_cancels_the_run_that_waits_for_it(repository: Repository, clock: FakeClock) -> None:
    def ask(context: StepContext, params: ToyParams) -> Outcome:
        return Ask(question=zone_question())

    run = create_run(repository)
    make_worker(repository, clock, workflow(ask)).work_until_idle()
    (question,) = repository.list_questions(run_id=run.id)

    repository.withdraw_question(question.id, actor=person())

    assert repository.get_run(run.id).status is RunStatus.CANCELLED


def test_a_failure_keeps_class_and_next_actions_and_can_be_retried_from_its_step(
    repository: Repository, clock: FakeClock
) -> None:
    tries: list[str] = []

    def fragile(context: StepContext, params: ToyParams) -> Outcome:
        tries.append("again")
        failure = Failure(
            failure_class=FailureClass.CAPACITY, message=text("None left."), next_actions=(NextAction.CHOOSE_AGAIN,)
        )
        return Fail(failure=failure) if len(tries) == 1 else Done()

    run = create_run(repository)
    worker = make_worker(repository, clock, workflow(create_thing, fragile))
    worker.work_until_idle()
    failed = repository.get_run(run.id)
    assert (failed.status, failed.step) == (RunStatus.FAILED, "fragile")
    assert failed.failure is not None and failed.failure.next_actions == (NextAction.CHOOSE_AGAIN,)

    repository.retry_run(run.id, actor=person())
    worker.work_until_idle()

    assert repository.get_run(run.id).status is RunStatus.DONE
    assert len(repository.list_effects(run.id)) == 1


def test_a_throttled_call_is_tried_again_after_a_growing_pause(repository: Repository, clock: FakeClock) -> None:
    platform = FakePlatform(clock)
    platform.faults["Create"] = [Fault.THROTTLED, Fault.THROTTLED]
    run = create_run(repository)
    worker = make_worker(repository, clock, workflow(create_thing), platform=platform)
    pauses = []
    for _ in range(2):
        worker.work_until_idle()
        wake_at = repository.get_run(run.id).wake_at
        assert wake_at is not None
        pauses.append(wake_at - clock.now())
        clock.advance(pauses[-1])
    worker.work_until_idle()

    assert repository.get_run(run.id).status is RunStatus.DONE
    assert timedelta(seconds=0.5) < pauses[0] <= timedelta(seconds=1) < pauses[1] <= timedelta(seconds=2)
    assert platform.counts() == {"Create thing": 1}


def test_a_fault_that_does_not_pass_fails_the_step_when_its_budget_is_spent(
    repository: Repository, clock: FakeClock
) -> None:
    platform = FakePlatform(clock)
    platform.faults["Create"] = [Fault.THROTTLED] * 10
    run = create_run(repository)
    worker = make_worker(repository, clock, workflow(create_thing), platform=platform, retries=RetryPolicy(budget=3))
    for _ in range(5):
        worker.work_until_idle()
        clock.advance(timedelta(minutes=2))

    failed = repository.get_run(run.id)
    assert failed.status is RunStatus.FAILED
    assert platform.calls.count("Create") == 4


def test_a_refusal_of_the_platform_fails_at_once_with_its_raw_text_as_evidence(
    repository: Repository, clock: FakeClock
) -> None:
    platform = FakePlatform(clock)
    platform.faults["Create"] = [Fault.REJECTED]
    run = create_run(repository)
    make_worker(repository, clock, workflow(create_thing), platform=platform).work_until_idle()

    failure = repository.get_run(run.id).failure
    assert failure is not None and failure.failure_class is FailureClass.QUOTA
    assert "raw text of rejected" in repository.get_evidence(failure.evidence[0]).text
    assert [effect.status for effect in repository.list_effects(run.id)] == [EffectStatus.FAILED]


def test_a_lost_response_is_reconciled_and_not_repeated(repository: Repository, clock: FakeClock) -> None:
    platform = FakePlatform(clock)
    platform.faults["Create"] = [Fault.LOST_RESPONSE]
    run = create_run(repository)
    worker = make_worker(repository, clock, workflow(create_thing), platform=platform)
    worker.work_until_idle()
    clock.advance(timedelta(minutes=1))
    worker.work_until_idle()

    assert repository.get_run(run.id).data == {"id": "thing-1"}
    assert platform.calls.count("Create") == 1


def test_a_bug_in_a_step_fails_it_with_its_traceback_and_spares_the_worker(
    repository: Repository, clock: FakeClock
) -> None:
    def broken(context: StepContext, params: ToyParams) -> Outcome:
        raise KeyError("SubnetId")

    bad, good = create_run(repository, workflow="bad"), create_run(repository)
    make_worker(repository, clock, workflow(broken, name="bad"), workflow(done)).work_until_idle()

    failure = repository.get_run(bad.id).failure
    assert failure is not None
    assert "KeyError: 'SubnetId'" in repository.get_evidence(failure.evidence[0]).text
    assert repository.get_run(good.id).status is RunStatus.DONE


def test_data_that_is_no_json_fails_the_step_and_keeps_the_effect(repository: Repository, clock: FakeClock) -> None:
    def careless(context: StepContext, params: ToyParams) -> Outcome:
        context.perform(CREATE, Thing())
        return Done(data={"at": context.now})  # type: ignore[dict-item]  # the mistake that is tested

    run = create_run(repository)
    make_worker(repository, clock, workflow(careless)).work_until_idle()

    assert repository.get_run(run.id).status is RunStatus.FAILED
    assert [effect.status for effect in repository.list_effects(run.id)] == [EffectStatus.APPLIED]


def test_parameters_that_do_not_fit_fail_the_run_by_field(repository: Repository, clock: FakeClock) -> None:
    run = create_run(repository, params={"nmae": "x"})
    make_worker(repository, clock, workflow(done)).work_until_idle()

    failed = repository.get_run(run.id)
    assert failed.reason is not None and "nmae" in failed.reason.english()


@pytest.mark.parametrize(
    ("name", "version"),
    [pytest.param("toy", 2, id="a version that is not here"), pytest.param("other", 1, id="no such workflow")],
)
def test_a_run_of_an_unknown_workflow_parks_with_a_clear_reason(
    repository: Repository, clock: FakeClock, name: str, version: int
) -> None:
    run = create_run(repository, workflow=name, version=version)
    make_worker(repository, clock, workflow(done)).work_until_idle()

    parked = repository.get_run(run.id)
    assert parked.status is RunStatus.PAUSED
    assert parked.reason is not None and repr(name) in parked.reason.english()


def test_equal_progress_is_shown_once(repository: Repository, clock: FakeClock) -> None:
    def wait(context: StepContext, params: ToyParams) -> Outcome:
        context.report(text("2 of 4 nodes are ready."), done=2, total=4)
        return Wait(delay=timedelta(seconds=10), why=text("Nodes."))

    run = create_run(repository)
    worker = make_worker(repository, clock, workflow(wait))
    for _ in range(3):
        worker.work_until_idle()
        clock.advance(timedelta(seconds=10))

    lines = [entry for entry in repository.list_feed(run_id=run.id) if entry.data.get("total") == 4]
    assert len(lines) == 1
    assert lines[0].kind is FeedKind.PROGRESS


def test_a_question_that_expires_fails_the_run_and_a_retry_asks_anew(repository: Repository, clock: FakeClock) -> None:
    def ask(context: StepContext, params: ToyParams) -> Outcome:
        return Ask(question=zone_question())

    run = create_run(repository)
    worker = make_worker(repository, clock, workflow(ask))
    worker.work_until_idle()
    (question,) = repository.list_questions(run_id=run.id)
    repository.ask(zone_question(), conversation_id=None, run_id=run.id, expires_at=clock.now() + timedelta(hours=1))
    clock.advance(timedelta(hours=1))
    worker.work_until_idle()
    assert repository.get_run(run.id).status is RunStatus.FAILED

    repository.retry_run(run.id, actor=person())
    worker.work_until_idle()

    statuses = [asked.status for asked in repository.list_questions(run_id=run.id)]
    assert statuses == [QuestionStatus.EXPIRED, QuestionStatus.OPEN]
    assert question.status is QuestionStatus.OPEN
