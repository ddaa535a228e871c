"""Serving a twin on loopback."""

from __future__ import annotations

import json
import os
import socket
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from core.clock import Clock
from twin.assembly import Twin
from twin.control import Control
from twin.gateway import Gateway, breakable_protocol
from twin.kubernetes_half import MakeKubernetes, ServedKubernetes
from twin.world.specification import WorldSpec, default_world

HOST = "127.0.0.1"
ADDRESS_FILE = "twin.json"
"""Endpoint, token and process id of the twin that runs on a folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TwinConfig:
    folder: Path
    """Everything the twin keeps; made if it is missing. One that holds a world goes on with it."""
    port: int
    """0 = choose a free one."""
    token: str
    """Access key id of AWS requests and bearer token of the others: letters and digits."""
    time_factor: float
    seed: int
    region: str = ""
    """Of the default world; empty = `us-west-2`. A `world` names its own."""
    world: WorldSpec | None = None
    """What a new folder begins with; `None` = the default world."""


@dataclass(frozen=True, slots=True)
class RunningTwin:
    endpoint: str
    """`http://127.0.0.1:<port>`."""
    twin: Twin
    stop: Callable[[], None]
    """Let `serve` return; from any thread."""


def serve(
    config: TwinConfig,
    *,
    clock: Clock,
    on_ready: Callable[[RunningTwin], None],
    make_kubernetes: MakeKubernetes = ServedKubernetes,
) -> None:
    """Run until stopped. `on_ready` is called once requests will be answered; `twin.json` stands in the folder then."""
    # The protocol is named: asyncio turns Nagle's delay off only for sockets that say they are TCP, and with it
    # every answer of two packets takes 40 ms longer.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOST, config.port))
        listener.listen(128)
        endpoint = f"http://{HOST}:{listener.getsockname()[1]}"
        twin = Twin(
            folder=config.folder,
            token=config.token,
            endpoint=endpoint,
            start=clock.now(),
            time_factor=config.time_factor,
            seed=config.seed,
            specification=config.world or default_world(config.region),
            make_kubernetes=make_kubernetes,
        )
        gateway = Gateway(
            aws=twin.aws,
            kubernetes=twin.kubernetes.app,
            control=Control(twin),
            token=config.token,
            holds=twin.holds,
        )
        server = uvicorn.Server(_uvicorn_config(gateway))
        address = config.folder / ADDRESS_FILE
        try:
            write_private(address, json.dumps({"endpoint": endpoint, "token": config.token, "pid": os.getpid()}))
            threading.Thread(target=twin.warm_up, name="twin-warm-up", daemon=True).start()
            on_ready(RunningTwin(endpoint, twin, lambda: setattr(server, "should_exit", True)))
            server.run(sockets=[listener])
        finally:
            address.unlink(missing_ok=True)
            twin.close()


def write_private(path: Path, text: str) -> None:
    """Readable by its owner alone from its first moment on; replaced as a whole."""
    scratch = path.with_suffix(".new")
    scratch.unlink(missing_ok=True)
    with os.fdopen(os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
        file.write(text)
    scratch.replace(path)


def _uvicorn_config(gateway: Gateway) -> uvicorn.Config:
    return uvicorn.Config(
        gateway,
        http=breakable_protocol(gateway.connections),
        ws="none",
        lifespan="off",
        log_level="warning",
        access_log=False,
        timeout_graceful_shutdown=1,
    )
