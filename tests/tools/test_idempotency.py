"""Every change happens once, or a person is asked: the ledger against a platform that loses answers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import TypeVar

import pytest
from pydantic import BaseModel

from core.ids import StepName, WorkerId
from core.json_value import JsonObject
from state.errors import LeaseLost, StepChangedItsMind
from state.records import EffectStatus, Run
from state.repository import open_repository
from state.steps import Advance, PutQuestion, StopRequested
from tests.builders.folders import memory_folder
from tests.builders.people import person
from tests.builders.workflows import create_run, text
from tests.fakes.clock import CountingIds, FakeClock
from tests.fakes.toy_platform import FakePlatform, Fault
from tests.fakes.toy_tools import ADD, BUY, CREATE, CREATE_ONCE, SLOW_TO_SHOW, Thing, Units
from tools.contract import EffectTool
from tools.errors import OutcomeUnknown, RejectedByPlatform, RetryableToolError
from tools.idempotency import (
    EffectLedger,
    HumanCancelled,
    HumanMustTell,
    LookAgainLater,
    PlannedCall,
    effect_key,
)

ArgsT = TypeVar("ArgsT", bound=BaseModel)
STEP = StepName("make")


class Bench:
    """One run held by a worker, and a ledger per attempt, as the engine makes them."""

    def __init__(self, path: Path) -> None:
        self.clock = FakeClock()
        self.repository = open_repository(path, clock=self.clock, ids=CountingIds())
        self.platform = FakePlatform(self.clock)
        self.refuse_with: Exception | None = None
        create_run(self.repository)
        self.run = self.claim()
        self.run = self.repository.begin_first_step(self.run, Advance(step=STEP, kind="effect", title=text("make")))
        self.ledger = self.new_attempt()

    def claim(self) -> Run:
        claimed = self.repository.claim_run(worker=WorkerId("w"), lease_until=self.clock.now() + timedelta(seconds=30))
        assert claimed is not None
        return claimed

    def new_attempt(self, *, still_held: Callable[[], None] = lambda: None) -> EffectLedger:
        """What the last attempt did not commit is gone, as after a crash."""
        self.ledger = EffectLedger(
            self.repository, self.platform.clients(), self.clock, permit=self._permit, still_held=still_held
        )
        return self.ledger

    def perform(self, tool: EffectTool[ArgsT], args: ArgsT) -> JsonObject:
        return self.ledger.perform(self.run, STEP, tool, args)

    def status(self) -> EffectStatus:
        (effect,) = self.repository.list_effects(self.run.id)
        return effect.status

    def commit(self) -> None:
        self.repository.settle_effects(self.run, self.ledger.take_settled())

    def lose_answer(self, tool: EffectTool[ArgsT], args: ArgsT, fault: Fault) -> None:
        """A call whose answer never came, then a new attempt."""
        self.platform.faults[tool.call.partition(":")[2]] = [fault]
        with pytest.raises(OutcomeUnknown):
            self.perform(tool, args)
        self.new_attempt()

    def asked(self, tool: EffectTool[ArgsT], args: ArgsT) -> str:
        """The effect cannot be told: the question is put as the engine does. Returns its id."""
        with pytest.raises(HumanMustTell) as pending:
            self.perform(tool, args)
        settled = self.ledger.take_settled()
        self.run = self.repository.finish_step(self.run, PutQuestion(draft=pending.value.question), settled=settled)
        assert self.run.waiting_for is not None
        return self.run.waiting_for

    def answer(self, question_id: str, value: str) -> None:
        question = next(q for q in self.repository.list_questions() if q.id == question_id)
        self.repository.answer_question(
            question.id, options_version=question.options_version, principal=person(), option_id=value
        )
        self.run = self.claim()
        self.new_attempt()

    def _permit(self, run: Run, call: PlannedCall) -> None:
        if self.refuse_with is not None:
            raise self.refuse_with


@pytest.fixture
def bench() -> Iterator[Bench]:
    with memory_folder() as folder:
        yield Bench(folder / "muster.db")


def test_the_key_names_run_step_tool_and_arguments_and_nothing_else(bench: Bench) -> None:
    bench.perform(CREATE, Thing(name="a"))

    (effect,) = bench.repository.list_effects(bench.run.id)
    assert effect.key == effect_key(bench.run.id, STEP, "create_thing", {"name": "a"})
    assert effect.token == effect.key[:32]


def test_a_performed_effect_returns_its_result_and_is_never_called_again(bench: Bench) -> None:
    first = bench.perform(CREATE, Thing())
    bench.commit()
    bench.new_attempt()

    assert bench.perform(CREATE, Thing()) == first == {"id": "thing-1"}
    assert bench.platform.calls.count("Create") == 1


def test_twice_in_one_attempt_is_once(bench: Bench) -> None:
    assert bench.perform(CREATE, Thing()) == bench.perform(CREATE, Thing())
    assert bench.platform.counts() == {"Create thing": 1}


def test_the_intent_is_on_disk_before_the_call(bench: Bench) -> None:
    seen: list[EffectStatus] = []
    bench.platform.watch = lambda event: seen.append(bench.status())

    bench.perform(CREATE, Thing())

    assert seen == [EffectStatus.INTENDED, EffectStatus.INTENDED]


def test_an_effect_whose_record_was_lost_is_adopted(bench: Bench) -> None:
    bench.perform(CREATE, Thing())
    bench.new_attempt()

    assert bench.perform(CREATE, Thing()) == {"id": "thing-1"}
    assert bench.platform.counts() == {"Create thing": 1}


@pytest.mark.parametrize("fault", [Fault.LOST_REQUEST, Fault.LOST_RESPONSE])
@pytest.mark.parametrize(
    ("tool", "args"),
    [
        pytest.param(CREATE, Thing(), id="known by its name"),
        pytest.param(CREATE_ONCE, Thing(), id="known by its token"),
        pytest.param(ADD, Units(count=4), id="known by counting"),
    ],
)
def test_a_lost_answer_ends_in_one_effect(
    bench: Bench, tool: EffectTool[BaseModel], args: BaseModel, fault: Fault
) -> None:
    bench.lose_answer(tool, args, fault)

    bench.perform(tool, args)

    assert sum(bench.platform.counts().values()) == 1


def test_what_the_platform_does_not_show_yet_is_waited_for_and_not_repeated(bench: Bench) -> None:
    bench.platform.lag = timedelta(seconds=45)
    bench.lose_answer(SLOW_TO_SHOW, Thing(), Fault.LOST_RESPONSE)

    with pytest.raises(LookAgainLater) as pending:
        bench.perform(SLOW_TO_SHOW, Thing())
    bench.clock.advance(pending.value.until - bench.clock.now())
    bench.new_attempt()

    assert bench.perform(SLOW_TO_SHOW, Thing()) == {"id": "thing-1"}
    assert bench.platform.counts() == {"CreateSlowly thing": 1}


def test_the_wait_counts_from_the_last_call_and_not_from_the_first_intent(bench: Bench) -> None:
    bench.lose_answer(SLOW_TO_SHOW, Thing(), Fault.LOST_REQUEST)
    bench.clock.advance(timedelta(seconds=60))
    bench.lose_answer(SLOW_TO_SHOW, Thing(), Fault.LOST_REQUEST)

    with pytest.raises(LookAgainLater) as pending:
        bench.perform(SLOW_TO_SHOW, Thing())

    assert pending.value.until == bench.clock.now() + timedelta(seconds=60)


def test_a_clock_that_was_set_back_does_not_stretch_the_wait(bench: Bench) -> None:
    bench.lose_answer(SLOW_TO_SHOW, Thing(), Fault.LOST_REQUEST)
    bench.clock.advance(-timedelta(hours=5))

    with pytest.raises(LookAgainLater) as pending:
        bench.perform(SLOW_TO_SHOW, Thing())

    assert pending.value.until == bench.clock.now() + timedelta(seconds=60)


def test_an_increment_that_somebody_else_disturbed_goes_to_a_person(bench: Bench) -> None:
    bench.lose_answer(ADD, Units(count=4), Fault.LOST_RESPONSE)
    bench.platform.call("things", "Add", {"name": "theirs", "count": 1, "token": ""})

    bench.asked(ADD, Units(count=4))

    (question,) = bench.repository.list_questions()
    assert bench.status() is EffectStatus.UNKNOWN
    assert [option.value for option in question.options] == ["happened", "not_happened", "cancel"]
    assert "There were 0 units and now there are 5" in " ".join(line.english() for line in question.details)


def test_money_is_not_spent_again_without_a_persons_word(bench: Bench) -> None:
    bench.lose_answer(BUY, Thing(), Fault.LOST_REQUEST)

    question = bench.asked(BUY, Thing())
    assert bench.platform.counts() == {}
    bench.answer(question, "not_happened")

    assert bench.perform(BUY, Thing()) == {"id": "thing-1"}
    assert bench.platform.counts() == {"Buy thing": 1}


def test_money_that_was_spent_is_found_and_not_asked_about(bench: Bench) -> None:
    bench.lose_answer(BUY, Thing(), Fault.LOST_RESPONSE)

    assert bench.perform(BUY, Thing()) == {"id": "thing-1"}


def test_spending_is_on_record_as_soon_as_the_answer_is_there(bench: Bench) -> None:
    bench.perform(BUY, Thing())

    assert bench.status() is EffectStatus.APPLIED


def test_an_answer_speaks_for_one_lost_outcome_only(bench: Bench) -> None:
    bench.lose_answer(BUY, Thing(), Fault.LOST_REQUEST)
    bench.answer(bench.asked(BUY, Thing()), "not_happened")
    bench.lose_answer(BUY, Thing(), Fault.LOST_REQUEST)

    second = bench.asked(BUY, Thing())

    assert len(bench.repository.list_questions()) == 2
    assert second == bench.repository.list_questions()[1].id
    assert bench.platform.counts() == {}


def test_what_became_visible_counts_more_than_what_was_answered(bench: Bench) -> None:
    bench.lose_answer(BUY, Thing(), Fault.LOST_REQUEST)
    question = bench.asked(BUY, Thing())
    bench.platform.call("things", "Buy", {"name": "thing", "token": "by hand"})
    bench.answer(question, "not_happened")

    assert bench.perform(BUY, Thing()) == {"id": "thing-1"}
    assert bench.platform.counts() == {"Buy thing": 1}


def test_it_happened_is_believed_only_when_it_is_there(bench: Bench) -> None:
    bench.lose_answer(BUY, Thing(), Fault.LOST_REQUEST)
    bench.answer(bench.asked(BUY, Thing()), "happened")

    again = bench.asked(BUY, Thing())

    details = next(q for q in bench.repository.list_questions() if q.id == again).details
    assert "does not show it" in details[0].english()
    assert bench.platform.counts() == {}


def test_a_person_may_end_the_run_instead(bench: Bench) -> None:
    bench.lose_answer(BUY, Thing(), Fault.LOST_REQUEST)
    bench.answer(bench.asked(BUY, Thing()), "cancel")

    with pytest.raises(HumanCancelled):
        bench.perform(BUY, Thing())


def test_a_refused_effect_failed_and_may_be_tried_afresh(bench: Bench) -> None:
    bench.platform.faults["Create"] = [Fault.REJECTED]
    with pytest.raises(RejectedByPlatform):
        bench.perform(CREATE, Thing())
    bench.commit()
    assert bench.status() is EffectStatus.FAILED

    assert bench.perform(CREATE, Thing()) == {"id": "thing-1"}


def test_a_throttled_purchase_certainly_did_not_happen_and_may_be_tried_again(bench: Bench) -> None:
    bench.platform.faults["Buy"] = [Fault.THROTTLED]
    with pytest.raises(RetryableToolError):
        bench.perform(BUY, Thing())
    bench.new_attempt()

    assert bench.perform(BUY, Thing()) == {"id": "thing-1"}


def test_a_step_that_changes_its_mind_while_an_outcome_is_open_is_stopped(bench: Bench) -> None:
    bench.lose_answer(ADD, Units(count=4), Fault.LOST_RESPONSE)

    with pytest.raises(StepChangedItsMind):
        bench.perform(ADD, Units(count=3))

    assert bench.platform.counts() == {"Add units": 1}


def test_two_effects_of_one_tool_in_a_row_are_both_made(bench: Bench) -> None:
    bench.perform(CREATE, Thing(name="a"))
    bench.perform(CREATE, Thing(name="b"))

    assert bench.platform.counts() == {"Create a": 1, "Create b": 1}


def test_a_worker_that_lost_its_run_records_no_intent_and_calls_nothing(bench: Bench) -> None:
    stale = bench.run
    bench.clock.advance(timedelta(minutes=1))
    bench.claim()

    with pytest.raises(LeaseLost):
        bench.ledger.perform(stale, STEP, CREATE, Thing())

    assert bench.platform.counts() == {}
    assert bench.repository.list_effects(stale.id) == []


def test_a_process_that_slept_through_its_lease_does_not_call(bench: Bench) -> None:
    def gone() -> None:
        raise LeaseLost(bench.run.id, bench.run.fence)

    bench.new_attempt(still_held=gone)
    with pytest.raises(LeaseLost):
        bench.perform(CREATE, Thing())

    assert bench.platform.counts() == {}


def test_a_wish_to_stop_comes_before_the_next_effect(bench: Bench) -> None:
    bench.repository.cancel_run(bench.run.id, actor=person())

    with pytest.raises(StopRequested):
        bench.perform(CREATE, Thing())

    assert bench.platform.counts() == {}


def test_a_gate_is_asked_before_an_intent_is_recorded(bench: Bench) -> None:
    bench.refuse_with = PermissionError("read-only")

    with pytest.raises(PermissionError):
        bench.perform(CREATE, Thing())

    assert bench.repository.list_effects(bench.run.id) == []


def test_a_gate_that_closed_meanwhile_stops_the_repeated_call(bench: Bench) -> None:
    bench.lose_answer(CREATE, Thing(), Fault.LOST_REQUEST)
    bench.refuse_with = PermissionError("read-only")

    with pytest.raises(PermissionError):
        bench.perform(CREATE, Thing())

    assert bench.platform.counts() == {}


def test_a_closed_gate_does_not_hide_what_has_happened(bench: Bench) -> None:
    bench.lose_answer(CREATE, Thing(), Fault.LOST_RESPONSE)
    bench.refuse_with = PermissionError("read-only")

    assert bench.perform(CREATE, Thing()) == {"id": "thing-1"}


def test_each_change_of_an_effect_is_in_the_runs_audit_chain(bench: Bench) -> None:
    bench.perform(CREATE, Thing())
    bench.commit()

    events = [event for event in bench.repository.list_audit(bench.run.id) if event.what == "effect.create_thing"]
    assert [(event.before, event.after) for event in events] == [(None, "intended"), ("intended", "applied")]
    assert bench.repository.verify_audit(bench.run.id) is None
