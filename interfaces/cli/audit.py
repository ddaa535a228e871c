"""`muster audit`: the append-only record of every status change, and the proof that nobody touched it."""

from __future__ import annotations

from typing import Annotated

import typer

from core.ids import RunId
from core.json_value import JsonValue
from interfaces.bootstrap.home import Home
from interfaces.bootstrap.seals import seal_audit
from interfaces.bootstrap.seals import verify_audit as verify_audit_of
from interfaces.cli.output import JsonFlag, moment, print_json, print_table, to_json
from interfaces.cli.terminal import open_terminal
from interfaces.cli.texts import say
from interfaces.errors import ExitCode

app = typer.Typer(help=say("cli.help_audit"), epilog=say("cli.example_audit"), no_args_is_help=True)


@app.command("show", help=say("cli.help_audit_show"))
def show_audit(
    subject: Annotated[str | None, typer.Argument(metavar="[ID]", help=say("cli.argument_subject"))] = None,
    run: Annotated[str | None, typer.Option("--run", help=say("cli.argument_run"))] = None,
    as_json: JsonFlag = False,
) -> None:
    terminal = open_terminal()
    wanted = subject or (terminal.rows.get_run(RunId(run)).id if run else None)
    if wanted is None:
        raise typer.BadParameter(say("cli.audit_of_what"))
    events = terminal.rows.list_audit(wanted)
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
    terminal = open_terminal()
    home = Home(terminal.settings.home)
    looked_at, faults = verify_audit_of(home, terminal.rows, subject)
    if not faults:
        seal_audit(home, terminal.rows)  # what was just found whole is the best moment to note
    if as_json:
        shown: list[JsonValue] = [
            {"subject": fault.subject, "sequence": fault.sequence, "why": fault.why} for fault in faults
        ]
        print_json({"subjects": looked_at, "faults": shown})
    else:
        for fault in faults:
            print(say("cli.audit_fault", subject=fault.subject, sequence=fault.sequence, why=fault.why))
        print(say("cli.audit_verified", subjects=looked_at, faults=len(faults)))
    if faults:
        raise typer.Exit(int(ExitCode.DOES_NOT_HOLD))
