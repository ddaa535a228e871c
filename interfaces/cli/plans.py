"""`muster plans`: what was proposed, by whom, and what became of it."""

from __future__ import annotations

from typing import Annotated

import typer

from core.ids import ConversationId, PlanId
from interfaces.cli.output import JsonFlag, LimitOption, moment, print_fields, print_json, print_table, to_json
from interfaces.cli.terminal import open_terminal
from interfaces.cli.texts import say

app = typer.Typer(help=say("cli.help_plans"), epilog=say("cli.example_plans"), no_args_is_help=True)


@app.command("list", help=say("cli.help_plans_list"))
def list_plans(
    conversation: Annotated[str | None, typer.Option("--conversation", help=say("cli.option_conversation"))] = None,
    limit: LimitOption = 50,
    as_json: JsonFlag = False,
) -> None:
    terminal = open_terminal()
    plans = terminal.rows.list_plans(
        conversation_id=ConversationId(conversation) if conversation else None, limit=limit
    )
    if as_json:
        print_json({"plans": [to_json(plan, terminal.language) for plan in plans]})
        return
    print_table(
        [say(f"cli.column_{name}") for name in ("plan", "status", "requested_by", "began", "operations")],
        [
            [
                plan.id,
                plan.status.value,
                plan.requested_by.id,
                moment(plan.created_at),
                ", ".join(node.operation for node in plan.nodes),
            ]
            for plan in plans
        ],
        empty=say("cli.no_plans"),
    )


@app.command("show", help=say("cli.help_plans_show"))
def show_plan(
    plan: Annotated[str, typer.Argument(metavar="PLAN", help=say("cli.argument_plan"))], as_json: JsonFlag = False
) -> None:
    terminal = open_terminal()
    found = terminal.rows.get_plan(PlanId(plan))
    questions = terminal.rows.list_questions(plan_id=found.id)
    runs = terminal.rows.list_runs(plan_id=found.id)
    if as_json:
        print_json(
            {
                "plan": to_json(found, terminal.language),
                "questions": [to_json(question, terminal.language) for question in questions],
                "runs": [to_json(run, terminal.language) for run in runs],
            }
        )
        return
    print_fields(
        [
            (say("cli.column_plan"), found.id),
            (say("cli.column_status"), found.status.value),
            (say("cli.column_requested_by"), found.requested_by.id),
            (say("cli.column_began"), moment(found.created_at)),
            *((say("cli.column_run"), f"{run.id}  {run.workflow}  {run.status.value}") for run in runs),
        ]
    )
    for question in questions:
        print()
        print(question.prompt.render(terminal.language))
        for line in question.details:
            print(f"  {line.render(terminal.language)}")
