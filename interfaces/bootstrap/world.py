"""The way out: AWS and Kubernetes as the settings say, real or the twin, through the same adapters."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import boto3

from core.clock import SystemClock
from interfaces.bootstrap.embedded import embedded_processes
from interfaces.settings import Profile, Settings, adopt_environment, read_settings
from tools.clients.aws import BotoAws
from tools.clients.base import Clients
from tools.clients.kubernetes import EksConnector
from tools.contract import ArgsT, ReadTool, ResultT

_TAGS = {"muster:managed": "true"}


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """`workflows.operations.Reads`: what may be looked at, by tools."""

    clients: Clients

    @property
    def region(self) -> str:
        return self.clients.aws.region

    def read(self, tool: ReadTool[ArgsT, ResultT], args: ArgsT) -> ResultT:
        return tool.read(self.clients, args)


def connect(settings: Settings) -> World:
    """Clients for this process's own environment. Raises `EndpointRefused` for a twin in production."""
    aws = BotoAws(
        boto3.Session(),
        region=settings.region,
        endpoint_url=settings.aws_endpoint,
        allow_loopback=settings.profile is Profile.EMBEDDED or settings.allow_loopback,
    )
    return World(clients=Clients(aws=aws, kubernetes=EksConnector(aws, SystemClock()), tags=_TAGS))


@contextmanager
def open_world(settings: Settings) -> Iterator[World]:
    """Embedded, the twin is started when it is not running, and this process is cut off from everything else."""
    if settings.profile is Profile.PRODUCTION:
        yield connect(settings)
        return
    with embedded_processes(settings) as processes:
        adopt_environment(processes.environment())
        yield connect(read_settings())
