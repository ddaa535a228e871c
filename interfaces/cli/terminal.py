"""What every command starts from: the settings, the rows, and who sits here."""

from __future__ import annotations

from dataclasses import dataclass

from core.governance.principals import Principal
from core.messages.message import Language
from interfaces.bootstrap.rows import open_rows
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


def open_terminal(*, language: str | None = None) -> Terminal:
    """Raises `SettingsInvalid` or `DatabaseUnusable`, before anything is changed."""
    settings = read_settings(language=language)
    return Terminal(settings=settings, rows=open_rows(settings))
