"""Plain requests to a cluster's API server, with the connection and credentials of the official client."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode

from kubernetes import client, config

from core.json_value import JsonObject, JsonValue
from twin.kube.objects import mapping, text

MERGE = "application/merge-patch+json"
JSON_PATCH = "application/json-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"


class Answer(NamedTuple):
    status: int
    body: JsonObject


class Cluster:
    """`paths` are those of the API server, such as `/api/v1/nodes`."""

    def __init__(self, kubeconfig: Path) -> None:
        load: Callable[..., client.ApiClient] = config.new_client_from_config
        self.api = load(config_file=str(kubeconfig))
        self.core = client.CoreV1Api(self.api)

    def get(self, path: str, **query: str) -> Answer:
        return self._send("GET", path, query)

    def post(self, path: str, body: JsonValue, **query: str) -> Answer:
        return self._send("POST", path, query, body)

    def put(self, path: str, body: JsonValue, **query: str) -> Answer:
        return self._send("PUT", path, query, body)

    def patch(self, path: str, body: JsonValue, content_type: str, **query: str) -> Answer:
        return self._send("PATCH", path, query, body, content_type)

    def delete(self, path: str, body: JsonValue = None, **query: str) -> Answer:
        return self._send("DELETE", path, query, body)

    def watch(self, path: str, **query: str) -> Iterator[tuple[str, JsonObject]]:
        """(type, object) until the server ends the watch."""
        response = self._open("GET", path, {"watch": "true", "timeoutSeconds": "5", **query})
        for line in response.response.stream(decode_content=True):
            for event in filter(None, line.splitlines()):
                parsed: JsonObject = json.loads(event)
                yield text(parsed, "type"), mapping(parsed, "object")

    def _send(
        self,
        method: str,
        path: str,
        query: Mapping[str, str],
        body: JsonValue = None,
        content_type: str = "application/json",
    ) -> Answer:
        response = self._open(method, path, query, body, content_type)
        raw = response.response.read()
        parsed: JsonValue = json.loads(raw) if raw else {}
        return Answer(int(response.status), mapping(parsed))

    def _open(
        self,
        method: str,
        path: str,
        query: Mapping[str, str],
        body: JsonValue = None,
        content_type: str = "application/json",
    ) -> client.rest.RESTResponse:
        headers, settings = {"Accept": "application/json"}, self.api.configuration.auth_settings()
        self.api.update_params_for_auth(headers, [], list(settings), path, method, body)
        if body is not None:
            headers["Content-Type"] = content_type
        url = self.api.configuration.host + path + (f"?{urlencode(query)}" if query else "")
        send: Callable[..., client.rest.RESTResponse] = self.api.rest_client.request
        return send(method, url, headers=headers, body=body, _request_timeout=10)
