"""From an exception to what happens to the step: retried, refused, asked about, or failed with evidence."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from random import Random

from pydantic import ValidationError

from core.failures import Failure, NextAction
from core.messages.message import Message, message
from core.reasons import FailureClass, OpsError
from state.records import Run, StepRecord
from state.repository import Repository
from state.steps import Sleep, StepEnd, Stop
from tools.errors import OutcomeUnknown, RetryableToolError, ToolError

NEXT_ACTIONS: Mapping[FailureClass, tuple[NextAction, ...]] = {
    FailureClass.TRANSIENT: (NextAction.RETRY_STEP, NextAction.CANCEL),
    FailureClass.CAPACITY: (NextAction.WAIT, NextAction.CHOOSE_AGAIN, NextAction.RETRY_STEP, NextAction.CANCEL),
    FailureClass.CONFIG: (NextAction.FIX_AND_RETRY, NextAction.CANCEL),
    FailureClass.QUOTA: (NextAction.FIX_AND_RETRY, NextAction.CHOOSE_AGAIN, NextAction.CANCEL),
    FailureClass.PERMISSION: (NextAction.FIX_AND_RETRY, NextAction.CANCEL),
    FailureClass.UNKNOWN: (NextAction.RETRY_STEP, NextAction.ESCALATE, NextAction.CANCEL),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryPolicy:
    """How often a step is begun again by itself after a passing fault, and how long it waits: twice as long each
    time up to `longest`, less a random part of up to a half, so that many runs do not come back together."""

    budget: int = 8
    first: timedelta = timedelta(seconds=1)
    longest: timedelta = timedelta(minutes=1)

    def delay(self, retries: int, random: Random) -> timedelta:
        return min(self.longest, self.first * 2.0 ** min(retries, 30)) * (1 - random.random() / 2)


def end_after_tool_error(
    error: ToolError,
    run: Run,
    record: StepRecord,
    *,
    repository: Repository,
    policy: RetryPolicy,
    random: Random,
    now: datetime,
) -> StepEnd:
    """A passing fault is tried again within the budget; an unknown outcome too, for the ledger looks first."""
    passing = isinstance(error, RetryableToolError | OutcomeUnknown) or error.failure_class is FailureClass.TRANSIENT
    if passing and record.retries < policy.budget:
        why = message("workflows.retrying", cause=error.message, attempt=record.retries + 1, budget=policy.budget)
        return Sleep(until=now + policy.delay(record.retries, random), why=why, is_retry=True)
    text = f"{error.call} {error.code}\n{error.raw}".strip()
    return _stop(repository, run, error.failure_class, error.message, kind="tool_error", text=text)


def end_after_refusal(error: OpsError, run: Run, *, repository: Repository) -> StepEnd:
    """Somebody has to change something: the error's own words say what."""
    text = "".join(traceback.format_exception(error))
    return _stop(repository, run, FailureClass.CONFIG, error.message, kind="traceback", text=text)


def end_after_invalid_params(error: ValidationError, run: Run, *, repository: Repository) -> StepEnd:
    fields = "; ".join(f"{'.'.join(str(part) for part in item['loc'])}: {item['msg']}" for item in error.errors())
    why = message("workflows.params_invalid", workflow=run.workflow, why=fields)
    text = "".join(traceback.format_exception(error))
    return _stop(repository, run, FailureClass.CONFIG, why, kind="traceback", text=text)


def end_after_bug(error: Exception, run: Run, *, repository: Repository) -> StepEnd:
    """The step's own code broke. The worker lives on, and the traceback is kept for whoever mends it."""
    why = message("workflows.step_bug", step=run.step or "", error=f"{type(error).__name__}: {error}"[:500])
    text = "".join(traceback.format_exception(error))
    return _stop(repository, run, FailureClass.UNKNOWN, why, kind="traceback", text=text)


def end_worn_out(record: StepRecord) -> StepEnd:
    """Worker after worker was lost in this step: it may be the step that kills them."""
    why = message("workflows.worn_out", step=record.name, times=record.attempts)
    actions = NEXT_ACTIONS[FailureClass.UNKNOWN]
    return Stop(failure=Failure(failure_class=FailureClass.UNKNOWN, message=why, next_actions=actions))


def end_overdue(why: Message, run: Run, deadline: timedelta) -> StepEnd:
    late = message("workflows.overdue", step=run.step or "", minutes=round(deadline.total_seconds() / 60, 1), why=why)
    actions = NEXT_ACTIONS[FailureClass.TRANSIENT]
    return Stop(failure=Failure(failure_class=FailureClass.TRANSIENT, message=late, next_actions=actions))


def _stop(repository: Repository, run: Run, failure_class: FailureClass, why: Message, *, kind: str, text: str) -> Stop:
    evidence = repository.keep_evidence(run_id=run.id, kind=kind, text=text)
    return Stop(
        failure=Failure(
            failure_class=failure_class,
            message=why,
            evidence=(evidence,),
            next_actions=NEXT_ACTIONS[failure_class],
        )
    )
