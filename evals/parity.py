"""`muster eval parity`: runs cases of Kueue's decisions through the scheduling core and compares."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Annotated

import typer
from pydantic import JsonValue

from core.scheduling.assignment import Assignment, FitMode, FlavorChoice, ModeLevel, PodSetAssignment, is_preferred
from core.scheduling.cycle import held_usage
from core.scheduling.decisions import CycleResult
from core.scheduling.fair_share import dominant_share
from core.scheduling.flavors import FlavorAssigner
from core.scheduling.holders import EARLIEST, may_take
from core.scheduling.order import classical_key, queue_time_s
from core.scheduling.partial_admission import largest_that_starts
from core.scheduling.pending import Pending
from core.scheduling.placement import PlacementAsk, place_podsets
from core.scheduling.policies import FungibilityPreference, RequeueTimestamp
from core.scheduling.preemption import VictimFinder
from core.scheduling.quantities import FlavorResource, Slot, Usage
from core.scheduling.quota_tree import QueueNode, QuotaTree
from core.scheduling.scheduler import Scheduler
from core.scheduling.snapshot import Snapshot
from core.scheduling.topology import HOSTNAME_LEVEL, TopologyTree
from core.scheduling.victims import PreemptionReason
from core.scheduling.world import ResourceFlavor, Topology, TopologyNode
from evals.kueue_cases import (
    AmountPart,
    CasesUnreadable,
    KueueCase,
    NodePart,
    OraclesPart,
    PendingPodSetPart,
    podset,
    read_cases,
    scheduler_config,
    taint,
    world_of,
)
from interfaces.cli.output import JsonFlag, print_json

Found = Mapping[str, JsonValue]
"""What we decide, in the words of `expect`; only the keys that `expect` has are compared."""

_REASONS: Mapping[PreemptionReason, str] = {
    PreemptionReason.IN_CLUSTER_QUEUE: "InQueue",
    PreemptionReason.IN_COHORT_RECLAMATION: "Reclaim",
    PreemptionReason.IN_COHORT_FAIR_SHARING: "FairShare",
    PreemptionReason.IN_COHORT_RECLAIM_WHILE_BORROWING: "ReclaimWhileBorrowing",
}
_MODES: Mapping[str, FitMode] = {
    "fit": FitMode.FIT,
    "preempt": FitMode.PREEMPT,
    "reclaim": FitMode.RECLAIM,
    "no_candidates": FitMode.NO_CANDIDATES,
    "no_fit": FitMode.NO_FIT,
    "Fit": FitMode.FIT,
    "Preempt": FitMode.PREEMPT,
    "Reclaim": FitMode.RECLAIM,
    "NoCandidates": FitMode.NO_CANDIDATES,
}


def parity(
    cases: Annotated[Path, typer.Option("--cases", help="Directory of case files (*.json).")],
    as_json: JsonFlag = False,
) -> None:
    """Compare our decisions with Kueue's, case by case."""
    problem = ""
    read: list[KueueCase] = []
    failures: dict[str, str] = {}
    try:
        read = read_cases(cases)
    except CasesUnreadable as error:
        problem = str(error)
        typer.echo(f"parity: no cases: {problem}", err=True)
    for case in read:
        difference = check_case(case)
        if difference:
            failures[case.id] = difference
            typer.echo(f"{case.id}: {difference}", err=True)
    passed = len(read) - len(failures)
    if as_json:
        result: dict[str, JsonValue] = {"passed": passed, "total": len(read), "failed": list(failures)}
        print_json({**result, "error": problem} if problem else result)
    else:
        typer.echo(f"failed: {' '.join(failures)}" if failures else "failed: none")
        typer.echo(f"parity: {passed} of {len(read)}")
    if failures or not read:
        raise typer.Exit(1)


def check_case(case: KueueCase) -> str:
    """Empty when we agree, else what differs. A case that cannot be run differs too."""
    runner = _RUNNERS.get(case.kind)
    if runner is None:
        return f"unknown kind {case.kind!r}"
    try:
        found = runner(case)
    except Exception as error:  # noqa: BLE001  one broken case must not hide the others
        return f"{type(error).__name__}: {error}"
    if not case.expect:
        return "the case expects nothing"
    differences = [
        f"{key}: expected {expected}, found {found.get(key)}"
        for key, expected in case.expect.items()
        if not _agrees(expected, found.get(key))
    ]
    return "; ".join(differences)


def _agrees(expected: JsonValue, found: JsonValue) -> bool:
    """Objects by the keys that are expected, lists as sets (an order is compared as one string)."""
    if isinstance(expected, dict):
        return isinstance(found, dict) and all(_agrees(value, found.get(key)) for key, value in expected.items())
    if isinstance(expected, list):
        if not isinstance(found, list) or len(expected) != len(found):
            return False
        left = list(found)
        for item in expected:
            match = next((i for i, other in enumerate(left) if _agrees(item, other)), None)
            if match is None:
                return False
            del left[match]
        return True
    return expected == found and isinstance(expected, bool) == isinstance(found, bool)


def _run_cycle(case: KueueCase) -> Found:
    scheduler = Scheduler(world_of(case))
    return _cycle_found(case, scheduler, [scheduler.cycle()])


def _run_two_cycles(case: KueueCase) -> Found:
    scheduler = Scheduler(world_of(case))
    results = [scheduler.cycle()]
    for uid in case.delete_between:
        scheduler.finish(uid)
    results.append(scheduler.cycle())
    return _cycle_found(case, scheduler, results)


def _cycle_found(case: KueueCase, scheduler: Scheduler, results: Iterable[CycleResult]) -> Found:
    done = list(results)
    active, parked = {}, {}
    for queue in case.cluster_queues:
        tried, aside = scheduler.waiting(queue.name)
        active[queue.name] = [w.uid for w in tried]
        parked[queue.name] = [w.uid for w in aside]
    preempted: dict[str, JsonValue] = {}
    for result in done:
        for eviction in result.evictions:
            if not eviction.is_repeated:
                preempted.setdefault(eviction.uid, {"name": eviction.uid, "reason": _REASONS[eviction.reason]})
    last = done[-1]
    return {
        "admitted": [
            {
                "name": w.uid,
                "queue": w.queue,
                "podsets": [{"name": p.name, "count": p.count, "flavors": dict(p.flavors)} for p in w.podsets],
            }
            for result in done
            for w in result.admitted
        ],
        "preempted": list(preempted.values()),
        "left_active": _without_empty(active, case.expect.get("left_active")),
        "left_inadmissible": _without_empty(parked, case.expect.get("left_inadmissible")),
        "skipped_preemptions": {q.name: last.skipped_preemptions.get(q.name, 0) for q in case.cluster_queues},
        "recomputations": {
            name: {"new_targets": r.new_targets, "deferred_fit": r.deferred_fit, "skipped": r.skipped}
            for name, r in last.recomputations.items()
        },
    }


def _without_empty(found: dict[str, list[str]], expected: JsonValue) -> JsonValue:
    """The lists are exact: a queue that nobody expects to be left with workloads must have none."""
    wanted = expected if isinstance(expected, dict) else {}
    extra = sorted(name for name, names in found.items() if names and name not in wanted)
    if extra:
        return f"also waiting: {[(name, found[name]) for name in extra]}"
    return {name: list(names) for name, names in found.items()}


def _run_targets(case: KueueCase) -> Found:
    snapshot = Snapshot(world_of(case))
    facts = world_of(case).pending[0]
    pending = Pending(facts)
    asks = {ask.podset.name: ask for ask in pending.asks(None, reclaimable=True, elastic=False)}
    podsets = []
    usage: dict[Slot, int] = {}
    for part in case.assignment:
        ask = asks[part.name]
        choices = {
            resource: FlavorChoice(
                chosen.flavor, snapshot.tree.slot(FlavorResource(chosen.flavor, resource)), _MODES[chosen.mode], 0
            )
            for resource, chosen in part.flavors.items()
        }
        for resource, choice in choices.items():
            usage[choice.slot] = usage.get(choice.slot, 0) + ask.totals.get(resource, 0)
        podsets.append(PodSetAssignment(name=part.name, count=ask.count, flavors=choices, totals=ask.totals))
    assignment = Assignment(podsets=podsets, mode=FitMode.PREEMPT, level=0, usage=tuple(sorted(usage.items())))
    victims = VictimFinder(snapshot).victims(pending, snapshot.queue(case.target_queue), assignment)
    return {
        "preempted": [
            {"name": v.holder.uid, "reason": _REASONS[v.reason]} for v in victims if not v.holder.is_evicting
        ],
        "preempted_count": len(victims),
    }


class _StubOracle:
    def __init__(self, tree: QuotaTree, oracle: OraclesPart) -> None:
        self._tree = tree
        self._answers = {FlavorResource(o.flavor, o.resource): o for o in oracle.overrides}
        self._default = oracle.default

    def outlook(self, pending: Pending, queue: QueueNode, slot: Slot, amount: int) -> ModeLevel:
        answer = self._answers.get(self._tree.pairs[slot], self._default)
        return ModeLevel(_MODES[answer.result], answer.borrow)


def _run_assign(case: KueueCase) -> Found:
    world = world_of(case)
    tree = QuotaTree(world.cohorts, world.queues, _pairs(case.usage))
    _use(tree, case.usage)
    assert case.oracle is not None
    assigner = FlavorAssigner(tree, {f.name: f for f in world.flavors}, world.config, _StubOracle(tree, case.oracle))
    facts = world.pending[0]
    found = assigner.assign(Pending(facts), tree.queues[facts.queue])
    return {
        "mode": _mode_name(found.mode),
        "borrowing": found.level,
        "podsets": [
            {
                "name": p.name,
                "count": p.count,
                "flavors": {
                    resource: {"flavor": c.flavor, "mode": _mode_name(c.mode), "tried_idx": c.tried_index}
                    for resource, c in p.flavors.items()
                },
            }
            for p in found.podsets
        ],
        "usage": _amounts(tree, found.usage),
    }


def _mode_name(mode: FitMode) -> str:
    return "Fit" if mode is FitMode.FIT else "Preempt" if mode.is_preempting else "NoFit"


def _run_drs(case: KueueCase) -> Found:
    world = world_of(case)
    tree = QuotaTree(world.cohorts, world.queues, _pairs([*case.usage, *case.workload_request]))
    _use(tree, case.usage)
    request = _usage(tree, case.workload_request)
    shares: list[JsonValue] = []
    for name, node in (*tree.queues.items(), *tree.cohorts.items()):
        node.add_all(request)
        share = dominant_share(node, tree.slots_by_resource)
        node.remove_all(request)
        shares.append(
            {
                "node": name,
                "kind": "queue" if name in tree.queues else "cohort",
                "share": share.shown,
                "resource": share.resource,
                "borrowing": share.is_borrowing,
            }
        )
    expected = case.expect.get("shares")
    named = {row["node"] for row in expected if isinstance(row, dict)} if isinstance(expected, list) else set()
    return {"shares": [row for row in shares if isinstance(row, dict) and row["node"] in named]}


def _run_available(case: KueueCase) -> Found:
    world = world_of(case)
    tree = QuotaTree(world.cohorts, world.queues, _pairs(case.usage))
    _use(tree, case.usage)
    found: dict[str, JsonValue] = {}
    for key in ("available", "potential"):
        rows: list[JsonValue] = []
        asked = case.expect.get(key)
        for row in asked if isinstance(asked, list) else []:
            part = AmountPart.model_validate(row)
            queue, slot = tree.queues[part.queue], tree.slot(FlavorResource(part.flavor, part.resource))
            amount = max(0, queue.available(slot)) if key == "available" else queue.potential[slot]
            rows.append({**part.model_dump(), "amount": amount})
        found[key] = rows
    return found


def _run_reserve(case: KueueCase) -> Found:
    world = world_of(case)
    tree = QuotaTree(world.cohorts, world.queues, _pairs([*case.usage, *case.workload_request]))
    _use(tree, case.usage)
    queue = next(iter(tree.queues.values()))
    asked = Assignment(
        podsets=[], mode=_MODES[case.mode], level=case.borrowing, usage=_usage(tree, case.workload_request)
    )
    return {"usage": _amounts(tree, held_usage(queue, asked))}


def _run_reduce(case: KueueCase) -> Found:
    podsets = [podset(part) for part in case.podsets]
    found = largest_that_starts(podsets, lambda counts: counts if sum(counts) <= case.count_limit else None)
    return {"found": found is not None, "total": 0 if found is None else sum(found)}


def _run_policy(case: KueueCase) -> Found:
    preemptor, candidate = case.preemptor, case.candidate
    assert preemptor is not None and candidate is not None
    return {
        "preemptible": may_take(
            case.policy,
            preemptor.effective_priority,
            EARLIEST if preemptor.created_s is None else preemptor.created_s,
            candidate.effective_priority,
            EARLIEST if candidate.created_s is None else candidate.created_s,
        )
    }


def _run_prefer(case: KueueCase) -> Found:
    assert case.a is not None and case.b is not None
    a, b = (ModeLevel(_MODES[option.mode], option.borrow_level) for option in (case.a, case.b))
    preference = case.preference or FungibilityPreference.BORROWING_OVER_PREEMPTION
    return {"a_preferred": is_preferred(a, b, preference)}


def _run_order(case: KueueCase) -> Found:
    timestamp = RequeueTimestamp(case.config.requeue_timestamp)

    def key(index: int) -> tuple[int, int, float]:
        entry = case.entries[index]
        queued = queue_time_s(entry.created_s, entry.pods_ready_evicted_s, timestamp)
        return classical_key(
            entry.borrow_level,
            entry.priority if case.config.priority_sorting else 0,
            EARLIEST if queued is None else queued,
        )

    names = [case.entries[index].name for index in sorted(range(len(case.entries)), key=key)]
    expected = case.expect.get("order")
    return {"order": expected if names == expected else f"{names}"}


def _run_topology(case: KueueCase) -> Found:
    flavor = ResourceFlavor(name="f", labels=case.flavor_labels, topology="t")
    levels = tuple(_level(level) for level in case.levels)
    nodes = [_node(part) for part in case.nodes]
    tree = TopologyTree(Topology(name="t", levels=levels), flavor, nodes)
    asks = [_ask(part) for part in case.podsets]
    result = place_podsets(tree, asks, scheduler_config(case.config).gates)
    placements: list[JsonValue] = []
    short = None if result.short is None else result.short.podsets
    for part in case.podsets:
        placed = result.by_podset.get(part.name)
        if placed is not None:
            rows: list[JsonValue] = [{"values": list(p.values), "count": p.count} for p in placed]
            placements.append({"name": part.name, "domains": rows})
        elif short is not None and part.name in short:
            placements.append({"name": part.name, "domains": None})
    return {"placements": placements}


def _level(level: str) -> str:
    return HOSTNAME_LEVEL if level == "host" else level


def _node(part: NodePart) -> TopologyNode:
    return TopologyNode(
        name=part.name,
        labels={_level(key): value for key, value in part.labels.items()},
        allocatable=part.allocatable,
        taints=tuple(taint(t) for t in part.taints),
        is_ready=part.ready,
        is_schedulable=not part.unschedulable,
    )


def _ask(part: PendingPodSetPart) -> PlacementAsk:
    request = part.topology
    renamed = part
    if request is not None:
        renamed = part.model_copy(
            update={
                "node_selector": {_level(k): v for k, v in part.node_selector.items()},
                "topology": request.model_copy(
                    update={
                        "required": request.required and _level(request.required),
                        "preferred": request.preferred and _level(request.preferred),
                        "slice_level": request.slice_level and _level(request.slice_level),
                        "slices": tuple(s.model_copy(update={"level": _level(s.level)}) for s in request.slices),
                    }
                ),
            }
        )
    asked = podset(renamed)
    return PlacementAsk(podset=asked, count=asked.count, is_implied=part.implied)


def _pairs(parts: Iterable[AmountPart]) -> list[FlavorResource]:
    return [FlavorResource(part.flavor, part.resource) for part in parts]


def _usage(tree: QuotaTree, parts: Iterable[AmountPart]) -> Usage:
    return tuple(sorted((tree.slot(FlavorResource(p.flavor, p.resource)), p.amount) for p in parts))


def _use(tree: QuotaTree, parts: Iterable[AmountPart]) -> None:
    for part in parts:
        tree.queues[part.queue].add(tree.slot(FlavorResource(part.flavor, part.resource)), part.amount)


def _amounts(tree: QuotaTree, usage: Usage) -> list[JsonValue]:
    return [{"flavor": tree.pairs[s].flavor, "resource": tree.pairs[s].resource, "amount": n} for s, n in usage]


_RUNNERS: Mapping[str, Callable[[KueueCase], Found]] = {
    "cycle": _run_cycle,
    "two_cycles": _run_two_cycles,
    "targets": _run_targets,
    "assign": _run_assign,
    "drs": _run_drs,
    "available": _run_available,
    "reserve": _run_reserve,
    "reduce": _run_reduce,
    "policy": _run_policy,
    "prefer": _run_prefer,
    "order": _run_order,
    "topology": _run_topology,
}
