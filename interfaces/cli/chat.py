"""`muster chat`: talk to Muster in this terminal."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Annotated

import typer

from core.ids import ConversationId
from core.reasons import OpsError
from interfaces.bootstrap.chat import open_assistant
from interfaces.bootstrap.home import Home
from interfaces.cli.conversation import OpenConversation, Person, Talk
from interfaces.cli.failures import sentence_of
from interfaces.cli.line_reader import LineReader
from interfaces.cli.output import console, moment
from interfaces.cli.screen import Screen, rows_of_cells
from interfaces.cli.terminal import Terminal, open_terminal
from interfaces.cli.texts import say
from interfaces.errors import ExitCode
from state.records import Conversation, Speaker

app = typer.Typer()

_LOOK_EVERY_SECONDS = 0.15
_PROMPT = "> "
_MOST_CONVERSATIONS = 20
_TITLE_LENGTH = 40


@app.command(help=say("cli.help_chat"), epilog=say("cli.example_chat"))
def chat(
    language: Annotated[str | None, typer.Option("--lang", help=say("cli.option_lang"))] = None,
    conversation: Annotated[
        str | None, typer.Option("--conversation", help=say("cli.option_open_conversation"))
    ] = None,
) -> None:
    terminal = open_terminal(language=language)
    opened = terminal.rows.get_conversation(ConversationId(conversation)) if conversation else None
    with open_assistant(terminal.settings, terminal.rows) as assistant:
        person = Person(
            principal=terminal.principal, language=terminal.language, is_language_fixed=language is not None
        )
        code = ChatLoop(terminal, assistant, person, opened or _begin(terminal)).run()
    raise typer.Exit(int(code))


class ChatLoop:
    """Looks at the rows several times a second and at the keyboard in between."""

    def __init__(self, terminal: Terminal, assistant: Talk, person: Person, conversation: Conversation) -> None:
        self._terminal, self._assistant, self._person = terminal, assistant, person
        self._home = Home(terminal.settings.home)
        self._screen = Screen(console())
        self._reader = LineReader(self._home.history)
        self._is_leaving = False
        self._talk = self._open(conversation)
        self._commands: dict[str, Callable[[str], None]] = {
            "help": self._help,
            "runs": self._runs,
            "questions": self._questions,
            "conversations": self._conversations,
            "open": self._switch,
            "new": self._new,
        }

    def run(self) -> ExitCode:
        with self._reader.reading(), self._leaving_on_ctrl_c():
            try:
                self._greet()
                while not self._is_leaving and self._step():
                    pass
            except KeyboardInterrupt:
                self._is_leaving = True
            self._screen.show_prompt(None)
            self._say_goodbye()
        return ExitCode.INTERRUPTED if self._is_leaving else ExitCode.DONE

    @contextmanager
    def _leaving_on_ctrl_c(self) -> Iterator[None]:
        """The wish is noted before the exception: one that a callback of some library swallows is not lost."""

        def leave(_number: int, _frame: FrameType | None) -> None:
            self._is_leaving = True
            raise KeyboardInterrupt

        before = signal.signal(signal.SIGINT, leave)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    def _step(self) -> bool:
        """One look around. False when the person leaves."""
        self._talk.show_news()
        if self._may_ask() and self._reader.ask(_PROMPT):
            self._screen.show_prompt(_PROMPT)
        is_there, line = self._reader.poll(_LOOK_EVERY_SECONDS)
        if not is_there:
            return True
        self._screen.show_prompt(None)
        if line is None or line.strip() == "/quit":
            return False
        self._take(line.strip())
        return True

    def _may_ask(self) -> bool:
        """A pipe's next line waits until somebody asks something or all is done, as a person would."""
        if self._reader.is_terminal:
            return True
        is_working = any(run.waiting_for is None for run in self._talk.working_runs())
        return bool(self._talk.open_questions()) or not is_working

    def _take(self, line: str) -> None:
        if not self._reader.is_terminal:
            self._screen.line(f"{_PROMPT}{line[:200]}")
        if not line:
            self._talk.show_question(again=True)
            return
        try:
            if line.startswith("/"):
                name, _, rest = line[1:].partition(" ")
                self._commands.get(name, self._unknown)(rest.strip())
            else:
                self._talk.take(line)
        except OpsError as error:
            self._screen.end_stream()
            self._screen.line(sentence_of(error, self._terminal.language), style="red")

    def _greet(self) -> None:
        self._talk.say("chat.welcome", conversation=self._talk.id)
        self._talk.catch_up()

    def _help(self, _rest: str) -> None:
        self._talk.say("chat.help")

    def _unknown(self, _rest: str) -> None:
        self._talk.say("chat.unknown_command")

    def _runs(self, _rest: str) -> None:
        runs = self._terminal.rows.list_runs(conversation_id=self._talk.id)
        language = self._terminal.language
        rows = [
            [run.id, run.workflow, run.status.value, run.reason.render(language) if run.reason else ""] for run in runs
        ]
        self._lines(rows, "cli.no_runs")

    def _questions(self, _rest: str) -> None:
        if not self._talk.open_questions():
            self._talk.say("cli.no_questions")
        self._talk.show_question(again=True)

    def _conversations(self, _rest: str) -> None:
        found = self._terminal.rows.list_conversations(limit=_MOST_CONVERSATIONS)
        rows = [[item.id, moment(item.updated_at), title] for item in found if (title := self._title(item))]
        self._lines(rows, "chat.no_conversations")

    def _switch(self, rest: str) -> None:
        self._talk = self._open(self._terminal.rows.get_conversation(ConversationId(rest)))
        self._greet()

    def _new(self, _rest: str) -> None:
        self._talk = self._open(_begin(self._terminal))
        self._greet()

    def _title(self, conversation: Conversation) -> str:
        """Its first words; empty where nothing was said."""
        entries = self._terminal.rows.list_transcript(conversation.id)
        first = next((entry.text for entry in entries if entry.speaker is Speaker.USER), "")
        return conversation.title or first[:_TITLE_LENGTH]

    def _lines(self, rows: list[list[str]], empty: str) -> None:
        if not rows:
            self._talk.say(empty)
        for line in rows_of_cells(rows):
            self._screen.line(line)

    def _open(self, conversation: Conversation) -> OpenConversation:
        return OpenConversation(
            rows=self._terminal.rows,
            assistant=self._assistant,
            home=self._home,
            conversation=conversation,
            person=self._person,
            screen=self._screen,
        )

    def _say_goodbye(self) -> None:
        self._screen.line()
        runs = self._talk.working_runs()
        if runs:
            self._talk.say("chat.work_goes_on", count=len(runs), run=runs[0].id)
        self._talk.say("chat.come_back", conversation=self._talk.id)


def _begin(terminal: Terminal) -> Conversation:
    return terminal.rows.create_conversation(title="", language=terminal.language, started_by=terminal.principal)
