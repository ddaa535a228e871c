"""Seals on the audit trail: heads of its chains, kept outside the database and signed with a key that is not in it.

Whoever can write the database can cut a chain's tail or hash it anew from any row on; neither shows in the chain
itself. Both show against a head that was noted before. Each line of the seal file is signed (HMAC-SHA-256) together
with the signature of the line before it, so that no line can be changed, added or taken out of the middle.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import os
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from core.json_value import canonical_json
from state.audit import GENESIS, AuditTrail, ChainFault, ChainHead

SEAL_FILE = "(seals)"
"""The subject of a fault in the seal file itself; the sequence is its line."""
_KEY_BYTES = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class _Seals:
    """What the file holds: its good lines, the last signature, and the first bad line if there is one."""

    heads: tuple[ChainHead, ...]
    signature: str
    fault: ChainFault | None


class AuditSeals:
    """One key file and one seal file. Whoever seals holds a lock, so that two processes do not write one line each."""

    def __init__(self, key_path: Path, seals_path: Path) -> None:
        self._key_path, self._seals_path = key_path, seals_path
        self._newest: dict[str, ChainHead] = {}
        self._signature, self._offset = GENESIS, 0

    def seal(self, trail: AuditTrail) -> int:
        """Notes the heads that are new since the last time. Returns how many.

        A chain that no longer fits its last seal is left as it was sealed, and a damaged seal file is not written
        to: `verify` goes on finding what is wrong.
        """
        key = self._make_key()
        if not self._catch_up(key):
            return 0
        fresh = [head for head in trail.list_chain_heads() if self._newest.get(head.subject) != head]
        sound = [h for h in fresh if trail.verify_audit(h.subject, sealed=self._newest.get(h.subject)) is None]
        if sound:
            self._append(list(_signed(key, sound, self._signature)))
            self._catch_up(key)
        return len(sound)

    def verify(self, trail: AuditTrail, subjects: Sequence[str] | None = None) -> tuple[int, tuple[ChainFault, ...]]:
        """How many chains were looked at, and the first bad row of each that is not whole.

        Without `subjects`: every chain of the database and every one that was ever sealed, and the seal file too.
        """
        seals = self._read()
        sealed: dict[str, list[ChainHead]] = {}
        for head in seals.heads:
            sealed.setdefault(head.subject, []).append(head)
        known = {head.subject for head in trail.list_chain_heads()} | sealed.keys()
        wanted = sorted(known) if subjects is None else list(subjects)
        found = [fault for subject in wanted if (fault := _first_fault(trail, subject, sealed.get(subject, [])))]
        return len(wanted), (*([] if seals.fault is None else [seals.fault]), *found)

    def _read(self) -> _Seals:
        if not self._key_path.exists():
            gone = ChainFault(subject=SEAL_FILE, sequence=1, why="the key of the seals is gone")
            return _Seals(heads=(), signature=GENESIS, fault=gone if self._seals_path.exists() else None)
        if not self._seals_path.exists():
            # The key and the file are made together.
            return _Seals(
                heads=(),
                signature=GENESIS,
                fault=ChainFault(subject=SEAL_FILE, sequence=1, why="the file of the seals is gone"),
            )
        return _parse(
            self._key_path.read_bytes(), self._seals_path.read_text(encoding="utf-8", errors="replace").splitlines()
        )

    def _catch_up(self, key: bytes) -> bool:
        """Reads what was added since the last time, so that sealing costs the same however long the file has grown.

        False: the file is not as it was left; what was read before stays known.
        """
        if not self._key_path.exists() or not self._seals_path.exists():
            return False
        with self._seals_path.open("rb") as file:
            if file.seek(0, os.SEEK_END) < self._offset:
                return False
            file.seek(self._offset)
            added = file.read()
        seals = _parse(key, added.decode(errors="replace").splitlines(), signature=self._signature)
        if seals.fault is not None:
            return False
        self._newest.update((head.subject, head) for head in seals.heads)
        self._signature, self._offset = seals.signature, self._offset + len(added)
        return True

    def _make_key(self) -> bytes:
        if not self._key_path.exists() and not self._seals_path.exists():
            _write_private(self._seals_path, b"")
            _write_private(self._key_path, secrets.token_bytes(_KEY_BYTES))
        return self._key_path.read_bytes() if self._key_path.exists() else b""

    def _append(self, lines: list[str]) -> None:
        descriptor = os.open(self._seals_path, os.O_WRONLY | os.O_APPEND)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write("".join(f"{line}\n" for line in lines))
            file.flush()
            os.fsync(descriptor)


def _first_fault(trail: AuditTrail, subject: str, sealed: Sequence[ChainHead]) -> ChainFault | None:
    """Against every seal, oldest first: the first that does not fit is nearest to the first bad row."""
    for head in sealed:
        fault = trail.verify_audit(subject, sealed=head)
        if fault is not None:
            return fault
    return None if sealed else trail.verify_audit(subject)


def _signed(key: bytes, heads: Sequence[ChainHead], signature: str) -> Iterator[str]:
    for head in heads:
        signature = _signature(key, head, signature)
        yield canonical_json(
            {
                "subject": head.subject,
                "sequence": head.sequence,
                "hash": head.hash,
                "signature": signature,
            }
        )


def _parse(key: bytes, lines: Sequence[str], *, signature: str = GENESIS) -> _Seals:
    heads = list[ChainHead]()
    for number, line in enumerate(lines, start=1):
        try:
            values = json.loads(line)
            head = ChainHead(subject=values["subject"], sequence=values["sequence"], hash=values["hash"])
            found = str(values["signature"])
        except (ValueError, KeyError, TypeError):
            found, head = "", None
        expected = "" if head is None else _signature(key, head, signature)
        if head is None or not hmac.compare_digest(found, expected):
            bad = ChainFault(subject=SEAL_FILE, sequence=number, why="this seal was changed after it was written")
            return _Seals(heads=tuple(heads), signature=signature, fault=bad)
        heads.append(head)
        signature = found
    return _Seals(heads=tuple(heads), signature=signature, fault=None)


def _signature(key: bytes, head: ChainHead, previous: str) -> str:
    content = canonical_json([previous, head.subject, head.sequence, head.hash])
    return hmac.new(key, content.encode(), hashlib.sha256).hexdigest()


def _write_private(path: Path, content: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
        file.flush()
        os.fsync(descriptor)
