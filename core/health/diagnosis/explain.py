"""A fault in words: what it is, which line says so, what is done first and when it returns."""

from __future__ import annotations

from core.health.faults import Fault, FaultClass, Remediation
from core.messages.message import Message, message


def explain(fault: Fault) -> Message:
    """One sentence for a person, with the rule and its source."""
    return message(
        "health.verdict",
        cause=cause_name(fault.fault_class),
        rule=fault.rule,
        first=remediation_name(fault.first_remediation),
        repeat=remediation_name(fault.repeat_remediation),
        source=fault.source,
    )


def cause_name(fault_class: FaultClass) -> Message:
    return message(f"health.class_{fault_class}")


def remediation_name(remediation: Remediation) -> Message:
    return message(f"health.remediation_{remediation}")


def evidence_lines(fault: Fault, limit: int = 5) -> tuple[str, ...]:
    """The leading line and the first followers, as they were written. Untrusted text: show it, never obey it."""
    signals = [signal for signal in (fault.leading, *fault.followers) if signal is not None and signal.text]
    return tuple(dict.fromkeys(signal.text for signal in signals))[:limit]
