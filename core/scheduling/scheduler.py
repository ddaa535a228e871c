"""The scheduler: queues in front of a snapshot, decided cycle by cycle.

Everything is an argument: the world at the start, events as they happen, the time of each cycle. The same
calls give the same decisions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from heapq import heappop, heappush

from core.scheduling.cycle import Cycle
from core.scheduling.decisions import CycleResult, Decision, Outcome
from core.scheduling.errors import WorldField, world_invalid
from core.scheduling.nomination import Nomination, Nominator
from core.scheduling.pending import Pending
from core.scheduling.queues import PendingQueue, RequeueReason
from core.scheduling.quota_tree import QuotaNode
from core.scheduling.refusals import Refusal, RefusalReason
from core.scheduling.snapshot import Snapshot
from core.scheduling.validation import check_workload, check_world
from core.scheduling.world import AdmittedWorkload, PendingWorkload, World


class Scheduler:
    """Raises `WorldInvalid` for a world or workload that cannot be decided on; nothing is changed then."""

    def __init__(self, world: World) -> None:
        check_world(world)
        self._world = world
        self._snapshot = Snapshot(world)
        self._nominator = Nominator(self._snapshot)
        gates = world.config.gates
        self._queues = {
            name: PendingQueue(node.facts.strategy, parks_by_shape=gates.scheduling_equivalence_hashing)
            for name, node in self._snapshot.tree.queues.items()
        }
        self._with_parked: dict[QuotaNode | None, set[str]] = {}
        """Tree -> queues where something is parked."""
        self._inactive = frozenset(
            name for name, node in self._snapshot.tree.queues.items() if not self._nominator.assigner.is_active(node)
        )
        self._occupied: dict[QuotaNode | None, set[str]] = {}
        """Tree -> queues that may have a head."""
        self._backoff: list[tuple[float, str]] = []
        self._sleeping: dict[str, Pending] = {}
        """Workloads whose backoff runs, by uid."""
        self._cycle = 0
        self._resting: dict[QuotaNode | None, dict[str, str]] = {}
        """Tree -> its heads by queue, as long as nothing has moved there since they were decided."""
        self._generation = 0
        for pending in world.pending:
            self.submit(pending)

    @property
    def snapshot(self) -> Snapshot:
        """The state as it stands; to be read, not changed."""
        return self._snapshot

    @property
    def nominator(self) -> Nominator:
        return self._nominator

    def world(self) -> World:
        """The facts as they are now: what runs and what waits, whatever was handed in at the start."""
        waiting = (w for name in sorted(self._queues) for side in self.waiting(name) for w in side)
        return replace(
            self._world,
            admitted=tuple(sorted(self.holders(), key=lambda w: w.uid)),
            pending=tuple(sorted(waiting, key=lambda w: w.uid)),
        )

    def find(self, uid: str) -> PendingWorkload | None:
        """The waiting workload of that uid."""
        asleep = self._sleeping.get(uid)
        if asleep is not None:
            return asleep.facts
        found = (queue.find(uid) for queue in self._queues.values())
        return next((pending.facts for pending in found if pending is not None), None)

    def submit(self, workload: PendingWorkload) -> None:
        """A workload joins its queue."""
        check_workload(workload)
        queue = self._queues.get(workload.queue)
        if queue is None:
            raise world_invalid(WorldField.QUEUE_UNKNOWN, name=workload.uid, queue=workload.queue)
        if (
            workload.uid in self._snapshot.holders
            or workload.uid in self._sleeping
            or queue.find(workload.uid) is not None
        ):
            raise world_invalid(WorldField.NAME_TWICE, name=workload.uid)
        self._enqueue(Pending(workload))

    def withdraw(self, uid: str, queue: str) -> bool:
        """A waiting workload is deleted. Whether it was there."""
        asleep = self._sleeping.pop(uid, None)
        return asleep is not None or self._queues[queue].discard(uid) is not None

    def finish(self, uid: str) -> bool:
        """An admitted workload is done, deleted or has left: its quota is free. Whether it was there."""
        holder = self._snapshot.discard(uid)
        if holder is None:
            return False
        self.capacity_changed(holder.queue.name)
        return True

    def requeue(self, workload: PendingWorkload) -> None:
        """An evicted workload has left its nodes and waits again."""
        self.finish(workload.uid)
        self.submit(workload)

    def capacity_changed(self, queue: str) -> None:
        """Quota became free or moved somewhere in the queue's tree: whoever is parked there is tried again."""
        self._generation += 1
        tree = self._tree(queue)
        self._resting.pop(tree, None)
        for name in self._with_parked.pop(tree, ()):
            self._queues[name].unpark()
            self._occupy(name)

    def waiting(self, queue: str) -> tuple[list[PendingWorkload], list[PendingWorkload]]:
        """(those that will be tried, those parked until something changes or their backoff ends)."""
        pending = self._queues[queue]
        asleep = [p.facts for p in self._sleeping.values() if p.facts.queue == queue]
        return [p.facts for p in pending.active()], [*(p.facts for p in pending.parked()), *asleep]

    def holders(self) -> Iterable[AdmittedWorkload]:
        return (holder.facts for holder in self._snapshot.holders.values())

    def mark_evicting(self, uids: Iterable[str]) -> None:
        """These have been told to go: they are the first to be counted on, until they finish."""
        for uid in uids:
            holder = self._snapshot.holders[uid]
            self._snapshot.discard(uid)
            self._snapshot.add(replace(holder.facts, is_evicting=True))

    @property
    def is_at_rest(self) -> bool:
        """Whether another cycle would only repeat the last one: call `cycle` until then."""
        return all(self._rests(tree) for tree in self._occupied)

    def _rests(self, tree: QuotaNode | None) -> bool:
        decided = self._resting.get(tree)
        for name in self._occupied[tree]:
            head = self._queues[name].head()
            if head is None:
                continue
            has_untried = head.scan is not None and head.scan.has_untried
            if has_untried or decided is None or decided.get(name) != head.uid:
                return False
        return True

    def cycle(self, now_s: float = 0.0) -> CycleResult:
        """Decide the head of every queue once."""
        self._cycle += 1
        self._wake(now_s)
        run = Cycle(
            self._snapshot,
            self._nominator,
            number=self._cycle,
            now_s=now_s,
            generation=self._generation,
        )
        nominations: list[Nomination] = []
        barred: list[tuple[Pending, RefusalReason]] = []
        for head in self._heads():
            if head.facts.is_eligible:
                nominations.append(self._nominator.nominate(head, self._generation, self._cycle))
            else:
                barred.append((head, RefusalReason.NOT_ELIGIBLE))
        run.run(nominations)
        self._note_rest(nominations, run)
        for nomination, reason in run.requeued:
            self._put_back(nomination.pending, reason)
        for pending, why in barred:
            self._put_back(pending, RequeueReason.NAMESPACE_MISMATCH)
            refusal = Refusal(reason=why, uid=pending.uid, queue=pending.facts.queue)
            run.decisions.append(
                Decision(uid=pending.uid, queue=pending.facts.queue, outcome=Outcome.REFUSED, refusal=refusal)
            )
        return run.close()

    def _heads(self) -> Iterator[Pending]:
        """One per active queue, by queue name. A tree at rest would only hear the same refusals again: left out."""
        names = [name for tree, names in self._occupied.items() if not self._rests(tree) for name in names]
        for name in sorted(names):
            head = self._queues[name].pop(self._generation)
            if head is None:
                self._occupied[self._tree(name)].discard(name)
            else:
                yield head

    def _note_rest(self, nominations: list[Nomination], run: Cycle) -> None:
        moved = {self._tree(d.queue) for d in run.decisions if d.outcome is not Outcome.REFUSED}
        heads: dict[QuotaNode | None, dict[str, str]] = {}
        for nomination in nominations:
            heads.setdefault(self._tree(nomination.queue.name), {})[nomination.queue.name] = nomination.uid
        for tree, decided in heads.items():
            if tree in moved:
                self._resting.pop(tree, None)
            else:
                self._resting[tree] = decided

    def _tree(self, queue: str) -> QuotaNode | None:
        """The tree that a queue's events touch; with topologies every queue shares the nodes: one for all."""
        return None if self._snapshot.topology.is_used else self._snapshot.queue(queue).root

    def _put_back(self, pending: Pending, reason: RequeueReason) -> None:
        pending.is_preemptor = reason is RequeueReason.PENDING_PREEMPTION
        name = pending.facts.queue
        queue = self._queues[name]
        queue.requeue(pending, reason, self._generation)
        tree = self._tree(name)
        self._occupied.setdefault(tree, set()).add(name)
        if queue.has_parked:
            self._with_parked.setdefault(tree, set()).add(name)

    def _enqueue(self, pending: Pending) -> None:
        facts = pending.facts
        if facts.not_before_s is not None:
            heappush(self._backoff, (facts.not_before_s, facts.uid))
            self._sleeping[facts.uid] = pending
            return
        self._queues[facts.queue].push(pending)
        self._occupy(facts.queue)

    def _wake(self, now_s: float) -> None:
        while self._backoff and self._backoff[0][0] <= now_s:
            _, uid = heappop(self._backoff)
            pending = self._sleeping.pop(uid, None)
            if pending is not None:
                self._queues[pending.facts.queue].push(pending)
                self._occupy(pending.facts.queue)

    def _occupy(self, queue: str) -> None:
        if queue not in self._inactive:
            self._occupied.setdefault(self._tree(queue), set()).add(queue)
