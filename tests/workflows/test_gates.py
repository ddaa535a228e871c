"""What stands between a run and the world, outside the model and the steps."""

from __future__ import annotations

import sqlite3
from datetime import timedelta
from pathlib import Path

import pytest

from core.governance.principals import Channel, Role
from core.json_value import JsonObject
from core.messages.message import Language
from core.reasons import RefusalReason
from state.errors import ApprovalUsed
from state.records import Run, RunStatus, Speaker
from state.repository import Repository
from state.switches import Mutation
from tests.builders.people import person
from tests.builders.plans import plan_node, propose
from tests.builders.questions import zone_question
from tests.builders.workflows import ToyParams, create_run, make_worker, workflow
from tests.fakes.clock import FakeClock
from tests.fakes.toy_platform import FakePlatform
from tests.fakes.toy_tools import CREATE, Thing
from workflows.definition import Done, Outcome, StepContext
from workflows.gates import ApprovalGate, ChoiceGate, MutationGate, RoleGate


def make_thing(context: StepContext, params: ToyParams) -> Outcome:
    context.perform(CREATE, Thing())
    return Done()


def approved_run(repository: Repository, params: JsonObject | None = None) -> Run:
    plan, question = propose(repository, plan_node(params=params or {"name": "thing"}))
    repository.answer_question(question.id, options_version=1, principal=person("li"), option_id="option-approve")
    return repository.list_runs(plan_id=plan.id)[0]


def tamper(path: Path, sql: str) -> None:
    """What somebody with the file in hand could do."""
    with sqlite3.connect(path) as connection:
        connection.execute(sql)
    connection.close()


# Read-only mode


def test_in_read_only_mode_a_run_waits_at_its_first_change_and_goes_on_later(
    repository: Repository, clock: FakeClock
) -> None:
    platform = FakePlatform(clock)
    run = create_run(repository)
    worker = make_worker(repository, clock, workflow(make_thing), platform=platform, gates=[MutationGate(repository)])
    repository.set_mutation(Mutation.READ_ONLY, actor=person())
    worker.work_until_idle()
    assert repository.get_run(run.id).status is RunStatus.WAITING
    assert platform.counts() == {}

    repository.set_mutation(Mutation.ALLOWED, actor=person())
    clock.advance(timedelta(minutes=1))
    worker.work_until_idle()

    assert repository.get_run(run.id).status is RunStatus.DONE


def test_switching_mutation_off_and_on_is_audited(repository: Repository) -> None:
    repository.set_mutation(Mutation.STOPPED, actor=person("li"))
    repository.set_mutation(Mutation.STOPPED, actor=person("li"))
    repository.set_mutation(Mutation.ALLOWED, actor=person("mei"))

    events = repository.list_audit("mutation")
    assert [(event.before, event.after, event.actor.id) for event in events] == [
        ("allowed", "stopped", "li"),
        ("stopped", "allowed", "mei"),
    ]


# Approval


def test_an_approved_run_may_go(repository: Repository) -> None:
    assert ApprovalGate(repository).refuse(approved_run(repository), None) is None


def test_a_crash_does_not_use_an_approval_up(repository: Repository, clock: FakeClock) -> None:
    run = approved_run(repository)
    platform = FakePlatform(clock)

    def die(event: str) -> None:
        raise KeyboardInterrupt

    platform.watch = die
    gates = [ApprovalGate(repository)]
    with pytest.raises(KeyboardInterrupt):
        make_worker(repository, clock, workflow(make_thing), platform=platform, gates=gates).work_until_idle()
    clock.advance(timedelta(minutes=1))
    make_worker(repository, clock, workflow(make_thing), gates=gates).work_until_idle()

    assert repository.get_run(run.id).status is RunStatus.DONE


def test_a_run_without_a_plan_is_refused(repository: Repository, clock: FakeClock) -> None:
    platform = FakePlatform(clock)
    run = create_run(repository)
    make_worker(
        repository, clock, workflow(make_thing), platform=platform, gates=[ApprovalGate(repository)]
    ).work_until_idle()

    assert repository.get_run(run.id).status is RunStatus.REFUSED
    assert platform.counts() == {}


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        pytest.param(
            """UPDATE runs SET params = '{"name":"bigger"}'""",
            RefusalReason.APPROVAL_MISMATCH,
            id="other parameters",
        ),
        pytest.param("UPDATE runs SET cluster = 'other'", RefusalReason.APPROVAL_MISMATCH, id="another cluster"),
        pytest.param("UPDATE runs SET workflow_version = 2", RefusalReason.APPROVAL_MISMATCH, id="another version"),
        pytest.param("UPDATE runs SET plan_node = 'other'", RefusalReason.APPROVAL_MISMATCH, id="another node"),
        pytest.param(
            "UPDATE plans SET envelope = replace(envelope, 'thing', 'bigger')",
            RefusalReason.APPROVAL_MISSING,
            id="a plan changed after approval",
        ),
        pytest.param("UPDATE plans SET status = 'proposed'", RefusalReason.APPROVAL_MISSING, id="a plan not approved"),
        pytest.param("""UPDATE questions SET answer = '"reject"'""", RefusalReason.APPROVAL_MISSING, id="a rejection"),
        pytest.param(
            "UPDATE questions SET expires_at = answered_at",
            RefusalReason.APPROVAL_MISSING,
            id="an approval that came too late",
        ),
        pytest.param(
            "UPDATE questions SET answered_by = replace(answered_by, 'terminal', 'system')",
            RefusalReason.APPROVAL_MISSING,
            id="an approval by no human",
        ),
        pytest.param(
            "UPDATE questions SET plan_digest = 'other'",
            RefusalReason.APPROVAL_MISSING,
            id="an approval of another plan",
        ),
    ],
)
def test_what_is_not_exactly_what_was_approved_is_refused(
    repository: Repository, database_path: Path, sql: str, reason: RefusalReason
) -> None:
    run = approved_run(repository)
    tamper(database_path, sql)

    refusal = ApprovalGate(repository).refuse(repository.get_run(run.id), None)

    assert refusal is not None and refusal.reason is reason
    assert refusal.look_again_after is None


def test_a_plan_starts_each_of_its_nodes_once(repository: Repository) -> None:
    run = approved_run(repository)

    with pytest.raises(ApprovalUsed):
        repository.create_run(
            workflow="toy",
            workflow_version=1,
            params=run.params,
            requested_by=person(),
            plan_id=run.plan_id,
            plan_node=run.plan_node,
        )


# Roles


@pytest.mark.parametrize(
    ("requester", "approver"),
    [
        pytest.param(Role.ENGINEER, Role.PLATFORM_ADMIN, id="the requester may not"),
        pytest.param(Role.PLATFORM_ADMIN, Role.PROJECT_LEAD, id="the approver may not"),
    ],
)
def test_a_run_beyond_a_role_is_refused_when_it_begins(repository: Repository, requester: Role, approver: Role) -> None:
    plan, question = propose(repository, requested_by=person("mei", role=requester))
    answerer = person("li", role=approver)
    repository.answer_question(question.id, options_version=1, principal=answerer, option_id="option-approve")
    [run] = repository.list_runs(plan_id=plan.id)

    refusal = RoleGate(repository).refuse(run, None)

    assert refusal is not None and refusal.reason is RefusalReason.ROLE_MISSING


def test_a_run_within_the_roles_of_both_may_begin(repository: Repository) -> None:
    assert RoleGate(repository).refuse(approved_run(repository), None) is None


# Choices


def run_with(repository: Repository, choice: JsonObject, *, channel: Channel = Channel.TERMINAL) -> Run:
    conversation = repository.create_conversation(title="t", language=Language.ENGLISH, started_by=person())
    repository.append_transcript(
        conversation.id, speaker=Speaker.USER, text="Two nodes in  USW2-AZ1 please", principal=person()
    )
    repository.append_transcript(conversation.id, speaker=Speaker.ASSISTANT, text="Or usw2-az3?")
    question = repository.ask(zone_question("usw2-az1", "usw2-az2"), conversation_id=conversation.id)
    repository.answer_question(question.id, options_version=1, principal=person(), option_id="option-usw2-az2")
    filled = {"kind": "availability_zone", "quote": "usw2-az1", "reference": question.id, **choice}
    return repository.create_run(
        workflow="toy",
        workflow_version=1,
        params={"choices": {"availability_zone": filled}},
        requested_by=person(channel=channel),
        conversation_id=conversation.id,
    )


@pytest.mark.parametrize(
    "choice",
    [
        pytest.param({"value": "usw2-az1", "origin": "said"}, id="the requester's own words"),
        pytest.param({"value": "usw2-az1", "origin": "said", "quote": "two … please"}, id="pieces of one message"),
        pytest.param({"value": "usw2-az1", "origin": "said", "quote": "usw2-az2 → please"}, id="an answer completed"),
        pytest.param({"value": "usw2-az2", "origin": "answered"}, id="an answer"),
        pytest.param({"value": "usw2-az1", "origin": "existing"}, id="fixed by what was targeted"),
    ],
)
def test_a_choice_with_an_origin_passes(repository: Repository, choice: JsonObject) -> None:
    assert ChoiceGate(repository).refuse(run_with(repository, choice), None) is None


@pytest.mark.parametrize(
    "choice",
    [
        pytest.param({"value": "usw2-az1"}, id="no origin"),
        pytest.param({"value": "usw2-az1", "origin": "guessed"}, id="an origin that is none"),
        pytest.param({"value": "usw2-az1", "origin": "said", "kind": "capacity"}, id="another kind"),
        pytest.param({"value": "usw2-az1", "origin": "said", "quote": ""}, id="no quote"),
        pytest.param({"value": "usw2-az3", "origin": "said", "quote": "usw2-az3"}, id="the assistant's words"),
        pytest.param({"value": "usw2-az1", "origin": "said", "quote": "please … two"}, id="pieces in another order"),
        pytest.param({"value": "usw2-az1", "origin": "said", "quote": "two → usw2-az2"}, id="an answer as later words"),
        pytest.param({"value": "usw2-az1", "origin": "said", "quote": "two … "}, id="a piece that is empty"),
        pytest.param({"value": "usw2-az1", "origin": "answered"}, id="another value than was answered"),
        pytest.param({"value": "usw2-az2", "origin": "answered", "reference": "question-99"}, id="no such question"),
        pytest.param({"value": "usw2-az1", "origin": "runbook_parameter"}, id="a runbook's without a runbook"),
    ],
)
def test_a_choice_that_no_person_made_is_refused(repository: Repository, choice: JsonObject) -> None:
    refusal = ChoiceGate(repository).refuse(run_with(repository, choice), None)

    assert refusal is not None and refusal.reason is RefusalReason.CHOICE_WITHOUT_ORIGIN


def test_a_runbooks_own_parameter_passes(repository: Repository) -> None:
    run = run_with(repository, {"value": "usw2-az1", "origin": "runbook_parameter"}, channel=Channel.RUNBOOK)

    assert ChoiceGate(repository).refuse(run, None) is None
