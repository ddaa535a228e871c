"""`muster questions`: what waits for a human, and answering it."""

from __future__ import annotations

from typing import Annotated

import typer

from core.ids import ConversationId, QuestionId, RunId
from core.messages.message import message
from core.reasons import InputRefused, RefusalReason
from interfaces.answers import not_an_option, read_reply
from interfaces.bootstrap.embedded import start_supervisor
from interfaces.cli.output import JsonFlag, moment, print_json, print_table, to_json, visible
from interfaces.cli.terminal import open_terminal
from interfaces.cli.texts import say
from interfaces.questions import question_lines
from interfaces.settings import Profile
from state.records import Question, QuestionStatus

app = typer.Typer(help=say("cli.help_questions"), epilog=say("cli.example_questions"), no_args_is_help=True)

QuestionArgument = Annotated[str, typer.Argument(metavar="QUESTION[@VERSION]", help=say("cli.argument_question"))]


@app.command("list", help=say("cli.help_questions_list"))
def list_questions(
    every: Annotated[bool, typer.Option("--all", help=say("cli.option_all_questions"))] = False,
    conversation: Annotated[str | None, typer.Option("--conversation", help=say("cli.option_conversation"))] = None,
    run: Annotated[str | None, typer.Option("--run", help=say("cli.option_run"))] = None,
    as_json: JsonFlag = False,
) -> None:
    terminal = open_terminal()
    questions = terminal.rows.list_questions(
        status=None if every else QuestionStatus.OPEN,
        conversation_id=ConversationId(conversation) if conversation else None,
        run_id=RunId(run) if run else None,
    )
    if as_json:
        print_json({"questions": [to_json(question, terminal.language) for question in questions]})
        return
    print_table(
        [say(f"cli.column_{name}") for name in ("question", "status", "kind", "asked", "run", "text")],
        [
            [
                handle(question),
                question.status.value,
                question.kind.value,
                moment(question.asked_at),
                question.run_id or "-",
                question.prompt.render(terminal.language),
            ]
            for question in questions
        ],
        empty=say("cli.no_questions"),
    )


@app.command("show", help=say("cli.help_questions_show"))
def show_question(question: QuestionArgument, as_json: JsonFlag = False) -> None:
    terminal = open_terminal()
    found = terminal.rows.get_question(_split(question)[0])
    if as_json:
        print_json({"question": to_json(found, terminal.language)})
        return
    print(f"{handle(found)}  {found.status.value}")
    for line in question_lines(found, terminal.language):
        print(visible(line))


@app.command("answer", help=say("cli.help_questions_answer"))
def answer_question(
    question: QuestionArgument,
    answer: Annotated[str, typer.Argument(metavar="ANSWER", help=say("cli.argument_answer"))],
    as_json: JsonFlag = False,
) -> None:
    terminal = open_terminal()
    question_id, version = _split(question)
    found = terminal.rows.get_question(question_id)
    if version is None and found.options_version > 1 and answer.strip().isdecimal():
        raise InputRefused(
            RefusalReason.ANSWER_STALE,
            message("cli.number_needs_version", question=handle(found), version=found.options_version),
        )
    reply = read_reply(found, answer)
    if reply is None:
        raise not_an_option(found, answer)
    answered = terminal.rows.answer_question(
        found.id,
        options_version=found.options_version if version is None else version,
        principal=terminal.principal,
        option_id=reply.option_id,
        value=reply.value,
    )
    if terminal.settings.profile is Profile.EMBEDDED:
        start_supervisor(terminal.settings)  # what the answer sets going needs its worker, whoever is watching
    if as_json:
        print_json({"question": to_json(answered, terminal.language)})
        return
    print(say("cli.answered", question=answered.id))
    if answered.run_id is None and answered.conversation_id is not None:
        print(say("cli.goes_on_in_chat", conversation=answered.conversation_id))


def handle(question: Question) -> str:
    """The id with the version of its options: an answer "1" belongs to one list."""
    return f"{question.id}@{question.options_version}"


def _split(text: str) -> tuple[QuestionId, int | None]:
    question_id, at, version = text.partition("@")
    if at and not version.isdecimal():
        raise InputRefused(RefusalReason.PARAMETER_INVALID, message("cli.bad_handle", handle=text[:80]))
    return QuestionId(question_id), int(version) if at else None
