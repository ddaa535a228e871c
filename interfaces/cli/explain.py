"""`muster explain`: why a job waits in a snapshot of a cluster, and what would admit it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from pydantic import TypeAdapter, ValidationError

from core.json_value import JsonValue
from core.messages.message import message
from core.reasons import InputRefused, RefusalReason
from core.scheduling.explain import Explanation, explain
from core.scheduling.remedies import Remedy
from core.scheduling.scheduler import Scheduler
from core.scheduling.world import World
from interfaces.cli.output import JsonFlag, print_json
from interfaces.cli.texts import LANGUAGE, say

app = typer.Typer()

_WORLD: TypeAdapter[World] = TypeAdapter(World)
"""A snapshot file is a `World` as JSON: its fields are the file's."""


@app.command(help=say("cli.help_explain"))
def explain_job(
    job: Annotated[str, typer.Argument(help=say("cli.argument_waiting_job"))],
    snapshot: Annotated[Path, typer.Option("--snapshot", exists=True, dir_okay=False, help=say("cli.option_snapshot"))],
    as_json: JsonFlag = False,
) -> None:
    scheduler = Scheduler(_read(snapshot))
    found = explain(scheduler, job)
    if found is None:
        key = "scheduling.job_running" if job in scheduler.snapshot.holders else "scheduling.job_unknown"
        raise InputRefused(RefusalReason.NAME_UNKNOWN, message(key, workload=job))
    if as_json:
        print_json(_as_json(found))
        return
    if found.refusal is None:
        typer.echo(message("scheduling.job_starts", workload=job).render(LANGUAGE))
    for text in found.messages():
        typer.echo(text.render(LANGUAGE))


def _as_json(found: Explanation) -> dict[str, JsonValue]:
    refusal = found.refusal
    return {
        "workload": found.workload.uid,
        "queue": found.workload.queue,
        "reason": None if refusal is None else refusal.reason.value,
        "sentences": [text.render(LANGUAGE) for text in found.messages()],
        "ahead": list(found.ahead),
        "remedies": [_remedy(remedy) for remedy in found.remedies],
    }


def _remedy(remedy: Remedy) -> JsonValue:
    return {
        "kind": remedy.kind.value,
        "quota_raises": [
            {"flavor": pair.flavor, "resource": pair.resource, "amount": amount}
            for pair, amount in sorted(remedy.quota_raises.items())
        ],
        "leaving": list(remedy.leaving),
        "counts": dict(remedy.counts),
        "text": remedy.message().render(LANGUAGE),
    }


def _read(path: Path) -> World:
    try:
        return _WORLD.validate_json(path.read_bytes())
    except ValidationError as error:
        why = " ".join(str(error).split())[:300]
        raise InputRefused(
            RefusalReason.PARAMETER_INVALID, message("scheduling.file_unusable", path=str(path), why=why)
        ) from error
