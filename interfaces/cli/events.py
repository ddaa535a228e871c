"""`muster events`: the feed of what happened, oldest first, by cursor."""

from __future__ import annotations

from typing import Annotated

import typer

from core.ids import ConversationId, RunId
from interfaces.cli.output import JsonFlag, LimitOption, moment, print_json, print_table, to_json
from interfaces.cli.terminal import open_terminal
from interfaces.cli.texts import say

app = typer.Typer(help=say("cli.help_events"), epilog=say("cli.example_events"))


@app.command(help=say("cli.help_events"), epilog=say("cli.example_events"))
def events(
    run: Annotated[str | None, typer.Option("--run", help=say("cli.option_run"))] = None,
    conversation: Annotated[str | None, typer.Option("--conversation", help=say("cli.option_conversation"))] = None,
    after: Annotated[int, typer.Option("--after", min=0, help=say("cli.option_after"))] = 0,
    limit: LimitOption = 200,
    as_json: JsonFlag = False,
) -> None:
    terminal = open_terminal()
    entries = terminal.rows.list_feed(
        after=after,
        conversation_id=ConversationId(conversation) if conversation else None,
        run_id=RunId(run) if run else None,
        limit=limit,
    )
    if as_json:
        cursor = entries[-1].sequence if entries else after
        print_json({"events": [to_json(entry, terminal.language) for entry in entries], "next_after": cursor})
        return
    print_table(
        [say(f"cli.column_{name}") for name in ("number", "at", "kind", "run", "text")],
        [
            [
                str(entry.sequence),
                moment(entry.at),
                entry.kind.value,
                entry.run_id or "-",
                entry.message.render(terminal.language),
            ]
            for entry in entries
        ],
        empty=say("cli.no_events"),
    )
