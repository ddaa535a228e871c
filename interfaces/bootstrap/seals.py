"""The seals of a home's audit trail: who may write them, and when a worker does."""

from __future__ import annotations

import time
from collections.abc import Callable

import structlog

from interfaces.bootstrap.home import Home, locked
from state.audit import AuditTrail, ChainFault
from state.errors import DatabaseUnusable
from state.repository import Repository
from state.seals import AuditSeals

_PERIOD_SECONDS = 30.0
"""What was changed unseen before it was sealed stays unseen: the less time the better."""

log = structlog.get_logger(__name__)


def seal_audit(home: Home, trail: AuditTrail) -> int:
    """Notes the heads that are new. Returns how many."""
    with locked(home.audit_lock):
        return AuditSeals(home.audit_key, home.audit_seals).seal(trail)


def verify_audit(home: Home, trail: AuditTrail, subject: str | None) -> tuple[int, tuple[ChainFault, ...]]:
    """How many chains were looked at, and the first bad row of each that is not whole."""
    with locked(home.audit_lock):
        return AuditSeals(home.audit_key, home.audit_seals).verify(trail, None if subject is None else [subject])


def sealing(home: Home, trail: Repository, rest: Callable[[float], None]) -> Callable[[float], None]:
    """A worker's `idle` that seals what is new before it rests, every half minute at most."""
    seals, due, sealed_version = AuditSeals(home.audit_key, home.audit_seals), 0.0, -1

    def seal_then_rest(seconds: float) -> None:
        nonlocal due, sealed_version
        if time.monotonic() >= due:
            due = time.monotonic() + _PERIOD_SECONDS
            try:
                version = trail.version()
                if version != sealed_version:
                    with locked(home.audit_lock):
                        seals.seal(trail)
                    sealed_version = version
            except (OSError, DatabaseUnusable):
                log.exception("audit_not_sealed")
        rest(seconds)

    return seal_then_rest
