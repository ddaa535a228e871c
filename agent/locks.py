"""One turn at a time per conversation, over all processes of this machine.

LangGraph lets two inputs run on one thread and loses one of them silently. A file lock is given back by the
kernel when its holder is killed, so nothing has to expire.
"""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from core.ids import ConversationId
from core.json_value import digest


@contextmanager
def turn_lock(folder: Path, conversation_id: ConversationId) -> Iterator[bool]:
    """Yields whether this turn may go on; `False` when another one of the conversation is under way."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{digest(conversation_id)[:24]}.lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
            return
        yield True
