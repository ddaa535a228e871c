"""`muster runs`: look at runs, and pause, resume, retry or cancel one."""

from __future__ import annotations

from typing import Annotated, Protocol

import typer

from core.governance.principals import Principal
from core.ids import ClusterName, ConversationId, RunId
from core.json_value import JsonValue
from core.messages.message import Language
from interfaces.bootstrap.embedded import start_supervisor
from interfaces.cli.output import JsonFlag, LimitOption, moment, print_fields, print_json, print_table, to_json
from interfaces.cli.terminal import Terminal, open_terminal
from interfaces.cli.texts import say
from interfaces.settings import Profile
from state.records import Run, RunStatus
from state.repository import Repository

app = typer.Typer(help=say("cli.help_runs"), epilog=say("cli.example_runs"), no_args_is_help=True)

RunArgument = Annotated[str, typer.Argument(metavar="RUN", help=say("cli.argument_run"))]


@app.command("list", help=say("cli.help_runs_list"))
def list_runs(
    status: Annotated[RunStatus | None, typer.Option("--status", help=say("cli.option_status"))] = None,
    cluster: Annotated[str | None, typer.Option("--cluster", help=say("cli.option_cluster"))] = None,
    conversation: Annotated[str | None, typer.Option("--conversation", help=say("cli.option_conversation"))] = None,
    limit: LimitOption = 50,
    as_json: JsonFlag = False,
) -> None:
    terminal = open_terminal()
    runs = terminal.rows.list_runs(
        status=status,
        cluster=ClusterName(cluster) if cluster else None,
        conversation_id=ConversationId(conversation) if conversation else None,
        limit=limit,
    )
    if as_json:
        print_json({"runs": [to_json(run, terminal.language) for run in runs]})
        return
    print_table(
        [say(f"cli.column_{name}") for name in ("run", "workflow", "cluster", "status", "step", "since", "why")],
        [_row(run, terminal.language) for run in runs],
        empty=say("cli.no_runs"),
    )


@app.command("show", help=say("cli.help_runs_show"))
def show_run(run: RunArgument, as_json: JsonFlag = False) -> None:
    terminal = open_terminal()
    found = terminal.rows.get_run(RunId(run))
    steps, effects = terminal.rows.list_steps(found.id), terminal.rows.list_effects(found.id)
    if as_json:
        body: dict[str, JsonValue] = {"run": to_json(found, terminal.language)}
        body["steps"] = [to_json(step, terminal.language) for step in steps]
        body["effects"] = [to_json(effect, terminal.language) for effect in effects]
        print_json(body)
        return
    _print_run(found, terminal)
    print()
    print_table(
        [say(f"cli.column_{name}") for name in ("step", "status", "attempts", "began", "ended", "progress")],
        [
            [
                step.name,
                step.status.value,
                str(step.attempts),
                moment(step.started_at),
                moment(step.ended_at),
                step.progress.render(terminal.language) if step.progress else "",
            ]
            for step in steps
        ],
        empty=say("cli.no_steps"),
    )
    if effects:
        print()
        print_table(
            [say(f"cli.column_{name}") for name in ("tool", "step", "effect", "intended")],
            [[effect.tool, effect.step, effect.status.value, moment(effect.intended_at)] for effect in effects],
            empty="",
        )


@app.command("pause", help=say("cli.help_runs_pause"))
def pause_run(run: RunArgument, as_json: JsonFlag = False) -> None:
    _control(Repository.pause_run, run, as_json)


@app.command("resume", help=say("cli.help_runs_resume"))
def resume_run(run: RunArgument, as_json: JsonFlag = False) -> None:
    _control(Repository.resume_run, run, as_json)


@app.command("retry", help=say("cli.help_runs_retry"))
def retry_run(run: RunArgument, as_json: JsonFlag = False) -> None:
    _control(Repository.retry_run, run, as_json)


@app.command("cancel", help=say("cli.help_runs_cancel"))
def cancel_run(run: RunArgument, as_json: JsonFlag = False) -> None:
    _control(Repository.cancel_run, run, as_json)


class _Change(Protocol):
    def __call__(self, rows: Repository, run_id: RunId, /, *, actor: Principal) -> Run: ...


def _control(change: _Change, run: str, as_json: bool) -> None:
    terminal = open_terminal()
    changed = change(terminal.rows, RunId(run), actor=terminal.principal)
    goes_on = not changed.status.is_finished and changed.status is not RunStatus.PAUSED
    if terminal.settings.profile is Profile.EMBEDDED and goes_on:
        start_supervisor(terminal.settings)  # a run that goes on needs its worker, whoever is watching
    if as_json:
        print_json({"run": to_json(changed, terminal.language)})
    elif changed.stop_requested is not None:
        print(say("cli.run_will_stop", run=changed.id, status=changed.stop_requested.value))
    else:
        print(say("cli.run_now", run=changed.id, status=changed.status.value))
        if changed.reason:
            print(changed.reason.render(terminal.language))


def _row(run: Run, language: Language) -> list[str]:
    why = run.reason.render(language) if run.reason else ""
    return [run.id, run.workflow, run.cluster or "-", run.status.value, run.step or "-", moment(run.updated_at), why]


def _print_run(run: Run, terminal: Terminal) -> None:
    language = terminal.language
    fields = [
        (say("cli.column_run"), run.id),
        (say("cli.column_workflow"), f"{run.workflow} v{run.workflow_version}"),
        (say("cli.column_cluster"), run.cluster or "-"),
        (say("cli.column_status"), run.status.value),
        (say("cli.column_requested_by"), run.requested_by.id),
        (say("cli.column_began"), moment(run.created_at)),
    ]
    if run.reason:
        fields.append((say("cli.column_why"), run.reason.render(language)))
    if run.waiting_for:
        fields.append((say("cli.column_question"), run.waiting_for))
    if run.failure:
        fields.append((say("cli.column_failure"), run.failure.message.render(language)))
        fields.append((say("cli.column_failure_class"), say(f"general.failure_{run.failure.failure_class.value}")))
        fields += [(say("cli.column_evidence"), item) for item in run.failure.evidence]
        allowed = ", ".join(action.value for action in run.failure.next_actions)
        fields.append((say("cli.column_next_actions"), allowed or "-"))
    print_fields(fields)
