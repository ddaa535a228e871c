"""The engine: takes a claimed run from step to step until it waits, asks, ends or is given back.

One step is: run its function, turn what came of it into one end, commit that end in one transaction. Nothing
else is kept in memory, so that a crash at any point only means that the present step runs again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from random import Random
from typing import assert_never

import structlog
from pydantic import ValidationError

from core.clock import Clock
from core.json_value import JsonObject
from core.messages.message import message
from core.reasons import OpsError
from state.errors import DatabaseUnusable, LeaseLost
from state.records import Run, RunStatus, StepRecord
from state.repository import Repository
from state.steps import Abandon, Advance, Finish, Park, PutQuestion, Refuse, Sleep, StepEnd, Stop, StopRequested
from tools.access import ToolAccess
from tools.errors import ToolError
from tools.idempotency import HumanCancelled, HumanMustTell, LookAgainLater, PlannedCall
from workflows.context import RunningStep
from workflows.definition import AnyStep, AnyWorkflow, Ask, Done, Fail, Next, Outcome, Wait
from workflows.errors import UnknownWorkflow
from workflows.failing import (
    RetryPolicy,
    end_after_bug,
    end_after_invalid_params,
    end_after_refusal,
    end_after_tool_error,
    end_overdue,
    end_worn_out,
)
from workflows.gates import Gate, GateRefusal, GateRefused, first_refusal
from workflows.registry import Registry

log = structlog.get_logger(__name__)


def never() -> bool:
    return False


def always_held() -> None:
    """For a run whose lease outlasts the test or command that holds it."""


class Engine:
    def __init__(
        self,
        repository: Repository,
        registry: Registry,
        tools: ToolAccess,
        clock: Clock,
        *,
        gates: Sequence[Gate],
        random: Random,
        retries: RetryPolicy | None = None,
    ) -> None:
        self._repository, self._registry, self._tools, self._clock = repository, registry, tools, clock
        self._gates, self._random, self._retries = tuple(gates), random, retries or RetryPolicy()

    @property
    def sharing(self) -> frozenset[str]:
        """Workflows whose runs may share a cluster: what a claim has to know."""
        return self._registry.sharing

    def run_once(
        self,
        run: Run,
        *,
        still_held: Callable[[], None] = always_held,
        should_drain: Callable[[], bool] = never,
    ) -> Run:
        """Takes a claimed run as far as it goes now. Returns it as last committed.

        `should_drain` is asked between two steps: the run is then given back. Raises `LeaseLost`, with nothing
        written since, and `DatabaseUnusable`.
        """
        try:
            workflow = self._registry.get(run.workflow, run.workflow_version)
            if run.step is None:
                run = self._begin(run, workflow)
            while run.status is RunStatus.RUNNING:
                if should_drain():
                    self._repository.release_run(run)
                    return self._repository.get_run(run.id)
                run = self._one_step(run, workflow, still_held)
        except UnknownWorkflow as error:
            log.warning("run_parked", run=run.id, why=str(error))
            return self._repository.finish_step(run, Park(why=error.message))
        return run

    def _begin(self, run: Run, workflow: AnyWorkflow) -> Run:
        try:
            refusal = first_refusal(self._gates, run, None)
        except DatabaseUnusable:
            raise
        except Exception as error:
            log.exception("gate_broke", run=run.id)
            return self._repository.finish_step(run, self._after_bug(error, run))
        if refusal is not None:
            return self._repository.finish_step(run, _refused(refusal, self._clock.now()))
        return self._repository.begin_first_step(run, _advance(workflow.first))

    def _one_step(self, run: Run, workflow: AnyWorkflow, still_held: Callable[[], None]) -> Run:
        step = _step_of(run, workflow)
        record = self._repository.find_step(run.id, step.name)
        if record is None:
            raise ValueError(f"run {run.id!r} is at step {step.name!r} but never began it")
        ledger = self._tools.ledger(self._repository, self._clock, permit=self._permit, still_held=still_held)
        context = RunningStep(
            run,
            record,
            repository=self._repository,
            tools=self._tools,
            clock=self._clock,
            ledger=ledger,
        )
        end, data = self._attempt(run, workflow, step, record, context)
        log.debug("step_ended", run=run.id, step=step.name, end=type(end).__name__)
        settled = ledger.take_settled()
        try:
            return self._repository.finish_step(run, end, data=data, reports=context.reports, settled=settled)
        except (LeaseLost, DatabaseUnusable):
            raise
        except Exception as error:
            log.exception("step_outcome_refused", run=run.id, step=step.name)
            return self._repository.finish_step(run, self._after_bug(error, run), settled=settled)

    def _attempt(
        self,
        run: Run,
        workflow: AnyWorkflow,
        step: AnyStep,
        record: StepRecord,
        context: RunningStep,
    ) -> tuple[StepEnd, JsonObject]:
        """What comes of one execution of the step, and the data that it wants kept."""
        if record.retries > self._retries.budget:
            return end_worn_out(record), {}
        try:
            outcome = workflow.execute(step.name, context, run.params)
            return self._end_of(outcome, run, workflow, step, record)
        except (LeaseLost, DatabaseUnusable):
            raise
        except LookAgainLater as pending:
            return Sleep(until=pending.until, why=pending.why), {}
        except HumanMustTell as pending:
            return PutQuestion(draft=pending.question), {}
        except HumanCancelled as pending:
            return Abandon(by_question=pending.question_name), {}
        except GateRefused as refused:
            return _refused(refused.refusal, self._clock.now()), {}
        except StopRequested:
            return Sleep(until=self._clock.now(), why=message("runs.stopping")), {}
        except ToolError as error:
            return self._after_tool_error(error, run, record), {}
        except OpsError as error:
            return end_after_refusal(error, run, repository=self._repository), {}
        except ValidationError as error:
            return end_after_invalid_params(error, run, repository=self._repository), {}
        except Exception as error:
            log.exception("step_broke", run=run.id, step=step.name)
            return self._after_bug(error, run), {}

    def _end_of(
        self, outcome: Outcome, run: Run, workflow: AnyWorkflow, step: AnyStep, record: StepRecord
    ) -> tuple[StepEnd, JsonObject]:
        match outcome:
            case Next(data=data, to=to):
                following = workflow.after(step.name) if to is None else to
                return (Finish() if following is None else _advance(workflow.step(following))), data
            case Wait(delay=delay, why=why, data=data):
                now = self._clock.now()
                if step.deadline is not None and now >= record.started_at + step.deadline:
                    return end_overdue(why, run, step.deadline), data
                return Sleep(until=now + delay, why=why), data
            case Ask(question=question, data=data):
                return PutQuestion(draft=question), data
            case Fail(failure=failure):
                return Stop(failure=failure), {}
            case Done(data=data):
                return Finish(), data
            case _:
                assert_never(outcome)

    def _after_tool_error(self, error: ToolError, run: Run, record: StepRecord) -> StepEnd:
        log.info("tool_error", run=run.id, step=record.name, call=error.call, code=error.code, error=str(error))
        return end_after_tool_error(
            error,
            run,
            record,
            repository=self._repository,
            policy=self._retries,
            random=self._random,
            now=self._clock.now(),
        )

    def _after_bug(self, error: Exception, run: Run) -> StepEnd:
        return end_after_bug(error, run, repository=self._repository)

    def _permit(self, run: Run, call: PlannedCall) -> None:
        refusal = first_refusal(self._gates, run, call)
        if refusal is not None:
            log.info("gate_refused", run=run.id, tool=call.tool, reason=refusal.reason.value)
            raise GateRefused(refusal)


def _step_of(run: Run, workflow: AnyWorkflow) -> AnyStep:
    if run.step is None:
        raise ValueError(f"run {run.id!r} has not begun")
    try:
        return workflow.step(run.step)
    except KeyError:
        why = message("workflows.unknown_step", workflow=workflow.name, version=workflow.version, step=run.step)
        raise UnknownWorkflow(why, workflow=workflow.name, version=workflow.version) from None


def _advance(step: AnyStep) -> Advance:
    return Advance(step=step.name, kind=step.kind.value, title=step.title)


def _refused(refusal: GateRefusal, now: datetime) -> StepEnd:
    if refusal.look_again_after is None:
        return Refuse(why=refusal.message)
    return Sleep(until=now + refusal.look_again_after, why=refusal.message)
