"""What a command starts from: the settings, the rows, and, where it asks for it, the world."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from core.governance.principals import Principal
from core.messages.message import Language
from interfaces.bootstrap.wiring import World, open_rows, open_world
from interfaces.settings import Settings, read_settings
from state.repository import Repository


@dataclass(frozen=True, slots=True, kw_only=True)
class Terminal:
    settings: Settings
    rows: Repository

    @property
    def language(self) -> Language:
        return self.settings.language

    @property
    def principal(self) -> Principal:
        return self.settings.principal

    @contextmanager
    def world(self) -> Iterator[World]:
        """AWS and Kubernetes, for looking. Embedded, this starts the twin when it is not running."""
        with open_world(self.settings) as world:
            yield world


def open_terminal(*, language: str | None = None) -> Terminal:
    """Raises `SettingsInvalid` or `DatabaseUnusable`, before anything is changed."""
    settings = read_settings(language=language)
    return Terminal(settings=settings, rows=open_rows(settings))
