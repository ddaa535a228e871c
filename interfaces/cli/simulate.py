"""`muster simulate`: a recorded or planned workload on a cluster of a given size under a sharing policy."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from core.json_value import JsonValue
from core.messages.message import message
from core.reasons import InputRefused, RefusalReason
from core.scheduling.errors import WorldField, world_invalid
from core.scheduling.replay import Figures, Policy, figures, gpus_for_load, jobs_for, team_shares, world_for
from core.scheduling.simulation import SimulationSettings, simulate
from core.scheduling.traces import Columns, Trace, read_trace
from interfaces.cli.output import JsonFlag, print_fields, print_json
from interfaces.cli.simulation_plot import plot
from interfaces.cli.texts import say

app = typer.Typer()


class PolicyFile(BaseModel):
    """The file behind `--policy`: how large the cluster is and how it is shared."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    sharing: Policy = Policy.IDLE_SHARING
    gpus: int | None = Field(default=None, ge=1)
    """Size of the cluster; absent = the size at which the trace offers `load`."""
    load: float = Field(default=1.0, gt=0)
    teams: dict[str, int] | None = None
    """GPUs that each team owns; absent = in proportion to its work in the trace."""
    checkpoint_every_s: float = Field(default=1800.0, gt=0)
    speed_up: float = Field(default=1.0, ge=0, le=1)
    tick_s: float = Field(default=0.0, ge=0)


@app.command(help=say("cli.help_simulate"))
def simulate_trace(
    trace: Annotated[Path, typer.Option("--trace", exists=True, dir_okay=False, help=say("cli.option_trace"))],
    policy: Annotated[Path, typer.Option("--policy", exists=True, dir_okay=False, help=say("cli.option_policy"))],
    columns: Annotated[str, typer.Option("--columns", help=say("cli.option_columns"))] = "",
    plot_to: Annotated[Path | None, typer.Option("--plot", dir_okay=False, help=say("cli.option_plot"))] = None,
    as_json: JsonFlag = False,
) -> None:
    rules = _read_policy(policy)
    with trace.open(encoding="utf-8-sig", newline="") as lines:
        jobs = read_trace(lines, _columns(columns))
    gpus = rules.gpus or gpus_for_load(jobs, rules.load)
    shares = rules.teams or team_shares(jobs, gpus)
    _require_teams(jobs, shares)
    settings = SimulationSettings(
        checkpoint_every_s=rules.checkpoint_every_s, speed_up=rules.speed_up, tick_s=rules.tick_s
    )
    result = simulate(
        world_for(rules.sharing, shares, gpus), jobs_for(rules.sharing, jobs), settings, samples=plot_to is not None
    )
    found = figures(jobs, result, gpus)
    loops = sorted({loop.message().english() for loop in result.loops[:100]})
    if plot_to is not None:
        plot_to.write_text(plot(result.samples, gpus), encoding="utf-8")
    if as_json:
        print_json(_as_json(found, rules.sharing, gpus, jobs.left_out, loops))
    else:
        print_fields(_fields(found, rules.sharing, gpus, jobs.left_out))


def _as_json(
    found: Figures, sharing: Policy, gpus: int, left_out: Mapping[str, int], loops: Iterable[str]
) -> dict[str, JsonValue]:
    return {
        "policy": sharing.value,
        "gpus": gpus,
        **{name: round(value, 4) for name, value in asdict(found).items()},
        "left_out": dict(left_out),
        "loop_findings": list(loops),
    }


def _fields(found: Figures, sharing: Policy, gpus: int, left_out: Mapping[str, int]) -> list[tuple[str, str]]:
    rows = [("policy", sharing.value), ("gpus", str(gpus))]
    rows += [
        (name, f"{value:.4g}" if isinstance(value, float) else str(value)) for name, value in asdict(found).items()
    ]
    return rows + [("left_out", f"{count} ({why})") for why, count in left_out.items()]


def _read_policy(path: Path) -> PolicyFile:
    try:
        return PolicyFile.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")) or {})
    except (yaml.YAMLError, ValidationError, UnicodeDecodeError) as error:
        why = " ".join(str(error).split())
        raise InputRefused(
            RefusalReason.PARAMETER_INVALID, message("scheduling.file_unusable", path=str(path), why=why)
        ) from error


def _columns(text: str) -> Columns | None:
    """`submit=when,duration=took,gpus=cards,team=who`."""
    if not text:
        return None
    pairs = dict(part.split("=", 1) for part in text.split(",") if "=" in part)
    missing = [name for name in ("submit", "duration", "gpus") if name not in pairs]
    unknown = sorted(pairs.keys() - {"submit", "duration", "gpus", "team", "name"})
    if missing or unknown:
        raise world_invalid(
            WorldField.TRACE_COLUMN_MISSING,
            column=", ".join(missing or unknown),
            columns="submit, duration, gpus, team, name",
        )
    return Columns(
        submit=pairs["submit"],
        duration=pairs["duration"],
        gpus=pairs["gpus"],
        team=pairs.get("team"),
        name=pairs.get("name"),
    )


def _require_teams(trace: Trace, shares: Mapping[str, int]) -> None:
    """A job of a team without a queue would be refused in the middle of the run."""
    for job in trace.jobs:
        if job.team not in shares:
            raise world_invalid(WorldField.QUEUE_UNKNOWN, name=job.uid, queue=job.team)
