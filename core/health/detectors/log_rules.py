"""LogRule: what people declare about a job's own output, and the watch that follows it.

The fields are the union of the HyperPod training operator's `logMonitoringConfiguration` and of the Ray toolkit's
hung-job rules. Patterns are RE2-like: at most 256 characters, no look-around, no back-references, no quantified group
that holds a quantifier, so that a hostile line cannot stall the watch.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from core.messages.message import message
from core.reasons import InputRefused, RefusalReason

PATTERN_LIMIT: Final = 256
LINE_LIMIT: Final = 4096
_NOT_RE2 = re.compile(r"\(\?[=!<](?!P)|\\[1-9]|\(\?P=|\(\?\(|\((?:[^()\\]|\\.)*[+*}](?:[^()\\]|\\.)*\)[+*{]")


class Comparison(StrEnum):
    """How the metric in the first group of the pattern is compared with the threshold: true = bad."""

    GT = "gt"
    GTEQ = "gteq"
    LT = "lt"
    LTEQ = "lteq"
    EQ = "eq"


class LogRuleAction(StrEnum):
    NOTIFY = "notify"
    CANCEL = "cancel"
    """Stop the job, after approval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRule:
    """Raises `InputRefused` for a pattern that is too long, wrong, or outside RE2, and for durations below zero."""

    name: str
    log_pattern: str
    stop_pattern: str | None = None
    """After a line of this shape the rule rests."""
    enabled: bool = True
    expected_start_cut_off_seconds: float | None = None
    """The first match has to come within this time of the start."""
    expected_recurring_frequency_seconds: float | None = None
    """Later matches have to come at least this often."""
    metric_threshold: float | None = None
    operator: Comparison = Comparison.LT
    metric_evaluation_data_points: int = 1
    """Bad values in a row before the job is slow."""
    fault_on_match: bool = False
    """A match is a fault by itself."""
    action: LogRuleAction = LogRuleAction.NOTIFY

    def __post_init__(self) -> None:
        for pattern in filter(None, (self.log_pattern, self.stop_pattern)):
            _check(self.name, pattern)
        durations = (self.expected_start_cut_off_seconds, self.expected_recurring_frequency_seconds)
        if any(value is not None and not 0 < value < math.inf for value in durations):
            raise _refused("health.rule_duration", rule=self.name)
        if self.metric_evaluation_data_points < 1:
            raise _refused("health.rule_points", rule=self.name)
        if self.metric_threshold is not None and re.compile(self.log_pattern).groups < 1:
            raise _refused("health.rule_group", rule=self.name)


class LogRuleState(StrEnum):
    """`HANGING` and `SLOW` are the training operator's words."""

    WAITING = "Waiting"
    RUNNING = "Running"
    HANGING = "Hanging"
    SLOW = "Slow"
    FAULT = "Fault"
    STOPPED = "Stopped"


@dataclass(frozen=True, slots=True, kw_only=True)
class LogRuleWatch:
    rule: LogRule
    started_at: float
    """Seconds on any clock; the same one as in the calls."""
    last_match_at: float | None = None
    bad_values: int = 0
    state: LogRuleState = LogRuleState.WAITING


def see_line(watch: LogRuleWatch, line: str, at: float) -> LogRuleWatch:
    """One line of output. A disabled or stopped rule sees nothing; a fault stays."""
    rule = watch.rule
    if not rule.enabled or watch.state in {LogRuleState.STOPPED, LogRuleState.FAULT}:
        return watch
    cut = line[:LINE_LIMIT]
    if rule.stop_pattern is not None and re.search(rule.stop_pattern, cut):
        return replace(watch, state=LogRuleState.STOPPED)
    found = re.search(rule.log_pattern, cut)
    if found is None:
        return watch
    if rule.fault_on_match:
        return replace(watch, last_match_at=at, state=LogRuleState.FAULT)
    bad = watch.bad_values + 1 if _is_bad(rule, found) else 0
    is_slow = rule.metric_threshold is not None and bad >= rule.metric_evaluation_data_points
    latest = at if watch.last_match_at is None else max(at, watch.last_match_at)
    state = LogRuleState.SLOW if is_slow else LogRuleState.RUNNING
    return replace(watch, last_match_at=latest, bad_values=bad, state=state)


def see_time(watch: LogRuleWatch, now: float) -> LogRuleWatch:
    """Time passed without a line."""
    rule = watch.rule
    if not rule.enabled or watch.state in {LogRuleState.STOPPED, LogRuleState.FAULT}:
        return watch
    if watch.last_match_at is None:
        limit, since = rule.expected_start_cut_off_seconds, watch.started_at
    else:
        limit, since = rule.expected_recurring_frequency_seconds, watch.last_match_at
    if limit is not None and now - since > limit:
        return replace(watch, state=LogRuleState.HANGING)
    return watch


def _is_bad(rule: LogRule, found: re.Match[str]) -> bool:
    if rule.metric_threshold is None:
        return False
    try:
        value = float(found[1])
    except (TypeError, ValueError):
        return False
    match rule.operator:
        case Comparison.GT:
            return value > rule.metric_threshold
        case Comparison.GTEQ:
            return value >= rule.metric_threshold
        case Comparison.LT:
            return value < rule.metric_threshold
        case Comparison.LTEQ:
            return value <= rule.metric_threshold
        case Comparison.EQ:
            return value == rule.metric_threshold


def _check(name: str, pattern: str) -> None:
    if len(pattern) > PATTERN_LIMIT:
        raise _refused("health.rule_too_long", rule=name, limit=PATTERN_LIMIT)
    if _NOT_RE2.search(pattern):
        raise _refused("health.rule_not_re2", rule=name)
    try:
        re.compile(pattern)
    except re.error as error:
        raise _refused("health.rule_wrong", rule=name, why=str(error)) from error


def _refused(key: str, **params: str | int) -> InputRefused:
    return InputRefused(RefusalReason.PARAMETER_INVALID, message(key, **params))
