"""The one reader of the environment: what can be set, what it means, and what is wrong with a value.

Two profiles. `embedded` (the default) runs everything on this machine against the local twin and never looks
at the person's own AWS set-up. `production` talks to the real cloud with the credentials that the AWS SDK finds,
and refuses a loopback endpoint unless told otherwise.
"""

from __future__ import annotations

import getpass
import ipaddress
import os
import socket
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator, model_validator

from core.governance.principals import Channel, Principal, Role
from core.ids import ActorId
from core.json_value import JsonValue
from core.messages.message import Language, message
from core.reasons import OpsError, WhoActs


class SettingsInvalid(OpsError):
    """A variable holds a value that cannot be used. Nothing was started."""

    who_acts = WhoActs.OPERATOR

    def __init__(self, variable: str, shown: str) -> None:
        expected = message(f"cli.expects_{variable.lower()}")
        super().__init__(message("cli.setting_invalid", variable=variable, shown=shown, expected=expected))
        self.variable = variable


class Profile(StrEnum):
    EMBEDDED = "embedded"
    PRODUCTION = "production"


class Settings(BaseModel):
    """Every setting under the name of its variable. Empty text counts as unset."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=False)

    profile: Profile = Field(default=Profile.EMBEDDED, alias="MUSTER_PROFILE")
    home: Path = Field(alias="MUSTER_HOME")
    """The folder of the database, the logs and, embedded, the twin's state."""
    language: Language = Field(alias="MUSTER_LANG")
    user: str = Field(alias="MUSTER_USER", min_length=1, max_length=64, pattern=r"^[\w.@+-]+$")
    role: Role | None = Field(default=None, alias="MUSTER_ROLE")
    project: str | None = Field(default=None, alias="MUSTER_PROJECT", pattern=r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$")
    region: str = Field(default="us-west-2", alias="MUSTER_REGION", pattern=r"^[a-z]{2}(-[a-z]+)+-\d$")
    time_factor: float = Field(default=60.0, alias="MUSTER_TIME_FACTOR", gt=0, le=10_000)
    """How much faster than the real cloud the twin runs."""
    lease_seconds: float = Field(default=30.0, alias="MUSTER_LEASE_SECONDS", ge=1, le=3600)
    """After how long without a heartbeat a run passes to another worker."""
    model_url: str | None = Field(default=None, alias="MUSTER_MODEL_URL")
    """An OpenAI-compatible server; embedded and unset, the offline planner."""
    model_api_key: SecretStr = Field(default=SecretStr(""), alias="MUSTER_MODEL_API_KEY")
    model_name: str | None = Field(default=None, alias="MUSTER_MODEL", min_length=1, max_length=200)
    model_seconds: float = Field(default=60.0, alias="MUSTER_MODEL_SECONDS", gt=0, le=600)
    """How long one answer of the model may take, attempts included."""
    allow_loopback: bool = Field(default=False, alias="MUSTER_ALLOW_LOOPBACK")
    aws_endpoint: str | None = Field(default=None, alias="AWS_ENDPOINT_URL")
    """Production only; the embedded profile finds its twin by itself."""

    @field_validator("home")
    @classmethod
    def _is_absolute(cls, value: Path) -> Path:
        if not value.expanduser().is_absolute() or (value.exists() and not value.is_dir()):
            raise ValueError("not a folder with an absolute path")
        return value.expanduser()

    @field_validator("model_url", "aws_endpoint")
    @classmethod
    def _is_http(cls, value: str | None) -> str | None:
        if value is not None and (urlsplit(value).scheme not in {"http", "https"} or not urlsplit(value).hostname):
            raise ValueError("not an http(s) address")
        return value

    @model_validator(mode="after")
    def _real_means_real(self) -> Settings:
        is_loose = self.profile is Profile.PRODUCTION and not self.allow_loopback
        if is_loose and self.aws_endpoint is not None and is_loopback(self.aws_endpoint):
            raise SettingsInvalid("AWS_ENDPOINT_URL", self.aws_endpoint)
        return self

    @property
    def principal(self) -> Principal:
        """Who sits at this terminal. Embedded, the twin is theirs to administer; production grants least."""
        granted = Role.PLATFORM_ADMIN if self.profile is Profile.EMBEDDED else Role.ENGINEER
        return Principal(
            id=ActorId(self.user), role=self.role or granted, channel=Channel.TERMINAL, project=self.project
        )


def read_settings(environment: Mapping[str, str] | None = None, **overrides: str | None) -> Settings:
    """The settings of `environment` (this process's when absent); `overrides` are command line options.

    An override is named like the field: `home`, `language`, `time_factor`. Raises `SettingsInvalid`.
    """
    source = os.environ if environment is None else environment
    values: dict[str, JsonValue] = {name: value for name, value in _defaults(source).items() if value}
    values |= {name: source[name] for name in _variables().values() if source.get(name)}
    values |= {_variables()[name]: value for name, value in overrides.items() if value is not None}
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        variable = str(error.errors()[0]["loc"][0])
        shown = "***" if variable == "MUSTER_MODEL_API_KEY" else str(values.get(variable, ""))
        raise SettingsInvalid(variable, shown) from None


def detect_language(environment: Mapping[str, str] | None = None) -> Language:
    """`MUSTER_LANG`, else the locale's language, else English. Never fails: help must always show."""
    source = os.environ if environment is None else environment
    for name in ("MUSTER_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        if value := source.get(name, ""):
            return Language.CHINESE if value.lower().startswith("zh") else Language.ENGLISH
    return Language.ENGLISH


def inherited_environment() -> dict[str, str]:
    """What a child process may see of this one's environment: how to run, nothing of any cloud account."""
    return {name: value for name, value in os.environ.items() if name in _HARMLESS or name.startswith("LC_")}


def settings_environment(settings: Settings) -> dict[str, str]:
    """The variables that give a child process the same settings; the model's key is not among them."""
    values = {_variables()[name]: getattr(settings, name) for name in _SHARED}
    return {variable: str(value) for variable, value in values.items() if value is not None}


def adopt_environment(environment: Mapping[str, str]) -> None:
    """Make this process's own environment the given one, as if a child had been started with it.

    The embedded profile does so before any AWS library is imported: a per-service endpoint, a profile or a
    credentials file of the person's would otherwise reach past the twin.
    """
    os.environ.clear()
    os.environ.update(environment)


def is_loopback(address: str) -> bool:
    """True for a URL whose host is this machine."""
    host = urlsplit(address).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def host_name() -> str:
    return socket.gethostname()


_SHARED = (
    *("profile", "home", "language", "user", "role", "project", "region"),
    *("time_factor", "lease_seconds", "model_url", "model_name", "model_seconds"),
)
_HARMLESS = frozenset({
    "PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "COLUMNS", "LINES", "NO_COLOR", "LANG", "LANGUAGE", "TZ",
    "TMPDIR", "VIRTUAL_ENV", "PYTHONPATH", "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE", "PYTHONWARNINGS",
})  # fmt: skip


def _variables() -> dict[str, str]:
    """Field name -> variable."""
    return {name: field.alias or name for name, field in Settings.model_fields.items()}


def _defaults(source: Mapping[str, str]) -> dict[str, str]:
    state = source.get("XDG_STATE_HOME") or str(Path(source.get("HOME") or "~").expanduser() / ".local" / "state")
    return {
        "MUSTER_HOME": str(Path(state) / "muster"),
        "MUSTER_LANG": detect_language({key: value for key, value in source.items() if key != "MUSTER_LANG"}).value,
        "MUSTER_USER": source.get("USER") or _account_name(),
        "MUSTER_REGION": source.get("AWS_REGION") or source.get("AWS_DEFAULT_REGION") or "",
    }


def _account_name() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user id without a name
        return f"uid-{os.getuid()}"
