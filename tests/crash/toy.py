"""A workflow with every kind of step and every kind of effect, and ledgers with a planted fault."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

from core.clock import Clock
from core.ids import StepName
from core.json_value import JsonObject
from core.messages.message import Message
from state.records import Effect, EffectStatus, Run
from state.repository import Repository
from tests.builders.questions import zone_question
from tests.builders.workflows import ToyParams, step, text, workflow
from tests.fakes.toy_tools import ADD, BUY, CREATE, CREATE_ONCE, LIST, SLOW_TO_SHOW, Thing, Units
from tools.access import ToolAccess
from tools.contract import ArgsT, EffectTool
from tools.idempotency import EffectLedger, PlannedCall
from workflows.definition import Ask, Done, Next, Outcome, StepContext, StepKind, Wait


def preflight(context: StepContext, params: ToyParams) -> Outcome:
    return Next(data={"before": len(context.read(LIST, Thing()))}) if "before" not in context.run.data else Next()


def choose(context: StepContext, params: ToyParams) -> Outcome:
    answer = context.answer("availability_zone")
    return Ask(question=zone_question()) if answer is None else Next(data={"zone": answer.value})


def network(context: StepContext, params: ToyParams) -> Outcome:
    """Two effects of one tool in one step."""
    context.perform(CREATE, Thing(name="subnet-a"))
    context.perform(CREATE, Thing(name="subnet-b"))
    return Next()


def cluster(context: StepContext, params: ToyParams) -> Outcome:
    context.perform(CREATE_ONCE, Thing(name="control-plane"))
    return Next()


def capacity(context: StepContext, params: ToyParams) -> Outcome:
    context.perform(BUY, Thing(name="training-plan"))
    return Next()


def nodes(context: StepContext, params: ToyParams) -> Outcome:
    context.report(text("Adding 4 nodes."), done=0, total=4)
    context.perform(ADD, Units(count=4))
    return Next()


def role(context: StepContext, params: ToyParams) -> Outcome:
    """The platform's list shows it only later."""
    context.perform(SLOW_TO_SHOW, Thing(name="role"))
    return Next()


def wait_for_nodes(context: StepContext, params: ToyParams) -> Outcome:
    if context.now < context.step_started_at + timedelta(seconds=20):
        return Wait(delay=timedelta(seconds=10), why=text("Nodes are starting."))
    return Next()


def verify(context: StepContext, params: ToyParams) -> Outcome:
    return Done(data={"verified": True})


TOY = workflow(
    step("preflight", preflight),
    step("choose", choose, kind=StepKind.QUESTION),
    step("network", network, kind=StepKind.EFFECT),
    step("cluster", cluster, kind=StepKind.EFFECT),
    step("capacity", capacity, kind=StepKind.EFFECT),
    step("nodes", nodes, kind=StepKind.EFFECT),
    step("role", role, kind=StepKind.EFFECT),
    step("wait", wait_for_nodes, kind=StepKind.WAIT),
    step("verify", verify, kind=StepKind.VERIFY),
)


class BypassedLedger(EffectLedger):
    """Planted: calls without any record."""

    def perform(self, run: Run, step: StepName, tool: EffectTool[ArgsT], args: ArgsT) -> JsonObject:
        return tool.act(self._clients, args, f"{run.id} {step}")


class LateIntentLedger(EffectLedger):
    """Planted: records the intent after the call."""

    def _commit_intent(self, run: Run, effect: Effect, *, before: JsonObject) -> Effect:
        return replace(effect, before=before)

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
        if self._repository.find_effect(effect.key) is None:
            self._repository.intend_effect(run, effect, settled=self.take_settled())
        return super()._note(run, effect, status, tool, result=result, reason=reason)


class AttemptInTokenLedger(EffectLedger):
    """Planted: the key, and so the token, holds the number of the attempt."""

    def perform(self, run: Run, step: StepName, tool: EffectTool[ArgsT], args: ArgsT) -> JsonObject:
        return super().perform(run, StepName(f"{step} attempt {run.fence}"), tool, args)


class BlindRetryLedger(EffectLedger):
    """Planted: an intent without an outcome is called again without looking."""

    def _reconcile(self, run: Run, effect: Effect, tool: EffectTool[ArgsT], args: ArgsT) -> JsonObject:
        return self._call(run, effect, tool, args)


class ImpatientLedger(EffectLedger):
    """Planted: believes a list that lags."""

    def _repeat(self, run: Run, effect: Effect, tool: EffectTool[ArgsT], args: ArgsT) -> JsonObject:
        return super()._repeat(run, effect, replace(tool, settle_seconds=0.0), args)


def access_with(ledger: type[EffectLedger]) -> type[ToolAccess]:
    """Tools whose effects go through that ledger."""

    class PlantedAccess(ToolAccess):
        def ledger(
            self,
            repository: Repository,
            clock: Clock,
            *,
            permit: Callable[[Run, PlannedCall], None],
            still_held: Callable[[], None],
        ) -> EffectLedger:
            return ledger(repository, self._clients, clock, permit=permit, still_held=still_held)

    return PlantedAccess
