"""The environment as settings: defaults, and one clear message for each wrong value."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.governance.principals import Role
from core.messages.catalogue import TEXTS
from core.messages.message import Language
from interfaces.settings import Profile, Settings, SettingsInvalid, detect_language, is_loopback, read_settings

BARE = {"HOME": "/home/ann", "USER": "ann"}


def test_without_any_variable_the_embedded_profile_runs_below_the_state_folder() -> None:
    settings = read_settings(BARE)

    assert settings.profile is Profile.EMBEDDED
    assert settings.home == Path("/home/ann/.local/state/muster")
    assert settings.principal.id == "ann"
    assert settings.principal.role is Role.PLATFORM_ADMIN


def test_production_grants_the_least_role_unless_told() -> None:
    assert read_settings(BARE | {"MUSTER_PROFILE": "production"}).principal.role is Role.ENGINEER


def test_an_empty_variable_counts_as_unset() -> None:
    assert read_settings(BARE | {"MUSTER_LANG": "", "MUSTER_MODEL_URL": ""}).model_url is None


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("MUSTER_PROFILE", "cloud"),
        ("MUSTER_HOME", "relative/path"),
        ("MUSTER_HOME", "/etc/hostname"),
        ("MUSTER_LANG", "fr"),
        ("MUSTER_USER", "ann smith"),
        ("MUSTER_ROLE", "root"),
        ("MUSTER_PROJECT", "Team A"),
        ("MUSTER_REGION", "moon"),
        ("MUSTER_TIME_FACTOR", "0"),
        ("MUSTER_TIME_FACTOR", "nan"),
        ("MUSTER_LEASE_SECONDS", "soon"),
        ("MUSTER_MODEL_URL", "ftp://model"),
        ("MUSTER_MODEL", "m" * 201),
        ("MUSTER_MODEL_SECONDS", "0"),
        ("MUSTER_ALLOW_LOOPBACK", "perhaps"),
        ("AWS_ENDPOINT_URL", "nonsense"),
    ],
)
def test_a_wrong_value_is_refused_with_its_variable_and_value(variable: str, value: str) -> None:
    with pytest.raises(SettingsInvalid) as refused:
        read_settings(BARE | {variable: value})

    assert refused.value.variable == variable
    assert variable in str(refused.value)
    assert value in str(refused.value)


def test_every_variable_has_a_text_that_says_what_it_expects() -> None:
    missing = [
        alias
        for field in Settings.model_fields.values()
        if (alias := field.alias) and f"cli.expects_{alias.lower()}" not in TEXTS["en"]
    ]

    assert missing == []


@pytest.mark.parametrize("endpoint", ["http://127.0.0.1:4566", "http://localhost:1", "http://[::1]:80"])
def test_production_refuses_a_loopback_endpoint(endpoint: str) -> None:
    production = BARE | {"MUSTER_PROFILE": "production", "AWS_ENDPOINT_URL": endpoint}

    with pytest.raises(SettingsInvalid, match="AWS_ENDPOINT_URL"):
        read_settings(production)
    assert read_settings(production | {"MUSTER_ALLOW_LOOPBACK": "true"}).aws_endpoint == endpoint


def test_a_model_key_is_never_shown() -> None:
    assert "sk-secret" not in repr(read_settings(BARE | {"MUSTER_MODEL_API_KEY": "sk-secret"}))


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({"LANG": "zh_CN.UTF-8"}, Language.CHINESE),
        ({"LANG": "zh_CN.UTF-8", "LC_ALL": "C"}, Language.ENGLISH),
        ({"MUSTER_LANG": "zh", "LC_ALL": "en_US.UTF-8"}, Language.CHINESE),
        ({}, Language.ENGLISH),
    ],
)
def test_the_language_is_the_locales(environment: dict[str, str], language: Language) -> None:
    assert detect_language(environment) is language
    assert read_settings(BARE | environment).language is language


def test_an_option_wins_over_the_variable() -> None:
    assert read_settings(BARE | {"MUSTER_LANG": "zh"}, language="en").language is Language.ENGLISH


@pytest.mark.parametrize(
    ("address", "expected"),
    [("http://127.0.0.9", True), ("http://sagemaker.us-west-2.amazonaws.com", False), ("http://127.evil.com", False)],
)
def test_loopback_is_told_by_the_host(address: str, expected: bool) -> None:
    assert is_loopback(address) is expected
