"""`muster audit`: the append-only record of every status change, and the proof that nobody touched it."""

from __future__ import annotations

from typing import Annotated

import typer

from core.json_value import JsonValue
from interfaces.cli.output import JsonFlag, moment, print_json, print_table, to_json
from interfaces.cli.terminal import open_terminal
from interfaces.cli.texts import say
from interfaces.errors import ExitCode

app = typer.Typer(help=say("cli.help_audit"), epilog=say("cli.example_audit"), no_args_is_help=True)


@app.command("show", help=say("cli.help_audit_show"))
def show_audit(
    subject: Annotated[str, typer.Argument(metavar="ID", help=say("cli.argument_subject"))], as_json: JsonFlag = False
) -> None:
    terminal = open_terminal()
    events = terminal.rows.list_audit(subject)
    if as_json:
        print_json({"audit": [to_json(event, terminal.language) for event in events]})
        return
    print_table(
        [say(f"cli.column_{name}") for name in ("number", "at", "change", "actor", "channel", "why")],
        [
            [
                str(event.sequence),
                moment(event.at),
                f"{event.what}: {event.before or '-'} -> {event.after}",
                event.actor.id,
                event.actor.channel.value,
                event.reason.render(terminal.language) if event.reason else "",
            ]
            for event in events
        ],
        empty=say("cli.no_audit"),
    )


@app.command("verify", help=say("cli.help_audit_verify"))
def verify_audit(
    subject: Annotated[str | None, typer.Argument(metavar="[ID]", help=say("cli.argument_subject"))] = None,
    as_json: JsonFlag = False,
) -> None:
    rows = open_terminal().rows
    subjects = [subject] if subject else [head.subject for head in rows.list_chain_heads()]
    faults = [fault for item in subjects if (fault := rows.verify_audit(item)) is not None]
    if as_json:
        shown: list[JsonValue] = [
            {"subject": fault.subject, "sequence": fault.sequence, "why": fault.why} for fault in faults
        ]
        print_json({"subjects": len(subjects), "faults": shown})
    else:
        for fault in faults:
            print(say("cli.audit_fault", subject=fault.subject, sequence=fault.sequence, why=fault.why))
        print(say("cli.audit_verified", subjects=len(subjects), faults=len(faults)))
    if faults:
        raise typer.Exit(int(ExitCode.DOES_NOT_HOLD))
