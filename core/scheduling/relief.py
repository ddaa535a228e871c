"""What the victims of a cycle will free, summed up so that asking "would it fit then?" stays cheap."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from core.scheduling.holders import Holder
from core.scheduling.quantities import Slot, Usage
from core.scheduling.quota_tree import QueueNode, QuotaNode


class Relief:
    """Victims so far, by uid, and their usage by tree, queue and slot."""

    def __init__(self) -> None:
        self.victims: dict[str, Holder] = {}
        self._holders: dict[QuotaNode, list[Holder]] = {}
        self._by_tree: dict[QuotaNode, dict[tuple[QueueNode, Slot], int]] = {}
        self._totals: dict[QuotaNode, dict[Slot, int]] = {}

    def add(self, holder: Holder) -> None:
        if holder.uid in self.victims:
            return
        self.victims[holder.uid] = holder
        self._holders.setdefault(holder.queue.root, []).append(holder)
        amounts = self._by_tree.setdefault(holder.queue.root, {})
        totals = self._totals.setdefault(holder.queue.root, {})
        for slot, amount in holder.usage:
            amounts[holder.queue, slot] = amounts.get((holder.queue, slot), 0) + amount
            totals[slot] = totals.get(slot, 0) + amount

    def in_tree(self, queue: QueueNode) -> list[Holder]:
        """Victims in the tree of `queue`: those of other trees cannot matter to its quota."""
        return self._holders.get(queue.root, [])

    def may_help(self, queue: QueueNode, usage: Usage, own: Iterable[Holder]) -> bool:
        """False when even all that is freed, wherever it is, falls short: freeing x makes room for x at most."""
        totals = dict(self._totals.get(queue.root, {}))
        for holder in own:
            for slot, amount in holder.usage:
                totals[slot] = totals.get(slot, 0) + amount
        return all(amount <= queue.available(slot) + totals.get(slot, 0) for slot, amount in usage)

    @contextmanager
    def applied(self, queue: QueueNode, own: Iterable[Holder]) -> Iterator[None]:
        """The quota tree of `queue` as it will be once all victims, and `own`, have left."""
        removed: list[tuple[QueueNode, Slot, int]] = [
            (node, slot, amount) for (node, slot), amount in self._by_tree.get(queue.root, {}).items()
        ]
        removed += [
            (holder.queue, slot, amount)
            for holder in own
            if holder.uid not in self.victims
            for slot, amount in holder.usage
        ]
        for node, slot, amount in removed:
            node.remove(slot, amount)
        try:
            yield
        finally:
            for node, slot, amount in removed:
                node.add(slot, amount)
