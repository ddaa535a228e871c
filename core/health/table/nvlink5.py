"""Reads the sub-code of an NVLink 5 Xid (144 to 150): `RLW_RXPIPE Nonfatal XC0 i0 Link 11 (0x... 0x...)`.

The layout of the first word changed with driver R575, and the line does not say which one wrote it: a row
that fits either layout is taken, the more serious one first.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from core.health.table.nvlink5_rows import ROWS

_LINE = re.compile(
    r"(?P<unit>[A-Z][A-Z0-9_]{2,40}) (?P<severity>Fatal|Nonfatal|Non-fatal|Link Fatal)"
    r" XC\d i\d Link (?P<link>-?\d+)"
    r"(?: \((?P<words>0x[0-9a-f]{1,8}(?: 0x[0-9a-f]{1,8}){0,7})\))?",
    re.IGNORECASE,
)
_BITS: Final = 26


@dataclass(frozen=True, slots=True, kw_only=True)
class NvlinkSubCode:
    """What the sub-code says. `look_at` is NVIDIA's investigation in the table's short words."""

    unit: str
    is_fatal: bool
    needs_reset: bool
    look_at: str
    accuses_peer: bool
    link: int


@dataclass(frozen=True, slots=True)
class _Row:
    xid: int
    units: tuple[str, ...]
    old_bits: str
    new_bits: str
    statuses: tuple[int, ...]
    bucket: str
    look_at: str
    severity: str


def read_nvlink5(xid: int, text: str) -> NvlinkSubCode | None:
    """The sub-code in `text`; None for a line of another shape. An unlisted one keeps the line's severity."""
    found = _LINE.search(text)
    if found is None:
        return None
    line_is_fatal = found["severity"].lower() in {"fatal", "link fatal"}
    rows = _fitting_rows(xid, found["unit"].upper(), found["words"])
    worst = max(rows, key=lambda row: (row.bucket == "reset_gpu", "peer_device" in row.look_at), default=None)
    return NvlinkSubCode(
        unit=found["unit"],
        is_fatal=line_is_fatal,
        needs_reset=line_is_fatal and (worst is None or worst.bucket != "ignore"),
        look_at=worst.look_at if worst is not None else "unknown sub-code",
        accuses_peer=worst is not None and worst.look_at == "peer_device",
        link=int(found["link"]),
    )


def _fitting_rows(xid: int, unit: str, words: str | None) -> list[_Row]:
    if words is None:
        return []
    numbers = [int(word, 16) for word in words.split()]
    bits = format(numbers[0], "032b")[-_BITS:]
    status = numbers[1] if len(numbers) > 1 else 0
    return [
        row
        for row in _ROWS
        if row.xid == xid
        and any(unit.startswith(name) for name in row.units)
        and (_fits(bits, row.old_bits) or _fits(bits, row.new_bits))
        and (not row.statuses or status in row.statuses)
    ]


def _fits(bits: str, wanted: str) -> bool:
    return all(want in {"-", bit} for bit, want in zip(bits, wanted, strict=True))


def _read(row: str) -> _Row:
    xid, units, old, new, statuses, bucket, look_at, severity = row.split("|")
    return _Row(
        xid=int(xid),
        units=tuple(units.upper().split("/")),
        old_bits=old,
        new_bits=new,
        statuses=tuple(int(status, 16) for status in statuses.split("/") if status != "-"),
        bucket=bucket,
        look_at=look_at,
        severity=severity,
    )


_ROWS: Final = tuple(_read(row) for row in ROWS.splitlines())
