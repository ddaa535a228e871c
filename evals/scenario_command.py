"""`muster eval scenarios`: plays scenarios against the twin and scores what became of them."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from core.reasons import OpsError
from evals.reporting import JsonOption, finish
from evals.scenario_format import Scenario
from evals.scenario_loading import SHIPPED, ScenarioInvalid, load_scenarios
from evals.scenario_player import play
from evals.scenario_record import Played
from evals.scenario_report import as_json as report_json
from evals.scenario_report import figure_line, figures, table
from evals.scenario_scoring import Verdict, judge
from evals.scenario_stage import Stage, StageBroken, open_stage
from evals.scenario_twin import TwinRefused
from interfaces.settings import Profile, Settings, read_settings

_UNUSABLE = 2

DirOption = Annotated[Path, typer.Option("--dir", help="Folder of scenario files.")]
ModelOption = Annotated[
    str | None, typer.Option("--model", help="Model name at MUSTER_MODEL_URL; the offline planner without one.")
]
SeedsOption = Annotated[int, typer.Option("--k", min=1, max=64, help="Play each scenario with seeds 0 to K-1.")]
OnlyOption = Annotated[list[str] | None, typer.Option("--only", help="Ids or tags to play; a short run never passes.")]
KeepOption = Annotated[Path | None, typer.Option("--keep", help="Keep databases and logs in this folder.")]


def scenarios(
    dir: DirOption = SHIPPED,
    model: ModelOption = None,
    k: SeedsOption = 1,
    as_json: JsonOption = False,
    only: OnlyOption = None,
    keep: KeepOption = None,
) -> None:
    """Play scenarios end to end and score them on the twin's state, its request log and the questions asked."""
    try:
        found = load_scenarios(dir)
        settings = _settings(model)
    except (ScenarioInvalid, StageBroken) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(_UNUSABLE) from None
    chosen = [scenario for scenario in found if not only or scenario.id in only or {*scenario.tags} & {*only}]
    if not chosen:
        typer.echo(f"none of {len(found)} scenarios is called or tagged {', '.join(only or [])}", err=True)
        raise typer.Exit(_UNUSABLE)
    try:
        verdicts = _play_all(chosen, settings, k, keep)
    except StageBroken as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(5) from None
    is_short = len(chosen) < len(found)
    lines = table(verdicts) + [f"only {len(chosen)} of {len(found)} scenarios were played"] * is_short
    finish(
        report_json(verdicts, k),
        lines=lines,
        figure=figure_line(figures(verdicts), k),
        holds=all(verdict.passes for verdict in verdicts) and len(verdicts) == len(found) * k,
        as_json=as_json,
    )


def _settings(model: str | None) -> Settings:
    settings = read_settings(profile=Profile.EMBEDDED.value)
    if model is None:
        return settings.model_copy(update={"model_url": None, "model_name": None})
    if settings.model_url is None:
        raise StageBroken("--model needs MUSTER_MODEL_URL, the server that has the model")
    return settings.model_copy(update={"model_name": model})


def _play_all(chosen: Sequence[Scenario], settings: Settings, seeds: int, keep: Path | None) -> list[Verdict]:
    verdicts: list[Verdict] = []
    with _folder(keep) as folder, open_stage(settings, folder) as stage:
        for scenario in chosen:
            for seed in range(seeds):
                verdict = judge(_play(stage, scenario, seed))
                verdicts.append(verdict)
                why = "" if verdict.passes else f": {verdict.reasons[0][:200]}"
                mark = "pass" if verdict.passes else "FAIL"
                sys.stderr.write(f"{mark} {scenario.id} seed {seed} ({verdict.played.seconds:.1f} s){why}\n")
    return verdicts


def _play(stage: Stage, scenario: Scenario, seed: int) -> Played:
    """A world that the twin does not take fails its scenario, not the others."""
    try:
        with stage.scene(scenario, seed) as scene:
            return play(scene)
    except (OpsError, TwinRefused) as error:
        return Played(
            scenario=scenario, seed=seed, heard=(), questions=(), answers={}, runs=(), effects={}, live={}, tokens=0,
            seconds=0.0, twin_seconds=0.0, trouble=str(error),
        )  # fmt: skip


@contextmanager
def _folder(keep: Path | None) -> Iterator[Path]:
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        yield keep.resolve()
        return
    with tempfile.TemporaryDirectory(prefix="muster-scenarios-") as folder:
        yield Path(folder)
