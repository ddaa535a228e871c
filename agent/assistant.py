"""The conversation as channels use it: send a message, or go on after a question was answered elsewhere."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import cast

from langchain_core.runnables import RunnableConfig
from langgraph.errors import GraphRecursionError
from langgraph.types import Command, StateSnapshot

from agent.answers import SpokenAnswer, answer_in_words
from agent.conversation import Budgets, Desk, Profile, Turn, TurnState
from agent.events import AgentEvent, AnswerTaken, EndReason, Refusal, Said, TurnBegan, TurnEnded
from agent.graph import RECURSION_LIMIT, build_graph, open_saver, prune
from agent.language import language_of, language_of_conversation
from agent.locks import turn_lock
from agent.models.wire import Model
from agent.toolbox.reads import LookTool
from core.clock import Clock
from core.governance.principals import Principal
from core.ids import ConversationId, QuestionId
from core.messages.message import Message, message
from core.reasons import InputRefused, OpsError, RefusalReason
from state.records import Question, QuestionStatus, Speaker, TranscriptEntry
from state.repository import Repository
from workflows.operations import Operation, Reads


class Assistant:
    """Serves any number of conversations; one turn of each at a time.

    `checkpoints_path` is the file of LangGraph's checkpoints; lock files stand beside it. The rows of
    `repository` are the truth: losing the checkpoints loses the place in a turn, nothing else.
    """

    def __init__(
        self,
        *,
        repository: Repository,
        operations: Sequence[Operation],
        workflow_versions: Mapping[str, int],
        reads: Reads,
        look_tools: Sequence[LookTool],
        model: Model,
        clock: Clock,
        profile: Profile,
        checkpoints_path: Path,
        budgets: Budgets | None = None,
    ) -> None:
        self._desk = Desk(
            repository=repository,
            operations={operation.name: operation for operation in operations},
            workflow_versions=workflow_versions,
            reads=reads,
            look_tools={tool.name: tool for tool in look_tools},
            model=model,
            clock=clock,
            profile=profile,
            budgets=budgets or Budgets(),
        )
        self._saver = open_saver(checkpoints_path)
        self._graph = build_graph(self._saver)
        self._locks = checkpoints_path.with_suffix(".locks")

    def send(self, conversation_id: ConversationId, text: str, principal: Principal) -> Iterator[AgentEvent]:
        """One message of a person and all that follows, until the turn ends or waits for an answer.

        Raises `RowNotFound` for an unknown conversation. Whoever stops reading the events stops the turn
        between two nodes; `resume` goes on with it.
        """
        turn = self._turn(conversation_id, principal, text)
        yield TurnBegan(language=turn.language)
        with turn_lock(self._locks, conversation_id) as is_mine:
            if not is_mine:
                yield from _stop(Said(message=message("agent.busy")))
            elif len(text) > self._desk.budgets.input_characters:
                refused = message("agent.input_too_large", limit=self._desk.budgets.input_characters)
                yield from _stop(Refusal(reason=RefusalReason.INPUT_TOO_LARGE, message=refused))
            elif not text.strip():
                yield from _stop(Said(message=message("agent.input_empty")))
            else:
                yield from self._guarded(self._take(turn, text))

    def resume(self, conversation_id: ConversationId) -> Iterator[AgentEvent]:
        """Goes on after an answer that was given through the repository, or after a crash. Else only ends.

        Raises `RowNotFound` for an unknown conversation.
        """
        turn = self._turn(conversation_id, None, "")
        yield TurnBegan(language=turn.language)
        with turn_lock(self._locks, conversation_id) as is_mine:
            if is_mine:
                yield from self._guarded(self._resume(turn))
            else:
                yield from _stop(Said(message=message("agent.busy")))

    def close(self) -> None:
        self._saver.conn.close()

    def _take(self, turn: Turn, text: str) -> Iterator[AgentEvent]:
        for event in self._finish_cut_short(turn):
            if not isinstance(event, TurnEnded):
                yield event
        entry = turn.repository.append_transcript(
            turn.conversation_id, speaker=Speaker.USER, text=text, principal=turn.principal
        )
        yield from self._process(turn, entry)

    def _process(self, turn: Turn, entry: TranscriptEntry) -> Iterator[AgentEvent]:
        answers = self._spoken_answers(turn, entry.text)
        decided = self._decided_meanwhile(turn)
        if decided is not None and not answers:
            yield from self._process_late(turn, entry, decided)
        elif len(answers) > 1:
            yield from _stop(Said(message=message("agent.which_question")))
        elif answers:
            yield from self._answer(turn, entry, *answers[0])
        else:
            yield from self._run(turn, TurnState(turn=entry.sequence, is_settling=False))

    def _process_late(self, turn: Turn, entry: TranscriptEntry, decided: Question) -> Iterator[AgentEvent]:
        """The question on the screen was decided elsewhere, or expired: that is told before the message is taken."""
        is_late_answer = answer_in_words(decided, entry.text, region=self._desk.profile.region) is not None
        if is_late_answer:
            yield Said(message=_why_late(decided))
        for event in self._settle(turn, entry if is_late_answer else None):
            if is_late_answer or not isinstance(event, TurnEnded):
                yield event
        if not is_late_answer:
            yield from self._process(turn, entry)

    def _decided_meanwhile(self, turn: Turn) -> Question | None:
        snapshot = self._snapshot(turn)
        if not snapshot.interrupts or not self._is_settled(turn):
            return None
        return turn.repository.get_question(QuestionId(snapshot.values["question_id"]))

    def _resume(self, turn: Turn) -> Iterator[AgentEvent]:
        """First what a crash cut short, then a message that it kept from being read, else the answer waited for."""
        end: TurnEnded | None = None
        for event in self._finish_cut_short(turn):
            if isinstance(event, TurnEnded):
                end = event
            else:
                yield event
        if (entry := self._unread(turn)) is not None:
            yield from self._process(turn, entry)
        elif end is not None and not self._is_settled(turn):
            yield end
        else:
            yield from self._settle(turn)

    def _finish_cut_short(self, turn: Turn) -> Iterator[AgentEvent]:
        """A turn that a crash cut short is brought to its end before anything new begins.

        `next` is empty between two writes of a checkpoint although work remains: only `tasks` tells.
        """
        snapshot = self._snapshot(turn)
        failed = any(task.error for task in snapshot.tasks)
        if snapshot.tasks and not snapshot.interrupts and not failed:
            yield from self._run(turn, None)

    def _unread(self, turn: Turn) -> TranscriptEntry | None:
        """The last message, if no turn has begun with it and it answered no question: a crash came between."""
        said = [entry for entry in turn.transcript() if entry.speaker is Speaker.USER]
        if not said or said[-1].sequence <= self._snapshot(turn).values.get("turn", 0):
            return None
        asked = turn.repository.list_questions(conversation_id=turn.conversation_id)
        was_answer = any(question.answered_at is not None and question.answered_at >= said[-1].at for question in asked)
        return None if was_answer else said[-1]

    def _is_settled(self, turn: Turn) -> bool:
        """Whether the question that the graph waits for has been decided meanwhile."""
        question_id = self._snapshot(turn).values.get("question_id")
        if question_id is None:
            return False
        return turn.repository.get_question(QuestionId(question_id)).status is not QuestionStatus.OPEN

    def _settle(self, turn: Turn, entry: TranscriptEntry | None = None) -> Iterator[AgentEvent]:
        """`entry` is the message that gave the answer."""
        update = TurnState() if entry is None else TurnState(turn=entry.sequence)
        if self._snapshot(turn).interrupts:
            yield from self._run(turn, Command(resume=True, update=update))
        else:
            yield from self._run(turn, update | TurnState(is_settling=True))

    def _spoken_answers(self, turn: Turn, text: str) -> list[tuple[Question, SpokenAnswer]]:
        """The open questions of this conversation, of plans and of runs, to which these words are an answer."""
        turn.repository.expire_questions()
        opened = turn.repository.list_questions(status=QuestionStatus.OPEN, conversation_id=turn.conversation_id)
        region = self._desk.profile.region
        found = [(question, answer_in_words(question, text, region=region)) for question in opened]
        return [(question, spoken) for question, spoken in found if spoken is not None]

    def _answer(
        self, turn: Turn, entry: TranscriptEntry, question: Question, spoken: SpokenAnswer
    ) -> Iterator[AgentEvent]:
        """Bound to the list that this conversation showed: a place in a list drawn again since is stale."""
        values = self._snapshot(turn).values
        is_shown = values.get("question_id") == question.id
        version = values.get("options_version") if is_shown else question.options_version
        try:
            answered = turn.repository.answer_question(
                question.id,
                options_version=int(version or 0),
                principal=turn.principal,
                option_id=spoken.option_id,
                value=spoken.value,
            )
        except InputRefused as refused:
            yield Refusal(reason=refused.reason, message=refused.message)
            yield from self._settle(turn, entry)
            return
        yield AnswerTaken(question=answered)
        if answered.plan_id is None:
            yield TurnEnded(reason=EndReason.ANSWERED)
        else:
            yield from self._settle(turn, entry)

    def _run(self, turn: Turn, given: TurnState | Command[str] | None) -> Iterator[AgentEvent]:
        try:
            events = self._graph.stream(
                given, self._config(turn), context=turn, stream_mode="custom", durability="sync"
            )
            # In this mode the graph hands on what the nodes write, and they write nothing but events.
            yield from cast(Iterator[AgentEvent], events)
        except GraphRecursionError:
            yield Said(message=message("agent.out_of_steps"))
            yield TurnEnded(reason=EndReason.STOPPED)
            return
        prune(self._saver, turn.conversation_id)
        snapshot = self._snapshot(turn)
        ended = EndReason.WAITING if snapshot.interrupts else EndReason(snapshot.values.get("ended", "answered"))
        yield TurnEnded(reason=ended)

    def _guarded(self, events: Iterator[AgentEvent]) -> Iterator[AgentEvent]:
        """Trouble that Muster knows by name ends the turn with its sentence, not with a stack trace."""
        try:
            yield from events
        except OpsError as error:
            yield from _stop(Said(message=error.message))

    def _turn(self, conversation_id: ConversationId, principal: Principal | None, text: str) -> Turn:
        conversation = self._desk.repository.get_conversation(conversation_id)
        entries = self._desk.repository.list_transcript(conversation_id)
        said_by = [entry.principal for entry in entries if entry.principal is not None]
        return Turn(
            desk=self._desk,
            conversation_id=conversation_id,
            principal=principal or (said_by[-1] if said_by else conversation.started_by),
            language=language_of(text) or language_of_conversation(entries, conversation.language),
        )

    def _snapshot(self, turn: Turn) -> StateSnapshot:
        return self._graph.get_state(self._config(turn))

    def _config(self, turn: Turn) -> RunnableConfig:
        return {"configurable": {"thread_id": turn.conversation_id}, "recursion_limit": RECURSION_LIMIT}


def _why_late(question: Question) -> Message:
    if question.answered_by is None:
        return message("agent.too_late")
    return message("agent.answered_elsewhere", who=question.answered_by.id)


def _stop(event: Said | Refusal) -> Iterator[AgentEvent]:
    yield event
    yield TurnEnded(reason=EndReason.STOPPED)
