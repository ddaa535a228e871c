"""The time at the head of a log line, in the shapes that mix in one cluster.

A stamp without a zone is taken as UTC; one without a year takes the year of `reference` (or the year before,
when that would lie more than a day in the future); seconds since boot need `booted_at`. A stamp that makes no
sense (31 February, hour 25) is no stamp: the line keeps its signal and loses its time.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

HEAD_CHARACTERS = 96

_ISO = re.compile(
    r"(?P<y>\d{4})[-/](?P<mo>\d\d)[-/](?P<d>\d\d)[T"
    r" ](?P<h>\d\d):(?P<mi>\d\d):(?P<s>\d\d)(?:[.,:](?P<f>\d{1,9}))?"
    r" ?(?P<z>Z|[+-]\d\d:?\d\d)?"
)
_SYSLOG = re.compile(
    r"(?P<mon>Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov"
    r"|Dec) +(?P<d>\d{1,2}) (?P<h>\d\d):(?P<mi>\d\d):(?P<s>\d\d)"
    r"(?:\.(?P<f>\d{1,9}))?(?: (?P<y>\d{4}))?"
)
_KLOG = re.compile(r"(?:^|[ \]:])[IWEF](?P<mo>\d\d)(?P<d>\d\d) (?P<h>\d\d):(?P<mi>\d\d):(?P<s>\d\d)\.(?P<f>\d{1,9})")
_SINCE_BOOT = re.compile(r"^(?:<\d{1,3}>)?\[ {0,8}(?P<s>\d{1,9})\.(?P<f>\d{1,9})\]")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def read_stamp(line: str, *, reference: datetime | None = None, booted_at: datetime | None = None) -> datetime | None:
    """The moment that the head of `line` names, in UTC; None where it names none."""
    head = line[:HEAD_CHARACTERS]
    try:
        if found := _ISO.search(head):
            return _with_zone(_moment(found, int(found["y"]), int(found["mo"])), found["z"])
        if found := _SYSLOG.search(head):
            month = _MONTHS.index(found["mon"]) + 1
            if found["y"]:
                return _moment(found, int(found["y"]), month)
            return _in_year_of(found, month, reference)
        if found := _KLOG.search(head):
            return _in_year_of(found, int(found["mo"]), reference)
        if booted_at is not None and (found := _SINCE_BOOT.search(head)):
            return booted_at + timedelta(seconds=float(f"{found['s']}.{found['f']}"))
    except (ValueError, OverflowError):
        return None
    return None


def _moment(found: re.Match[str], year: int, month: int) -> datetime:
    microsecond = int((found["f"] or "0")[:6].ljust(6, "0"))
    return datetime(
        year,
        month,
        int(found["d"]),
        int(found["h"]),
        int(found["mi"]),
        int(found["s"]),
        microsecond,
        tzinfo=UTC,
    )


def _with_zone(moment: datetime, zone: str | None) -> datetime:
    if zone is None or zone == "Z":
        return moment
    digits = zone[1:].replace(":", "")
    offset = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return moment.replace(tzinfo=timezone(offset if zone[0] == "+" else -offset)).astimezone(UTC)


def _in_year_of(found: re.Match[str], month: int, reference: datetime | None) -> datetime | None:
    if reference is None:
        return None
    moment = _moment(found, reference.year, month)
    return moment.replace(year=moment.year - 1) if moment > reference + timedelta(days=1) else moment
