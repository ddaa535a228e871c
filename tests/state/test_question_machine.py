"""However a question is asked again, answered, withdrawn or left to expire: at most one answer, and it was on offer."""

from __future__ import annotations

from contextlib import ExitStack
from datetime import datetime, timedelta

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from core.messages.message import Language
from core.reasons import InputRefused, RefusalReason
from state.errors import IllegalTransition
from state.records import Question, QuestionStatus
from state.repository import open_repository
from tests.builders.folders import memory_folder
from tests.builders.people import person
from tests.builders.questions import zone_question
from tests.fakes.clock import CountingIds, FakeClock

ZONES = ("usw2-az1", "usw2-az2", "usw2-az3")


class QuestionMachine(RuleBasedStateMachine):
    """Beside the rows stands a model of what they must be: the options on offer, their version, the first answer."""

    def __init__(self) -> None:
        super().__init__()
        self.cleanup = ExitStack()
        folder = self.cleanup.enter_context(memory_folder())
        self.clock = FakeClock()
        self.repository = open_repository(folder / "muster.db", clock=self.clock, ids=CountingIds())
        self.conversation = self.repository.create_conversation(
            title="t", language=Language.ENGLISH, started_by=person()
        )
        self.ask(("usw2-az1",), None)

    @rule(
        zones=st.lists(st.sampled_from(ZONES), min_size=1, max_size=3, unique=True).map(tuple),
        minutes=st.none() | st.integers(1, 20),
    )
    def ask(self, zones: tuple[str, ...], minutes: int | None) -> None:
        expires_at = None if minutes is None else self.clock.now() + timedelta(minutes=minutes)
        self.repository.expire_questions()
        before = self.newest() if self.repository.list_questions() else None
        asked = self.repository.ask(zone_question(*zones), conversation_id=self.conversation.id, expires_at=expires_at)
        if before is not None and before.status is QuestionStatus.OPEN:
            assert asked.id == before.id
            assert asked.options_version == before.options_version + (asked.options != before.options)
        else:
            assert asked.options_version == 1
            self.expires_at: datetime | None = None
            self.answer: str | None = None
        self.zones, self.expires_at = zones, expires_at

    @rule(zone=st.sampled_from(ZONES), lag=st.integers(0, 1))
    def answer_it(self, zone: str, lag: int) -> None:
        question = self.newest()
        due = self.expires_at is not None and self.expires_at <= self.clock.now()
        is_open = question.status is QuestionStatus.OPEN and not due
        expected = (
            RefusalReason.ANSWER_LATE
            if not is_open
            else RefusalReason.ANSWER_STALE
            if lag
            else None
            if zone in self.zones
            else RefusalReason.ANSWER_NOT_AN_OPTION
        )
        try:
            self.repository.answer_question(
                question.id,
                options_version=question.options_version - lag,
                principal=person(),
                option_id=f"option-{zone}",
            )
        except InputRefused as refused:
            assert refused.reason is expected
        else:
            assert expected is None
            self.answer = zone

    @rule()
    def withdraw(self) -> None:
        question = self.newest()
        try:
            self.repository.withdraw_question(question.id, actor=person())
        except IllegalTransition:
            assert question.status is not QuestionStatus.OPEN

    @rule(minutes=st.integers(0, 15))
    def pass_time(self, minutes: int) -> None:
        self.clock.advance(timedelta(minutes=minutes))

    @invariant()
    def the_first_answer_stands(self) -> None:
        question = self.newest()
        assert question.answer == self.answer
        assert (question.status is QuestionStatus.ANSWERED) == (self.answer is not None)

    @invariant()
    def only_one_is_open(self) -> None:
        assert len(self.repository.list_questions(status=QuestionStatus.OPEN)) <= 1

    def newest(self) -> Question:
        return self.repository.list_questions()[-1]

    def teardown(self) -> None:
        self.repository.close()
        self.cleanup.close()


TestQuestionMachine = QuestionMachine.TestCase
TestQuestionMachine.settings = settings(max_examples=40, stateful_step_count=20, deadline=None)
