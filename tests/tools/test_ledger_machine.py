"""Whatever a step, the platform, people and crashes do in whatever order: one effect each, or a person was asked."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import timedelta
from random import Random

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from core.ids import RandomIds, StepName, WorkerId
from state.errors import StepChangedItsMind
from state.records import EffectStatus, QuestionStatus, Run
from state.repository import open_repository
from state.steps import Advance, PutQuestion, Sleep
from tests.builders.folders import memory_folder
from tests.builders.people import person
from tests.builders.workflows import create_run, text
from tests.fakes.clock import FakeClock
from tests.fakes.quiet_log import quiet_log
from tests.fakes.toy_platform import FakePlatform, Fault
from tests.fakes.toy_tools import BUY, CREATE, CREATE_ONCE, SLOW_TO_SHOW, Thing
from tools.errors import ToolError
from tools.idempotency import EffectLedger, HumanMustTell, LookAgainLater, PlannedCall

STEP = StepName("make")
TOOLS = {tool.call.partition(":")[2]: tool for tool in (CREATE, CREATE_ONCE, BUY, SLOW_TO_SHOW)}
LAG = timedelta(seconds=45)


def permit(run: Run, call: PlannedCall) -> None:
    """No gate in this machine."""


class LedgerMachine(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.cleanup = ExitStack()
        self.cleanup.enter_context(quiet_log())
        folder = self.cleanup.enter_context(memory_folder())
        self.clock = FakeClock()
        self.platform = FakePlatform(self.clock, lag=LAG)
        self.repository = open_repository(folder / "muster.db", clock=self.clock, ids=RandomIds(Random(1)))
        create_run(self.repository)
        self.run = self.claim()
        self.run = self.repository.begin_first_step(self.run, Advance(step=STEP, kind="effect", title=text("make")))
        self.new_attempt()
        self.performed: set[str] = set()

    def claim(self) -> Run:
        run = self.repository.claim_run(worker=WorkerId("w"), lease_until=self.clock.now() + timedelta(seconds=30))
        assert run is not None
        return run

    def new_attempt(self) -> None:
        self.ledger = EffectLedger(
            self.repository, self.platform.clients(), self.clock, permit=permit, still_held=lambda: None
        )

    def wake(self, end: Sleep | PutQuestion) -> None:
        self.run = self.repository.finish_step(self.run, end, settled=self.ledger.take_settled())
        if isinstance(end, PutQuestion):
            self.answer_truthfully()
        elif end.until > self.clock.now():
            self.clock.advance(end.until - self.clock.now())
        self.run = self.claim()
        self.new_attempt()

    def answer_truthfully(self) -> None:
        """The person knows what the platform did, whatever its lists show."""
        (question,) = self.repository.list_questions(status=QuestionStatus.OPEN)
        unknown = next(e for e in self.repository.list_effects(self.run.id) if e.status is EffectStatus.UNKNOWN)
        happened = any(effect["token"] == unknown.token for effect in self.platform.effects())
        self.repository.answer_question(
            question.id,
            options_version=question.options_version,
            principal=person(),
            option_id="happened" if happened else "not_happened",
        )

    @rule(operation=st.sampled_from(sorted(TOOLS)), name=st.sampled_from("ab"))
    def perform(self, operation: str, name: str) -> None:
        try:
            self.ledger.perform(self.run, STEP, TOOLS[operation], Thing(name=name))
        except StepChangedItsMind as refused:
            open_one = next(e for e in self.repository.list_effects(self.run.id) if e.key == refused.key)
            assert open_one.status is not EffectStatus.APPLIED
        except LookAgainLater as pending:
            self.wake(Sleep(until=pending.until, why=pending.why))
        except HumanMustTell as pending:
            self.wake(PutQuestion(draft=pending.question))
        except ToolError as error:
            self.wake(Sleep(until=self.clock.now(), why=error.message))
        else:
            self.performed.add(f"{operation} {name}")

    @rule(operation=st.sampled_from(sorted(TOOLS)), fault=st.sampled_from(Fault))
    def arm(self, operation: str, fault: Fault) -> None:
        self.platform.faults[operation] = [fault]

    @rule(seconds=st.integers(0, 90))
    def pass_time(self, seconds: int) -> None:
        self.clock.advance(timedelta(seconds=seconds))

    @precondition(lambda self: self.performed)
    @rule()
    def crash(self) -> None:
        """What was not committed is forgotten; another worker takes over when the lease has run out."""
        self.clock.advance(timedelta(seconds=31))
        self.run = self.claim()
        self.new_attempt()

    @invariant()
    def nothing_happened_twice(self) -> None:
        assert all(count == 1 for count in self.platform.counts().values())

    @invariant()
    def what_was_returned_did_happen(self) -> None:
        assert self.performed <= self.platform.counts().keys()

    @invariant()
    def the_audit_chain_is_whole(self) -> None:
        assert self.repository.verify_audit(self.run.id) is None

    def teardown(self) -> None:
        self.repository.close()
        self.cleanup.close()


TestLedgerMachine = LedgerMachine.TestCase
TestLedgerMachine.settings = settings(
    max_examples=50, stateful_step_count=30, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
