"""Gates: code that may say no, outside the model and outside the steps.

Asked when a run begins and again before each call that changes something. A refusal for good ends the run; one
that may pass (read-only mode) makes it wait.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol, assert_never

from core.choices import ELISION, LATER, ChoiceKind, Origin
from core.governance.principals import Channel, Principal
from core.governance.roles import deny
from core.ids import QuestionId
from core.json_value import JsonObject, JsonValue, canonical_json, digest
from core.messages.message import Language, Message, message
from core.questions import APPROVE, QuestionKind
from core.reasons import RefusalReason
from state.errors import RowNotFound
from state.plans import planned_runs
from state.questions import shown_answer
from state.records import PlanStatus, Question, QuestionStatus, Run, Speaker
from state.repository import Repository
from state.switches import Mutation
from tools.idempotency import PlannedCall

_LOOK_AGAIN = timedelta(seconds=30)


@dataclass(frozen=True, slots=True, kw_only=True)
class GateRefusal:
    reason: RefusalReason
    message: Message
    look_again_after: timedelta | None = None
    """Absent: for good."""


class Gate(Protocol):
    def refuse(self, run: Run, call: PlannedCall | None) -> GateRefusal | None:
        """`call` is absent when the run begins. `None` = nothing against it."""
        ...


class GateRefused(Exception):
    """Control flow: carries a refusal from the ledger through the step to the engine."""

    def __init__(self, refusal: GateRefusal) -> None:
        super().__init__(refusal.message.english())
        self.refusal = refusal


def first_refusal(gates: Sequence[Gate], run: Run, call: PlannedCall | None) -> GateRefusal | None:
    return next((refusal for gate in gates if (refusal := gate.refuse(run, call)) is not None), None)


class MutationGate:
    """Read-only mode and the stop switch."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository

    def refuse(self, run: Run, call: PlannedCall | None) -> GateRefusal | None:
        match position := self._repository.get_mutation():
            case Mutation.ALLOWED:
                return None
            case Mutation.READ_ONLY:
                return None if call is None else _wait(message("workflows.read_only"))
            case Mutation.STOPPED:
                return _wait(message("workflows.stopped"))
            case _:
                assert_never(position)


class ApprovalGate:
    """The run is exactly what a person approved: the plan, its digest, and this node's parameters.

    An approval is used once: it created this run, and the database holds one run per node of a plan. A crash
    does not use it up, because nothing is ticked off when the run begins.
    """

    def __init__(self, repository: Repository) -> None:
        self._repository = repository

    def refuse(self, run: Run, call: PlannedCall | None) -> GateRefusal | None:
        missing = GateRefusal(reason=RefusalReason.APPROVAL_MISSING, message=message("workflows.not_approved"))
        mismatch = GateRefusal(reason=RefusalReason.APPROVAL_MISMATCH, message=message("workflows.approval_mismatch"))
        if run.plan_id is None:
            return missing
        plan = self._repository.get_plan(run.plan_id)
        asked = self._repository.list_questions(plan_id=run.plan_id, status=QuestionStatus.ANSWERED)
        if plan.status is not PlanStatus.APPROVED or not any(_approves(question, plan.digest) for question in asked):
            return missing
        planned = next((entry for entry in planned_runs(plan.envelope) if entry.node_id == run.plan_node), None)
        if planned is None or (planned.workflow, planned.version) != (run.workflow, run.workflow_version):
            return mismatch
        if planned.cluster != run.cluster or digest(planned.params) != digest(run.params):
            return mismatch
        return None


class RoleGate:
    """Who asked for the run and who approved it may do this: looked at once more when it begins."""

    def __init__(self, repository: Repository) -> None:
        self._repository = repository

    def refuse(self, run: Run, call: PlannedCall | None) -> GateRefusal | None:
        if call is not None:
            return None
        for principal in (run.requested_by, *self._approvers(run)):
            if (denial := deny(principal, run.workflow, run.params)) is not None:
                return GateRefusal(reason=RefusalReason.ROLE_MISSING, message=denial.message)
        return None

    def _approvers(self, run: Run) -> list[Principal]:
        if run.plan_id is None:
            return []
        asked = self._repository.list_questions(plan_id=run.plan_id, status=QuestionStatus.ANSWERED)
        approvals = [question for question in asked if question.kind is QuestionKind.APPROVAL]
        return [question.answered_by for question in approvals if question.answered_by is not None]


class ChoiceGate:
    """Every human choice among the run's parameters has an origin, and what it points to bears it out.

    Looked at when the run begins: from then on `ApprovalGate` holds the parameters to what they were.
    """

    def __init__(self, repository: Repository) -> None:
        self._repository = repository

    def refuse(self, run: Run, call: PlannedCall | None) -> GateRefusal | None:
        if call is not None:
            return None
        choices = run.params.get("choices", {})
        if not isinstance(choices, Mapping):
            return _unproven("choices", canonical_json(choices), "workflows.choice_malformed")
        for kind, choice in choices.items():
            if (why := self._why_unproven(run, kind, choice)) is not None:
                value = choice.get("value") if isinstance(choice, Mapping) else choice
                return _unproven(kind, value if isinstance(value, str) else canonical_json(value), why)
        return None

    def _why_unproven(self, run: Run, kind: str, choice: JsonValue) -> str | None:
        if not isinstance(choice, Mapping) or choice.get("kind") != kind or kind not in set(ChoiceKind):
            return "workflows.choice_malformed"
        quote, reference = choice.get("quote"), choice.get("reference")
        if not (isinstance(quote, str) and quote and isinstance(reference, str) and reference):
            return "workflows.choice_malformed"
        match choice.get("origin"):
            case Origin.ANSWERED:
                return None if self._was_answered(run, choice, reference) else "workflows.choice_not_answered"
            case Origin.SAID:
                return None if self._was_said(run, quote) else "workflows.choice_not_said"
            case Origin.RUNBOOK_PARAMETER:
                scoped = run.requested_by.channel in {Channel.RUNBOOK, Channel.API}
                return None if scoped else "workflows.choice_not_scoped"
            case Origin.EXISTING:
                return None
            case _:
                return "workflows.choice_malformed"

    def _was_answered(self, run: Run, choice: JsonObject, reference: str) -> bool:
        """A person answered that question, for this work, with this value."""
        try:
            question = self._repository.get_question(QuestionId(reference))
        except RowNotFound:
            return False
        same_work = run.id == question.run_id or any(
            mine is not None and mine == theirs
            for mine, theirs in (
                (run.plan_id, question.plan_id),
                (run.conversation_id, question.conversation_id),
            )
        )
        return (
            question.status is QuestionStatus.ANSWERED and same_work and _agrees(choice.get("value"), question.answer)
        )

    def _was_said(self, run: Run, quote: str) -> bool:
        """The quote stands in what the requester wrote in this conversation.

        A quote may be of several messages: what was said last must be the requester's words, and what it completes
        may also be an answer of theirs.
        """
        if run.conversation_id is None:
            return False
        written = [
            _folded(entry.text)
            for entry in self._repository.list_transcript(run.conversation_id)
            if entry.speaker is Speaker.USER and (entry.principal is None or entry.principal.id == run.requested_by.id)
        ]
        *earlier, last = quote.split(LATER)
        return _stands_in(last, written) and all(
            _stands_in(part, written) or self._was_taken(run, part) for part in earlier
        )

    def _was_taken(self, run: Run, label: str) -> bool:
        """An answer of this conversation is shown so."""
        asked = self._repository.list_questions(status=QuestionStatus.ANSWERED, conversation_id=run.conversation_id)
        return any(
            label in {shown_answer(question, question.answer).render(language) for language in Language}
            for question in asked
        )


def _approves(question: Question, plan_digest: str) -> bool:
    """Given by a person, for what the plan is now, before the approval's end."""
    return (
        question.kind is QuestionKind.APPROVAL
        and question.answer == APPROVE
        and question.plan_digest == plan_digest
        and question.answered_by is not None
        and question.answered_by.channel is not Channel.SYSTEM
        and question.answered_at is not None
        and (question.expires_at is None or question.answered_at < question.expires_at)
    )


def _agrees(chosen: JsonValue, answered: JsonValue) -> bool:
    """An answer may carry more than the choice (a plan's zone) or less (no plan), never another value."""
    if isinstance(chosen, Mapping) and isinstance(answered, Mapping):
        shared = chosen.keys() & answered.keys()
        return bool(shared) and all(chosen[name] == answered[name] for name in shared)
    if isinstance(answered, Mapping):
        return chosen in answered.values()
    return chosen == answered


def _stands_in(quote: str, written: Sequence[str]) -> bool:
    """All pieces of the quote in one message, in their order."""
    pieces = [_folded(piece) for piece in quote.split(ELISION)]
    return all(pieces) and any(_in_order(pieces, text) for text in written)


def _in_order(pieces: Sequence[str], text: str) -> bool:
    place = 0
    for piece in pieces:
        if (found := text.find(piece, place)) < 0:
            return False
        place = found + len(piece)
    return True


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _wait(why: Message) -> GateRefusal:
    return GateRefusal(reason=RefusalReason.READ_ONLY, message=why, look_again_after=_LOOK_AGAIN)


def _unproven(kind: str, value: str, why: str) -> GateRefusal:
    return GateRefusal(
        reason=RefusalReason.CHOICE_WITHOUT_ORIGIN,
        message=message("workflows.choice_unproven", kind=kind, value=value, why=message(why)),
    )
