"""One conversation on one screen: what happened is shown as it happens, what is typed becomes an answer or a wish.

Everything shown comes from rows by cursor (feed, transcript, questions), so two terminals on one conversation
see the same; only the text of this terminal's own turn is streamed ahead of its row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

from agent.events import AgentEvent, TurnBegan
from core.governance.principals import Principal
from core.ids import ConversationId
from core.messages.message import Language, MessageParam, message
from core.questions import QuestionKind
from core.reasons import InputRefused, RefusalReason
from interfaces.answers import Reply, read_reply, refuse_number_off_list
from interfaces.bootstrap.home import Home, locked
from interfaces.cli.agent_lines import show_event
from interfaces.cli.feed_lines import feed_line
from interfaces.cli.screen import Screen
from interfaces.questions import question_lines
from state.records import (
    Conversation,
    FeedEntry,
    FeedKind,
    Question,
    QuestionStatus,
    Run,
    RunStatus,
    Speaker,
    TranscriptEntry,
)
from state.repository import Repository

MAX_MESSAGE_BYTES = 32_000
"""A longer message is refused before anything is stored: it would crowd out the conversation."""
_REMEMBERED = 20
"""How many transcript entries an opened conversation shows again."""
_WORKING = frozenset({RunStatus.QUEUED, RunStatus.RUNNING, RunStatus.WAITING})


class Talk(Protocol):
    """`agent.assistant.Assistant`, as far as a channel needs it."""

    def send(self, conversation_id: ConversationId, text: str, principal: Principal) -> Iterable[AgentEvent]: ...

    def resume(self, conversation_id: ConversationId) -> Iterable[AgentEvent]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Person:
    """Who sits here, and the language that is spoken to them: a fixed one, or the one that they speak."""

    principal: Principal
    language: Language
    is_language_fixed: bool = False


class OpenConversation:
    """Rows in, lines out. Typing is `interfaces.cli.chat`'s."""

    def __init__(
        self,
        *,
        rows: Repository,
        assistant: Talk,
        home: Home,
        conversation: Conversation,
        person: Person,
        screen: Screen,
    ) -> None:
        self._rows, self._assistant, self._home = rows, assistant, home
        self._conversation, self._person, self._screen = conversation, person, screen
        self._language = person.language
        self._seen_version: int | None = None
        self._seen_feed = self._own_turn_until = 0
        self._seen_transcript = 0
        self._shown: Question | None = None

    @property
    def id(self) -> ConversationId:
        return self._conversation.id

    def show_news(self) -> None:
        """Whatever came since the last look, in the order in which it happened; then what is asked."""
        if (version := self._rows.version()) == self._seen_version:
            return
        self._seen_version = version
        self._show_transcript()
        entries = self._rows.list_feed(after=self._seen_feed, conversation_id=self.id)
        for entry in entries:
            self._seen_feed = entry.sequence
            self._show_feed_entry(entry)
        if any(self._was_answered_elsewhere(entry) for entry in entries):
            self._play(lambda: self._assistant.resume(self.id))
        self.show_question()

    def catch_up(self) -> None:
        """For a conversation that is opened again: its last lines, and whatever was answered or cut short since."""
        entries = self._rows.list_transcript(self.id)
        if not entries:
            return
        self._seen_transcript = entries[-_REMEMBERED].sequence - 1 if len(entries) > _REMEMBERED else 0
        self._seen_feed = self._own_turn_until = self._rows.newest_feed_sequence()
        self._play(lambda: self._assistant.resume(self.id))

    def take(self, text: str) -> None:
        """One typed line. Raises `OpsError`; then nothing was answered and nothing was sent."""
        shown = self._shown
        if shown is not None and (reply := self._reply_to(shown, text)) is not None:
            self._answer(shown, reply)
            return
        if (size := len(text.encode())) > MAX_MESSAGE_BYTES:
            raise InputRefused(
                RefusalReason.INPUT_TOO_LARGE, message("chat.too_long", size=size, most=MAX_MESSAGE_BYTES)
            )
        self._play(lambda: self._assistant.send(self.id, text, self._person.principal))
        self._remind_of(shown)

    def open_questions(self) -> list[Question]:
        """The oldest comes first: it is the one that a typed answer answers."""
        return self._rows.list_questions(status=QuestionStatus.OPEN, conversation_id=self.id)

    def working_runs(self) -> list[Run]:
        """Those that go on by themselves or wait for an answer; paused and failed ones stand still."""
        runs = self._rows.list_runs(conversation_id=self.id)
        return [run for run in reversed(runs) if run.status in _WORKING]

    def show_question(self, *, again: bool = False) -> None:
        """The oldest open one, once per version of its options."""
        question = next(iter(self.open_questions()), None)
        if question is None:
            return
        if self._shown is not None and _same_list(self._shown, question) and not again:
            return
        self._shown = question
        self._screen.line()
        for number, line in enumerate(question_lines(question, self._language)):
            self._screen.line(line, style="bold" if number == 0 else "")

    def say(self, key: str, /, *, style: str = "", **params: MessageParam) -> None:
        """A line of the chat's own."""
        self._screen.line(message(key, **params).render(self._language), style=style)

    def _reply_to(self, shown: Question, text: str) -> Reply | None:
        """An answer to the list that stands on this screen.

        Of a plan's open question the assistant understands more ("the cheaper one"), so it gets the words; but
        an answer to a list that somebody else has closed or changed meanwhile must not become a new wish.
        """
        present = self._rows.get_question(shown.id)
        is_current = present.status is QuestionStatus.OPEN and _same_list(present, shown)
        if shown.run_id is None and is_current:
            refuse_number_off_list(shown, text)
            return None
        if not is_current and present.answered_by == self._person.principal:
            return None  # this person's own answer: what comes next is new
        reply = read_reply(shown, text)
        if present.status is QuestionStatus.WITHDRAWN and reply is not None and reply.option_id is None:
            return None  # no answer is wanted any more, and these words chose nothing of that list
        return reply

    def _answer(self, question: Question, reply: Reply) -> None:
        try:
            self._rows.answer_question(
                question.id,
                options_version=question.options_version,
                principal=self._person.principal,
                option_id=reply.option_id,
                value=reply.value,
            )
        finally:
            self._shown = None

    def _play(self, turn: Callable[[], Iterable[AgentEvent]]) -> None:
        """One turn of the assistant, streamed. Other terminals of this conversation wait for theirs."""
        with locked(self._home.conversation_lock(self.id)):
            self._show_transcript()
            for event in turn():
                if isinstance(event, TurnBegan) and not self._person.is_language_fixed:
                    self._language = event.language
                show_event(event, self._screen, self._language)
            self._screen.end_stream()
            self._skip_transcript()
            self._own_turn_until = self._rows.newest_feed_sequence()

    def _remind_of(self, shown: Question | None) -> None:
        """A question that other talk left open has scrolled away; its card need not be read again."""
        question = next(iter(self.open_questions()), None)
        if question is None or shown is None or not _same_list(shown, question):
            return
        options = [
            f"{number}) {option.label.render(self._language)}"
            for number, option in enumerate(question.options, start=1)
        ]
        prompt = question.prompt.render(self._language)
        self.say("chat.still_open", prompt=prompt, options="   ".join(options), style="bold")

    def _is_own_verdict(self, entry: FeedEntry) -> bool:
        """The assistant's sentence about the plan tells it already."""
        if entry.kind is not FeedKind.ANSWER or entry.question_id is None or entry.sequence > self._own_turn_until:
            return False
        question = self._rows.get_question(entry.question_id)
        return question.kind is QuestionKind.APPROVAL and question.answered_by == self._person.principal

    def _was_answered_elsewhere(self, entry: FeedEntry) -> bool:
        """An answer to a plan's question that came through no assistant: somebody has to let the plan go on."""
        return entry.kind is FeedKind.ANSWER and entry.run_id is None and entry.sequence > self._own_turn_until

    def _show_feed_entry(self, entry: FeedEntry) -> None:
        if entry.kind is FeedKind.QUESTION or self._is_own_verdict(entry):
            return  # a question is shown whole, once it is its turn
        line = feed_line(entry, self._language)
        if line.redraw_key is None:
            self._screen.line(line.text, style=line.style)
        else:
            self._screen.progress(line.redraw_key, line.text, style=line.style)

    def _show_transcript(self) -> None:
        for entry in self._rows.list_transcript(self.id, after=self._seen_transcript):
            self._seen_transcript = entry.sequence
            if entry.speaker is not Speaker.TOOL and (text := self._text(entry)):
                self._screen.line(f"{_speaker(entry)}: {text}")

    def _skip_transcript(self) -> None:
        """This terminal's own turn is on the screen already."""
        entries = self._rows.list_transcript(self.id, after=self._seen_transcript)
        self._seen_transcript = entries[-1].sequence if entries else self._seen_transcript

    def _text(self, entry: TranscriptEntry) -> str:
        return entry.message.render(self._language) if entry.message else entry.text


def _speaker(entry: TranscriptEntry) -> str:
    return "Muster" if entry.speaker is Speaker.ASSISTANT or entry.principal is None else entry.principal.id


def _same_list(one: Question, other: Question) -> bool:
    return (one.id, one.options_version) == (other.id, other.options_version)
