"""What the demo proved: facts read back from the platform, the twin's log, the ledger and the rows.

Every line of the summary comes from one of them, none from what the demo meant to do.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from core.cluster.clusters import ClusterStatus
from core.cluster.workloads import JobState
from core.ids import ConversationId
from core.messages.message import Message, message
from interfaces.bootstrap.world import World
from interfaces.cli.demo.calls import CALLS
from interfaces.cli.demo.kill import CALL, Kill
from interfaces.cli.demo.script import CLUSTER, JOB_NODES, NODES
from state.records import Effect, EffectStatus, Plan, Question, QuestionStatus, Run, RunStatus, StepRecord
from state.repository import Repository
from tools.arguments import ByName
from tools.clusters import DESCRIBE_CLUSTER
from tools.jobs import DESCRIBE_JOB, LIST_JOBS, Job, JobName, JobsArgs
from tools.nodes import CLUSTER_NODES, NodesArgs


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """One thing that must be true, said with the figures that were found."""

    holds: bool
    text: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class CallCount:
    """One kind of change: how often the ledger recorded it as applied, how often the twin saw it take effect."""

    call: str
    in_ledger: int
    in_log: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    runs: tuple[Run, ...]
    plans: tuple[Plan, ...]
    questions: tuple[Question, ...]
    steps: Mapping[str, tuple[StepRecord, ...]]
    """By run id."""
    calls: tuple[CallCount, ...]
    checks: tuple[Check, ...]
    kill: Kill | None

    @property
    def holds(self) -> bool:
        return all(check.holds for check in self.checks)


def prove(
    rows: Repository, world: World, conversation: ConversationId, effects: Mapping[str, int], kill: Kill | None
) -> Proof:
    """`effects` are the twin's own counts."""
    runs = tuple(reversed(rows.list_runs(conversation_id=conversation)))
    ledger = tuple(effect for run in runs for effect in rows.list_effects(run.id))
    calls = count_calls(ledger, effects)
    return Proof(
        runs=runs,
        plans=tuple(reversed(rows.list_plans(conversation_id=conversation))),
        questions=tuple(rows.list_questions(conversation_id=conversation)),
        steps={run.id: tuple(rows.list_steps(run.id)) for run in runs},
        calls=calls,
        kill=kill,
        checks=(
            _runs_done(runs),
            _cluster_is_up(world),
            _job_succeeded(world),
            took_effect_once(calls, ledger),
            killed_in_between(rows, kill, effects),
        ),
    )


def answered(proof: Proof) -> tuple[Question, ...]:
    return tuple(question for question in proof.questions if question.status is QuestionStatus.ANSWERED)


def count_calls(ledger: tuple[Effect, ...], effects: Mapping[str, int]) -> tuple[CallCount, ...]:
    applied = Counter(CALLS[effect.tool] for effect in ledger if effect.status is EffectStatus.APPLIED)
    # What took effect without standing in the ledger is a row too, and a fault.
    calls = sorted(applied.keys() | effects.keys())
    return tuple(CallCount(call=call, in_ledger=applied[call], in_log=effects.get(call, 0)) for call in calls)


def _runs_done(runs: tuple[Run, ...]) -> Check:
    done = sum(run.status is RunStatus.DONE for run in runs)
    return Check(holds=done == len(runs) == 2, text=message("demo.check_runs", done=done, runs=len(runs)))


def _cluster_is_up(world: World) -> Check:
    details = world.read(DESCRIBE_CLUSTER, ByName(name=CLUSTER))
    if details is None:
        return Check(holds=False, text=message("demo.check_no_cluster", cluster=CLUSTER))
    nodes = world.read(CLUSTER_NODES, NodesArgs(cluster=CLUSTER, eks_name=details.eks_name))
    status = details.cluster.status
    return Check(
        holds=status is ClusterStatus.IN_SERVICE and nodes.usable == len(nodes.nodes) == NODES,
        text=message("demo.check_cluster", cluster=CLUSTER, status=status.value, ready=nodes.usable, nodes=NODES),
    )


def _job_succeeded(world: World) -> Check:
    job = _job(world)
    if job is None:
        return Check(holds=False, text=message("demo.check_no_job"))
    used = len({pod.node for pod in job.pods if pod.node})
    return Check(
        holds=job.state is JobState.SUCCEEDED and used == JOB_NODES,
        text=message("demo.check_job", job=job.name, state=job.state.value, nodes=used),
    )


def _job(world: World) -> Job | None:
    details = world.read(DESCRIBE_CLUSTER, ByName(name=CLUSTER))
    if details is None:
        return None
    jobs = world.read(LIST_JOBS, JobsArgs(eks_name=details.eks_name))
    if len(jobs) != 1:
        return None
    name = JobName(eks_name=details.eks_name, namespace=jobs[0].namespace, name=jobs[0].name)
    return world.read(DESCRIBE_JOB, name)


def took_effect_once(calls: tuple[CallCount, ...], ledger: tuple[Effect, ...]) -> Check:
    """Every change that the ledger knows took effect exactly once, and the twin saw none beside them."""
    differing = [count.call for count in calls if count.in_ledger != count.in_log]
    unsettled = [effect.tool for effect in ledger if effect.status is not EffectStatus.APPLIED]
    total = sum(count.in_log for count in calls)
    wrong = ", ".join([*differing, *unsettled])
    if wrong or total == 0:
        return Check(holds=False, text=message("demo.check_not_once", wrong=wrong or "-"))
    return Check(holds=True, text=message("demo.check_once", total=total))


def killed_in_between(rows: Repository, kill: Kill | None, effects: Mapping[str, int]) -> Check:
    if kill is None:
        return Check(holds=False, text=message("demo.check_no_kill"))
    taken_over = any(event.what == "run.taken_over" for event in rows.list_audit(kill.run_id))
    holds = kill.effects_at_kill == 1 and not kill.was_recorded and taken_over and effects.get(CALL, 0) == 1
    text = message("demo.check_kill", pid=kill.pid, call=CALL, count=effects.get(CALL, 0))
    return Check(holds=holds, text=text)
