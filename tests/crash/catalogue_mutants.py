"""Plays create_cluster with a worker killed right after a call, once per ledger; prints what each play did wrong.

Run as `python -m tests.crash.catalogue_mutants`: it forks, which a process with threads must not.
"""

from __future__ import annotations

import json
import sys

from evals.crash import compare
from evals.crash_cases import CASES
from evals.crash_play import Disturbance, Stage
from evals.crash_twin import running_twin
from tests.crash.toy import BlindRetryLedger, BypassedLedger, access_with
from tools.idempotency import EffectLedger

LEDGERS = (EffectLedger, BypassedLedger, BlindRetryLedger)
EVENT = "after ec2:CreateVpc"


def main() -> None:
    found = {}
    case = CASES[0]
    with running_twin() as (control, folder):
        stage = Stage(control, folder)
        undisturbed, _ = stage.undisturbed(case)
        for ledger in LEDGERS:
            # A ledger without intents commits less often: its own undisturbed events tell where to kill it.
            number = list(stage.undisturbed(case, access=access_with(ledger))[1]).index(EVENT) + 1
            ending = stage.play(case, [Disturbance(dies_at=number)], access=access_with(ledger))
            verdict = compare(ledger.__name__, undisturbed, ending)
            found[ledger.__name__] = {"kills": verdict.kills, "duplicated": dict(verdict.duplicated)}
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
