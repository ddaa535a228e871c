"""A kubeconfig for people: one context per control plane of the twin."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import quote, urlsplit

import yaml


def write_kubeconfig(path: Path, *, endpoint: str, token: str, eks_names: Sequence[str]) -> None:
    """`endpoint`: the twin's own address, such as `http://127.0.0.1:4570`. Readable by its owner only.

    The token stands in the address too: kubectl sends bearer tokens over TLS only, but the credentials of an
    address always; the client library does it the other way round.
    """
    address = urlsplit(endpoint)
    server = f"{address.scheme}://twin:{quote(token, safe='')}@{address.netloc}/k8s"
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": eks_names[0] if eks_names else "",
        "clusters": [{"name": name, "cluster": {"server": f"{server}/{name}"}} for name in eks_names],
        "users": [{"name": "twin", "user": {"token": token}}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": "twin"}} for name in eks_names],
    }
    draft = path.with_name(f".{path.name}.draft")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        yaml.safe_dump(config, file, sort_keys=False)
    draft.replace(path)
