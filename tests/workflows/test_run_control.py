"""What people do to runs: pause, resume, retry, cancel."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from state.errors import IllegalTransition
from state.records import EffectStatus, QuestionStatus, Run, RunStatus
from state.repository import Repository
from tests.builders.people import person
from tests.builders.questions import zone_question
from tests.builders.workflows import ToyParams, create_run, done, make_worker, step, text, workflow
from tests.fakes.clock import FakeClock
from tests.fakes.toy_platform import FakePlatform
from tests.fakes.toy_tools import CREATE, Thing
from workflows.definition import Ask, Done, Next, Outcome, StepContext, Wait


def sleep_forever(context: StepContext, params: ToyParams) -> Outcome:
    return Wait(delay=timedelta(days=1), why=text("Long."))


def reason_of(repository: Repository, run: Run) -> str:
    reason = repository.get_run(run.id).reason
    return "" if reason is None else reason.english()


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
