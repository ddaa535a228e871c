"""The edge of the command line: one sentence that says who must act, and an exit code. Never a traceback."""

from __future__ import annotations

import json
import sys
import traceback
from pathlib import Path

import typer

from core.json_value import JsonValue
from core.messages.message import Language, message
from core.reasons import OpsError, WhoActs
from interfaces.cli.texts import LANGUAGE, say
from interfaces.errors import ExitCode, error_json, exit_code
from interfaces.settings import read_settings


def report(error: BaseException, *, wants_json: bool) -> int:
    """Print the error for a person (stderr) or a program (stdout) and return the exit code."""
    code, body, sentence = _explain(error)
    if wants_json and body is not None:
        print(json.dumps(body, ensure_ascii=False))
    elif sentence:
        print(sentence, file=sys.stderr)
    return int(code)


def sentence_of(error: OpsError, language: Language) -> str:
    """What happened and, unless it is the person's own turn, who must act."""
    sentence = error.message.render(language)
    if error.who_acts is WhoActs.CALLER:
        return sentence
    actor = message(f"cli.acts_{error.who_acts.value}").render(language)
    return message("cli.error_with_actor", sentence=sentence, actor=actor).render(language)


def _explain(error: BaseException) -> tuple[ExitCode, dict[str, JsonValue] | None, str]:
    match error:
        case OpsError():
            shown = say("cli.error", sentence=sentence_of(error, LANGUAGE))
            return exit_code(error), error_json(error, LANGUAGE), shown
        case typer.TyperException():
            return ExitCode.USAGE, _simple("UsageError", error.format_message(), ExitCode.USAGE), _usage(error)
        case KeyboardInterrupt() | typer.Abort():
            return ExitCode.INTERRUPTED, _simple("Interrupted", "interrupted", ExitCode.INTERRUPTED), ""
        case BrokenPipeError():
            sys.stdout = sys.stderr  # whoever read has left; Python would complain about the flush at exit
            return ExitCode.DONE, None, ""
        case _:
            sentence = say("cli.bug", error=f"{type(error).__name__}: {error}"[:300], log=str(_log_bug(error)))
            return ExitCode.BUG, _simple(type(error).__name__, sentence, ExitCode.BUG), sentence


def _usage(error: typer.TyperException) -> str:
    context = getattr(error, "ctx", None)
    command = context.command_path if isinstance(context, typer.Context) else "muster"
    text = error.format_message()
    if not text:  # a group without a subcommand: its help is the answer
        return context.get_help() if isinstance(context, typer.Context) else ""
    return say("cli.usage_error", text=text, command=command)


def _simple(kind: str, text: str, code: ExitCode) -> dict[str, JsonValue]:
    return {"error": {"type": kind, "message": text, "who_acts": WhoActs.CALLER.value, "exit_code": int(code)}}


def _log_bug(error: BaseException) -> Path:
    """Keep the traceback for whoever repairs it. The home folder may be what is broken: then stderr has it."""
    trace = "".join(traceback.format_exception(error))
    try:
        folder = read_settings().home / "logs"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / "faults.log"
        with path.open("a") as file:
            file.write(trace + "\n")
    except (OSError, OpsError):
        print(trace, file=sys.stderr)
        return Path("stderr")
    return path
