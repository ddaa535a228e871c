"""Nothing of a person's own cloud set-up reaches an embedded process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from interfaces.bootstrap.environment import bare_environment, twin_environment
from interfaces.bootstrap.servers import ServerRecord
from interfaces.settings import Settings, read_settings

TWIN = ServerRecord(endpoint="http://127.0.0.1:4599", token="twin-token", pid=1)
PERSONAL = {
    "AWS_PROFILE": "production",
    "AWS_ACCESS_KEY_ID": "AKIAREALKEY",
    "AWS_SECRET_ACCESS_KEY": "real",
    "AWS_SESSION_TOKEN": "real",
    "AWS_ENDPOINT_URL_SAGEMAKER": "https://api.sagemaker.us-west-2.amazonaws.com",
    "AWS_ROLE_ARN": "arn:aws:iam::123456789012:role/admin",
    "AWS_WEB_IDENTITY_TOKEN_FILE": "/var/run/token",
    "AWS_CONTAINER_CREDENTIALS_FULL_URI": "http://169.254.170.2/creds",
    "KUBECONFIG": "/home/ann/.kube/config",
    "HTTPS_PROXY": "http://proxy:3128",
    "OPENAI_API_KEY": "sk-real",
}


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    for name, value in PERSONAL.items():
        monkeypatch.setenv(name, value)
    return read_settings({"MUSTER_HOME": str(tmp_path), "HOME": str(tmp_path), "USER": "ann"})


def test_no_value_of_the_persons_own_set_up_is_passed_on(settings: Settings) -> None:
    passed = {**bare_environment(settings), **twin_environment(settings, TWIN)}

    assert {name for name, value in PERSONAL.items() if passed.get(name) == value} == set()


def test_every_service_is_pointed_at_the_twin(settings: Settings) -> None:
    environment = twin_environment(settings, TWIN)

    assert environment["AWS_ENDPOINT_URL"] == TWIN.endpoint
    assert environment["AWS_ACCESS_KEY_ID"] == TWIN.token
    assert environment["AWS_EC2_METADATA_DISABLED"] == "true"
    assert [name for name in environment if name.startswith("AWS_ENDPOINT_URL_")] == []


def test_the_files_it_names_do_not_exist(settings: Settings) -> None:
    environment = twin_environment(settings, TWIN)

    for variable in ("AWS_CONFIG_FILE", "AWS_SHARED_CREDENTIALS_FILE", "KUBECONFIG"):
        assert not Path(environment[variable]).exists()


def test_a_child_gets_the_same_settings(settings: Settings) -> None:
    assert read_settings(bare_environment(settings)) == settings


@pytest.mark.parametrize("service", ["sagemaker", "s3", "sts", "ec2", "iam", "pricing", "eks", "logs"])
def test_boto_reaches_loopback_only(settings: Settings, service: str) -> None:
    code = (
        "import boto3, sys\n"
        "session = boto3.Session()\n"
        f"client = session.client({service!r})\n"
        "print(client.meta.endpoint_url, session.get_credentials().access_key)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code],
        env=dict(twin_environment(settings, TWIN)),
        capture_output=True,
        text=True,
        check=True,
    )

    assert result.stdout.split() == [TWIN.endpoint, TWIN.token]
