"""The effect ledger: the only caller of `EffectTool.act`, so that every change happens once or a person is asked.

For each effect, under one key that no re-execution changes:

1. read what is there before (`before`) and commit the intent, with the run's fence checked in that transaction;
2. look (`observe`): an effect that is there already is adopted, never made again;
3. call (`act`) with the token that belongs to the key;
4. commit the outcome, together with whatever the step commits next.

After a crash or a lost answer the intent is found and the order is: look first. Found: adopt. Absent: wait out
the time for which the platform's reads may lag, then call again, if a repeated call cannot do harm. Cannot
tell, or harm possible: the effect is `unknown` and a person decides.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import assert_never

import structlog
from pydantic import BaseModel

from core.clock import Clock
from core.ids import EffectKey, RunId, StepName
from core.json_value import JsonObject, canonical_json, digest
from core.messages.message import Message, message
from core.questions import Option, QuestionDraft, QuestionKind
from core.risk import Risk
from state.effects import Settlement
from state.errors import IdempotencyMismatch
from state.records import Effect, EffectStatus, QuestionStatus, Run
from state.repository import Repository
from tools.clients.base import Clients
from tools.contract import Absent, ArgsT, CannotTell, EffectTool, Found, Intent, Observation
from tools.errors import Conflict, RejectedByPlatform, RetryableToolError, TargetNotFound

HAPPENED, NOT_HAPPENED, CANCEL = "happened", "not_happened", "cancel"
"""The values of the options of an outcome question."""

_TOKEN_LENGTH = 32
"""128 bits: short enough for a Kubernetes label value (63) and every AWS client token (64)."""
_SHOWN_ARGUMENTS = 600

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedCall:
    """A call that is about to be made, as the gates see it."""

    step: StepName
    tool: str
    call: str
    """`service:Operation`."""
    risk: Risk
    args: JsonObject


class EffectPending(Exception):
    """Not a failure: something must happen before the effect can go on. The engine turns it into an outcome."""


class LookAgainLater(EffectPending):
    """What the platform shows cannot be believed before `until`."""

    def __init__(self, until: datetime, why: Message) -> None:
        super().__init__(until, why)
        self.until, self.why = until, why


class HumanMustTell(EffectPending):
    """Only a person can say whether it happened."""

    def __init__(self, question: QuestionDraft) -> None:
        super().__init__(question.name)
        self.question = question


class HumanCancelled(EffectPending):
    """A person answered the question of that name with: cancel."""

    def __init__(self, question_name: str) -> None:
        super().__init__(question_name)
        self.question_name = question_name


def effect_key(run_id: RunId, step: StepName, tool: str, args: JsonObject) -> EffectKey:
    """The same on every attempt, whoever makes it: no attempt number, no hour, no randomness."""
    return EffectKey(digest([run_id, step, tool, args]))


class EffectLedger:
    """For one worker's work on one run.

    `permit` raises what stops the call (a gate); `still_held` raises `LeaseLost` when this worker's lease has run
    out by its own clock, so that a process which slept through it does not call. Outcomes wait in memory for the
    step's own commit (`take_settled`); one that costs money twice when repeated is committed at once.
    """

    def __init__(
        self,
        repository: Repository,
        clients: Clients,
        clock: Clock,
        *,
        permit: Callable[[Run, PlannedCall], None],
        still_held: Callable[[], None],
    ) -> None:
        self._repository, self._clients, self._clock = repository, clients, clock
        self._permit, self._still_held = permit, still_held
        self._settled: dict[EffectKey, Settlement] = {}

    def perform(self, run: Run, step: StepName, tool: EffectTool[ArgsT], args: ArgsT) -> JsonObject:
        """The recorded result, of this call or of an earlier one.

        Raises `ToolError` as `act` did; `EffectPending`; `LeaseLost`; `IdempotencyMismatch`; `StopRequested`.
        """
        arguments = _as_json(args)
        key = effect_key(run.id, step, tool.name, arguments)
        effect = self._repository.find_effect(key)
        if effect is None:
            return self._first_call(
                run, _new_intent(run, step, tool.name, key, arguments, self._clock.now()), tool, args
            )
        if canonical_json(effect.args) != canonical_json(arguments):
            raise IdempotencyMismatch(key)
        pending = self._settled.get(key)
        match effect.status if pending is None else pending.status:
            case EffectStatus.APPLIED:
                return (effect.result if pending is None else pending.result) or {}
            case EffectStatus.FAILED:
                return self._first_call(run, self._renewed(run, effect), tool, args)
            case EffectStatus.INTENDED:
                return self._reconcile(run, effect, tool, args)
            case EffectStatus.UNKNOWN if pending is not None:
                raise self._unknown(run, effect, tool, pending.reason or message("effects.not_repeatable"))
            case EffectStatus.UNKNOWN:
                return self._ask_or_follow(run, effect, tool, args)
            case other:
                assert_never(other)

    def take_settled(self) -> tuple[Settlement, ...]:
        """Outcomes that are not committed yet; whoever takes them commits them."""
        taken = tuple(self._settled.values())
        self._settled.clear()
        return taken

    def _first_call(self, run: Run, effect: Effect, tool: EffectTool[ArgsT], args: ArgsT) -> JsonObject:
        """The first one under this intent: nothing of ours can be on its way."""
        self._permit(run, _planned(effect, tool))
        before = tool.before(self._clients, args)
        effect = self._commit_intent(run, effect, before=before)
        match self._look(effect, tool, args):
            case Found(result):
                return self._adopt(run, effect, tool, result)
            case Absent():
                return self._call(run, effect, tool, args)
            case CannotTell(why):
                raise self._unknown(run, effect, tool, why)
            case other:
                assert_never(other)

    def _reconcile(self, run: Run, effect: Effect, tool: EffectTool[ArgsT], args: ArgsT) -> JsonObject:
        """An intent without an outcome: a call may have been made, and may have worked."""
        if _remembers_token(effect, tool, self._clock.now()):
            return self._repeat(run, effect, tool, args)
        match self._look(effect, tool, args):
            case Found(result):
                return self._adopt(run, effect, tool, result)
            case CannotTell(why):
                raise self._unknown(run, effect, tool, why)
            case Absent():
                return self._repeat(run, effect, tool, args)
            case other:
                assert_never(other)

    def _repeat(self, run: Run, effect: Effect, tool: EffectTool[ArgsT], args: ArgsT) -> JsonObject:
        now, settle = self._clock.now(), timedelta(seconds=tool.settle_seconds)
        if now < effect.called_at + settle:
            # A clock that was set back must not make the wait longer than the platform needs.
            until = min(effect.called_at + settle, now + settle)
            raise LookAgainLater(until, message("effects.settling", call=tool.call))
        if not (tool.may_repeat or (tool.honours_token and not _has_forgotten_token(effect, tool, now))):
            raise self._unknown(run, effect, tool, message("effects.not_repeatable"))
        self._permit(run, _planned(effect, tool))
        effect = self._commit_intent(run, replace(effect, fence=run.fence, called_at=now), before=effect.before)
        return self._call(run, effect, tool, args)

    def _ask_or_follow(self, run: Run, effect: Effect, tool: EffectTool[ArgsT], args: ArgsT) -> JsonObject:
        """A person was asked. What has become visible since counts more than what was answered."""
        observation = self._look(effect, tool, args)
        if isinstance(observation, Found):
            return self._adopt(run, effect, tool, observation.result)
        name = _question_name(effect.key, effect.rounds)
        question = self._repository.newest_question(run.id, name)
        answer = None if question is None or question.status is not QuestionStatus.ANSWERED else question.answer
        if answer == CANCEL:
            raise HumanCancelled(name)
        if answer == NOT_HAPPENED:
            return self._first_call(run, self._renewed(run, effect), tool, args)
        why = message("effects.not_shown") if answer == HAPPENED else _why_unknown(observation)
        raise HumanMustTell(_outcome_question(effect, tool, name, why))

    def _call(self, run: Run, effect: Effect, tool: EffectTool[ArgsT], args: ArgsT) -> JsonObject:
        self._still_held()
        try:
            result = tool.act(self._clients, args, effect.token)
        except (RetryableToolError, RejectedByPlatform, TargetNotFound, Conflict) as error:
            # These say that it certainly did not happen; any other error leaves that open.
            self._note(run, effect, EffectStatus.FAILED, tool, reason=error.message)
            log.info("effect_refused", run=run.id, tool=tool.name, key=effect.key, code=error.code)
            raise
        log.info("effect_applied", run=run.id, tool=tool.name, key=effect.key)
        return self._note(run, effect, EffectStatus.APPLIED, tool, result=result)

    def _adopt(self, run: Run, effect: Effect, tool: EffectTool[ArgsT], result: JsonObject) -> JsonObject:
        log.info("effect_adopted", run=run.id, tool=tool.name, key=effect.key)
        return self._note(run, effect, EffectStatus.APPLIED, tool, result=result)

    def _renewed(self, run: Run, effect: Effect) -> Effect:
        """A fresh start for an effect that certainly did not happen."""
        now = self._clock.now()
        return replace(effect, fence=run.fence, intended_at=now, called_at=now)

    def _look(self, effect: Effect, tool: EffectTool[ArgsT], args: ArgsT) -> Observation:
        intent = Intent(token=effect.token, intended_at=effect.intended_at, before=effect.before)
        return tool.observe(self._clients, args, intent)

    def _commit_intent(self, run: Run, effect: Effect, *, before: JsonObject) -> Effect:
        """What settled before goes into the same commit."""
        intended = replace(effect, status=EffectStatus.INTENDED, before=before)
        self._repository.intend_effect(run, intended, settled=tuple(self._settled.values()))
        self._settled.clear()
        return intended

    def _unknown(self, run: Run, effect: Effect, tool: EffectTool[ArgsT], why: Message) -> HumanMustTell:
        self._settled[effect.key] = Settlement(
            key=effect.key, status=EffectStatus.UNKNOWN, reason=why, at=self._clock.now()
        )
        log.warning("effect_unknown", run=run.id, tool=tool.name, key=effect.key, why=why.english())
        return HumanMustTell(_outcome_question(effect, tool, _question_name(effect.key, effect.rounds + 1), why))

    def _note(
        self,
        run: Run,
        effect: Effect,
        status: EffectStatus,
        tool: EffectTool[ArgsT],
        *,
        result: JsonObject | None = None,
        reason: Message | None = None,
    ) -> JsonObject:
        """Returns the result as it will be read back, so that a first execution sees what a later one sees."""
        stored: JsonObject | None = None if result is None else json.loads(canonical_json(result))
        self._settled[effect.key] = Settlement(
            key=effect.key, status=status, result=stored, reason=reason, at=self._clock.now()
        )
        if not tool.may_repeat:
            self._repository.settle_effects(run, tuple(self._settled.values()))
            self._settled.clear()
        return stored or {}


def _remembers_token(effect: Effect, tool: EffectTool[ArgsT], now: datetime) -> bool:
    """Only where the provider says for how long it does."""
    return tool.token_seconds is not None and not _has_forgotten_token(effect, tool, now)


def _has_forgotten_token(effect: Effect, tool: EffectTool[ArgsT], now: datetime) -> bool:
    """The token may have been used from the intent on, whenever the call was last repeated."""
    if tool.token_seconds is None:
        return False
    return not timedelta(0) <= now - effect.intended_at < timedelta(seconds=tool.token_seconds)


def _as_json(args: BaseModel) -> JsonObject:
    dumped: JsonObject = args.model_dump(mode="json")
    return dumped


def _new_intent(run: Run, step: StepName, tool: str, key: EffectKey, args: JsonObject, now: datetime) -> Effect:
    return Effect(
        key=key,
        run_id=run.id,
        step=step,
        tool=tool,
        args=args,
        token=key[:_TOKEN_LENGTH],
        status=EffectStatus.INTENDED,
        fence=run.fence,
        intended_at=now,
        called_at=now,
    )


def _planned(effect: Effect, tool: EffectTool[ArgsT]) -> PlannedCall:
    return PlannedCall(step=effect.step, tool=tool.name, call=tool.call, risk=tool.risk, args=effect.args)


def _question_name(key: EffectKey, round_number: int) -> str:
    """Every time that an outcome is lost is a question of its own: an older answer does not speak for it."""
    return f"outcome.{key[:16]}.{round_number}"


def _why_unknown(observation: Absent | CannotTell) -> Message:
    return observation.why if isinstance(observation, CannotTell) else message("effects.not_repeatable")


def _outcome_question(effect: Effect, tool: EffectTool[ArgsT], name: str, why: Message) -> QuestionDraft:
    call_made = message(
        "effects.call_made",
        call=tool.call,
        token=effect.token,
        at=effect.intended_at.isoformat(timespec="seconds"),
    )
    arguments = message("effects.arguments", args=canonical_json(effect.args)[:_SHOWN_ARGUMENTS])
    return QuestionDraft(
        name=name,
        kind=QuestionKind.OUTCOME,
        prompt=message("effects.outcome_question", tool=tool.name),
        options=tuple(
            Option(id=value, value=value, label=message(f"effects.{value}"))
            for value in (HAPPENED, NOT_HAPPENED, CANCEL)
        ),
        details=(why, call_made, arguments),
    )
