"""Questions, their answers, and what an approval brings about."""

from __future__ import annotations

from datetime import timedelta

import pytest

from core.governance.principals import SYSTEM
from core.messages.message import Language
from core.reasons import InputRefused, RefusalReason
from state.errors import IllegalTransition
from state.records import PlanStatus, QuestionStatus, RunStatus
from state.repository import Repository
from tests.builders.people import person
from tests.builders.plans import plan_node, propose
from tests.builders.questions import zone_question
from tests.fakes.clock import FakeClock


def refusal_of(repository: Repository, question_id: str, **answer: object) -> InputRefused:
    question = repository.get_question(next(q.id for q in repository.list_questions() if q.id == question_id))
    given: dict[str, object] = {"options_version": question.options_version, "principal": person(), **answer}
    with pytest.raises(InputRefused) as refusal:
        repository.answer_question(question.id, **given)  # type: ignore[arg-type]  # the table of cases varies the keywords
    return refusal.value


def conversation_question(repository: Repository, *zones: str) -> str:
    conversation = repository.create_conversation(title="t", language=Language.ENGLISH, started_by=person())
    return repository.ask(zone_question(*zones), conversation_id=conversation.id).id


def test_approving_a_plan_creates_its_runs_in_order_of_dependency(repository: Repository) -> None:
    plan, question = propose(
        repository, plan_node("job", depends_on=("create",), params={"n": 2}), plan_node("create", params={"n": 1})
    )

    repository.answer_question(question.id, options_version=1, principal=person("li"), option_id="option-approve")

    job, create = repository.list_runs(plan_id=plan.id)
    assert (create.plan_node, create.status, create.params) == ("create", RunStatus.QUEUED, {"n": 1})
    assert (job.plan_node, job.depends_on) == ("job", (create.id,))
    assert repository.get_plan(plan.id).status is PlanStatus.APPROVED


def test_rejecting_a_plan_creates_nothing(repository: Repository) -> None:
    plan, question = propose(repository)

    repository.answer_question(question.id, options_version=1, principal=person(), option_id="option-reject")

    assert repository.get_plan(plan.id).status is PlanStatus.REJECTED
    assert repository.list_runs() == []


def test_a_changed_plan_is_a_draft_again_and_its_approval_void(repository: Repository) -> None:
    plan, question = propose(repository)

    changed = repository.update_plan(plan.id, nodes=[plan_node("other")])

    assert changed.status is PlanStatus.DRAFT
    assert refusal_of(repository, question.id, option_id="option-approve").reason is RefusalReason.ANSWER_LATE
    assert repository.list_runs() == []


def test_an_approval_that_nobody_gives_in_time_counts_as_denied(repository: Repository, clock: FakeClock) -> None:
    plan, question = propose(repository, expires_in=timedelta(minutes=5))
    clock.advance(timedelta(minutes=5))

    refused = refusal_of(repository, question.id, option_id="option-approve")

    assert refused.reason is RefusalReason.ANSWER_LATE
    assert repository.get_plan(plan.id).status is PlanStatus.REJECTED
    assert repository.get_question(question.id).status is QuestionStatus.EXPIRED


def test_an_approved_plan_cannot_be_changed(repository: Repository) -> None:
    plan, question = propose(repository)
    repository.answer_question(question.id, options_version=1, principal=person(), option_id="option-approve")

    with pytest.raises(IllegalTransition):
        repository.update_plan(plan.id, nodes=[plan_node("other")])


def test_the_second_answer_is_told_who_answered_what(repository: Repository) -> None:
    question_id = conversation_question(repository, "usw2-az1", "usw2-az2")
    question = repository.list_questions()[0]
    repository.answer_question(question.id, options_version=1, principal=person("li"), option_id="option-usw2-az2")

    refused = refusal_of(repository, question_id, option_id="option-usw2-az1")

    assert refused.reason is RefusalReason.ANSWER_LATE
    assert "li" in str(refused) and "usw2-az2" in str(refused)


def test_an_answer_to_an_older_list_is_stale(repository: Repository) -> None:
    conversation = repository.create_conversation(title="t", language=Language.ENGLISH, started_by=person())
    first = repository.ask(zone_question("usw2-az1", "usw2-az2"), conversation_id=conversation.id)
    second = repository.ask(zone_question("usw2-az3"), conversation_id=conversation.id)

    assert (second.id, second.options_version) == (first.id, 2)
    refused = refusal_of(repository, first.id, options_version=1, option_id="option-usw2-az1")
    assert refused.reason is RefusalReason.ANSWER_STALE


def test_asking_twice_with_the_same_options_is_asking_once(repository: Repository) -> None:
    conversation = repository.create_conversation(title="t", language=Language.ENGLISH, started_by=person())
    first = repository.ask(zone_question(), conversation_id=conversation.id)

    assert repository.ask(zone_question(), conversation_id=conversation.id) == first


@pytest.mark.parametrize(
    "answer",
    [
        pytest.param({"option_id": "option-mars"}, id="an unknown option"),
        pytest.param({"value": "mars"}, id="a value where only options count"),
        pytest.param({}, id="nothing at all"),
    ],
)
def test_what_is_no_option_is_refused(repository: Repository, answer: dict[str, object]) -> None:
    question_id = conversation_question(repository)

    assert refusal_of(repository, question_id, **answer).reason is RefusalReason.ANSWER_NOT_AN_OPTION


def test_a_value_that_spells_an_option_counts_as_it(repository: Repository) -> None:
    conversation_question(repository)
    question = repository.list_questions()[0]

    answered = repository.answer_question(question.id, options_version=1, principal=person(), value="usw2-az1")

    assert answered.answer == "usw2-az1"


def test_where_others_are_taken_a_value_is_kept_as_written(repository: Repository) -> None:
    conversation = repository.create_conversation(title="t", language=Language.ENGLISH, started_by=person())
    question = repository.ask(zone_question(takes_other=True), conversation_id=conversation.id)

    answered = repository.answer_question(question.id, options_version=1, principal=person(), value={"count": 3})

    assert answered.answer == {"count": 3}


def test_the_system_is_no_human(repository: Repository) -> None:
    question_id = conversation_question(repository)

    refused = refusal_of(repository, question_id, principal=SYSTEM, option_id="option-usw2-az1")

    assert refused.reason is RefusalReason.ANSWERER_NOT_HUMAN
