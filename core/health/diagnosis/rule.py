"""CauseRule: what a combination of signals means, declared as data.

A rule fits when every word of `needs` is among the evidence's tokens and none of `unless` is. Words are
joined by blanks, alternatives by `|`. The first rule that fits decides, so the order of the rules is part of the
knowledge: what says that nothing is wrong comes before what looks like hardware.
"""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass

from core.health.faults import Accused, Confidence, FaultClass, Remediation


@dataclass(frozen=True, slots=True, kw_only=True)
class CauseRule:
    name: str
    needs: tuple[frozenset[str], ...]
    unless: frozenset[str]
    fault_class: FaultClass
    first: Remediation
    repeat: Remediation
    accused: Accused
    confidence: Confidence
    source: str

    def fits(self, tokens: Set[str]) -> bool:
        return all(alternatives & tokens for alternatives in self.needs) and not self.unless & tokens

    @property
    def words(self) -> frozenset[str]:
        """Every token that speaks for the rule."""
        return frozenset().union(*self.needs)


def rule(
    name: str,
    needs: str,
    verdict: tuple[FaultClass, Remediation, Accused],
    source: str,
    *,
    unless: str = "",
    repeat: Remediation = Remediation.ESCALATE,
    confidence: Confidence = Confidence.INFERRED,
) -> CauseRule:
    """`verdict`: the class, what is done first, and who is accused."""
    fault_class, first, accused = verdict
    return CauseRule(
        name=name,
        needs=tuple(frozenset(word.split("|")) for word in needs.split()),
        unless=frozenset(unless.split()),
        fault_class=fault_class,
        first=first,
        repeat=repeat,
        accused=accused,
        confidence=confidence,
        source=source,
    )
