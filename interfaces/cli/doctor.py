"""`muster doctor`: is everything there that Muster needs, and what is to be done where it is not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import httpx
import typer

from core.json_value import JsonValue
from core.messages.message import Language, Message, message
from core.reasons import OpsError
from interfaces.bootstrap.embedded import embedded_processes
from interfaces.bootstrap.rows import open_rows
from interfaces.bootstrap.world import open_world
from interfaces.cli.output import JsonFlag, print_json, print_table
from interfaces.cli.texts import say
from interfaces.errors import ExitCode
from interfaces.settings import Profile, Settings, read_settings

app = typer.Typer()

_MODEL_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What one look found."""

    part: str
    is_sound: bool
    text: Message


@app.command(help=say("cli.help_doctor"))
def doctor(as_json: JsonFlag = False) -> None:
    settings = read_settings()
    looks: tuple[tuple[str, Callable[[Settings], Message]], ...] = (
        ("settings", _settings),
        ("database", _database),
        ("audit", _audit),
        ("aws", _aws),
        ("model", _model),
    )
    findings = [_look(part, look, settings) for part, look in looks]
    _print(findings, settings.language, as_json=as_json)
    if not all(finding.is_sound for finding in findings):
        raise typer.Exit(int(ExitCode.DOES_NOT_HOLD))


def _look(part: str, look: Callable[[Settings], Message], settings: Settings) -> Finding:
    try:
        return Finding(part=part, is_sound=True, text=look(settings))
    except OpsError as error:
        return Finding(part=part, is_sound=False, text=error.message)


def _settings(settings: Settings) -> Message:
    principal = settings.principal
    return message(
        "cli.doctor_settings",
        profile=settings.profile.value,
        home=str(settings.home),
        region=settings.region,
        user=principal.id,
        role=principal.role.value,
    )


def _database(settings: Settings) -> Message:
    rows = open_rows(settings)
    faults = rows.check()
    if faults:
        raise _Unsound(message("cli.doctor_database_damaged", why="; ".join(faults)))
    return message("cli.doctor_database", runs=len(rows.list_runs(limit=1000)))


def _audit(settings: Settings) -> Message:
    rows = open_rows(settings)
    heads = rows.list_chain_heads()
    for head in heads:
        if (fault := rows.verify_audit(head.subject)) is not None:
            raise _Unsound(
                message("cli.audit_fault", subject=fault.subject, sequence=fault.sequence, why=str(fault.why))
            )
    return message("cli.audit_verified", subjects=len(heads), faults=0)


def _aws(settings: Settings) -> Message:
    with open_world(settings) as world:
        key = "cli.doctor_twin" if world.clients.aws.is_local else "cli.doctor_aws"
        return message(key, account=world.clients.aws.account, region=world.region)


def _model(settings: Settings) -> Message:
    if settings.model_url is not None:
        return _reach(settings.model_url)
    if settings.profile is Profile.PRODUCTION:
        raise _Unsound(message("cli.model_unset"))
    with embedded_processes(settings) as processes:
        return _reach(processes.planner.endpoint)


def _reach(address: str) -> Message:
    """Any answer will do: what the server says to a request without a key is its own affair."""
    try:
        httpx.get(address, timeout=_MODEL_SECONDS, trust_env=False)
    except httpx.HTTPError as error:
        why = str(error) or type(error).__name__
        raise _Unsound(message("cli.doctor_model_down", address=address, why=why)) from error
    return message("cli.doctor_model", address=address)


class _Unsound(OpsError):
    """A finding that is no exception anywhere else."""


def _print(findings: list[Finding], language: Language, *, as_json: bool) -> None:
    if as_json:
        shown: list[JsonValue] = [
            {"part": finding.part, "is_sound": finding.is_sound, "text": finding.text.render(language)}
            for finding in findings
        ]
        print_json({"findings": shown, "is_sound": all(finding.is_sound for finding in findings)})
        return
    print_table(
        [say(f"cli.column_{name}") for name in ("part", "status", "finding")],
        [
            [
                finding.part,
                say("cli.doctor_sound") if finding.is_sound else say("cli.doctor_unsound"),
                finding.text.render(language),
            ]
            for finding in findings
        ],
        empty="",
    )
