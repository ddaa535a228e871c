"""An all-reduce over plain sockets: every rank sends to rank 0, which answers all with the sum."""

from __future__ import annotations

import contextlib
import socket
import struct
import time
from collections.abc import Iterator

import numpy as np

_HEADER = struct.Struct("!II")
_RETRY_SECONDS = 0.1


class Collective:
    """Rank 0 holds a connection per other rank, in rank order; the others hold one."""

    def __init__(self, rank: int, peers: list[socket.socket]) -> None:
        self._rank = rank
        self._peers = peers

    def sum(self, values: np.ndarray) -> np.ndarray:
        """The sum over all ranks, added up in rank order so that every run gives the same bits.

        ConnectionError when a rank is gone.
        """
        values = np.asarray(values, dtype=np.float64)
        if self._rank:
            _send(self._peers[0], self._rank, values.tobytes())
            return np.frombuffer(_receive(self._peers[0])[1])
        total = values.copy()
        for peer in self._peers:
            total += np.frombuffer(_receive(peer)[1])
        for peer in self._peers:
            _send(peer, 0, total.tobytes())
        return total


@contextlib.contextmanager
def connect(rank: int, world: int, address: tuple[str, int], deadline_seconds: float) -> Iterator[Collective]:
    """Meet at `address`; TimeoutError when not all are there in time."""
    with contextlib.ExitStack() as stack:
        ends = time.monotonic() + deadline_seconds
        joined = [stack.enter_context(_join(rank, address, ends))] if rank else _gather(stack, world, address, ends)
        yield Collective(rank, joined)


def _gather(stack: contextlib.ExitStack, world: int, address: tuple[str, int], ends: float) -> list[socket.socket]:
    found: dict[int, socket.socket] = {}
    with socket.create_server(address, reuse_port=False) as server:
        while len(found) < world - 1:
            server.settimeout(max(0.01, ends - time.monotonic()))
            try:
                peer, _ = server.accept()
            except TimeoutError:
                missing = sorted(set(range(1, world)) - set(found))
                raise TimeoutError(f"ranks {missing} did not join in time") from None
            stack.enter_context(peer)
            found[_receive(peer)[0]] = peer
    return [found[rank] for rank in sorted(found)]


def _join(rank: int, address: tuple[str, int], ends: float) -> socket.socket:
    while True:
        try:
            peer = socket.create_connection(address, timeout=max(0.01, ends - time.monotonic()))
        except OSError:
            if time.monotonic() >= ends:
                raise TimeoutError(f"rank 0 did not answer at {address[0]}:{address[1]} in time") from None
            time.sleep(_RETRY_SECONDS)
            continue
        peer.settimeout(None)
        _send(peer, rank, b"")
        return peer


def _send(peer: socket.socket, rank: int, body: bytes) -> None:
    peer.sendall(_HEADER.pack(rank, len(body)) + body)


def _receive(peer: socket.socket) -> tuple[int, bytes]:
    rank, size = _HEADER.unpack(_exactly(peer, _HEADER.size))
    return rank, _exactly(peer, size)


def _exactly(peer: socket.socket, size: int) -> bytes:
    parts = bytearray()
    while len(parts) < size:
        chunk = peer.recv(size - len(parts))
        if not chunk:
            raise ConnectionError("a rank closed its connection")
        parts += chunk
    return bytes(parts)
