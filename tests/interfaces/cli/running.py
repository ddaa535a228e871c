"""Runs the console script as a person would: a process of its own, in a home of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

SCRIPT = Path(sys.executable).with_name("muster")


@dataclass(frozen=True, slots=True)
class Finished:
    code: int
    out: str
    err: str


def muster(*arguments: str, home: Path, **variables: str) -> Finished:
    """Nothing of this process's environment reaches it but PATH."""
    result = subprocess.run(
        [str(SCRIPT), *arguments],
        env=environment(home) | variables,
        cwd=home,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    return Finished(result.returncode, result.stdout, result.stderr)


def environment(home: Path) -> dict[str, str]:
    return {"MUSTER_HOME": str(home), "HOME": str(home), "PATH": os.defpath, "LANG": "C.UTF-8", "USER": "ann"}
