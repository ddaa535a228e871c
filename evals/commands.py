"""The measuring commands: `muster eval ...` and `muster bench ...`."""

from __future__ import annotations

import typer

from evals import parity
from evals.bench_logs import logs
from evals.bench_replay import replay
from evals.bench_scheduling import scheduling
from evals.crash import crash
from evals.detectors import detectors
from evals.diagnose import diagnose
from evals.effects import effects
from evals.goodput import goodput
from evals.rogue import rogue
from evals.scenario_command import scenarios

eval_app = typer.Typer(help="Measure correctness.", no_args_is_help=True)
bench_app = typer.Typer(help="Measure speed and size against a baseline of the same run.", no_args_is_help=True)


@eval_app.callback()
@bench_app.callback()
def _group() -> None:
    """Keeps the commands' names even while there is only one of them."""


eval_app.command("crash")(crash)
eval_app.command("effects")(effects)
eval_app.command("parity")(parity.parity)
eval_app.command("detectors")(detectors)
eval_app.command("diagnose")(diagnose)
eval_app.command("goodput")(goodput)
eval_app.command("scenarios")(scenarios)
eval_app.command("rogue")(rogue)
bench_app.command("logs")(logs)
bench_app.command("scheduling")(scheduling)
bench_app.command("replay")(replay)
