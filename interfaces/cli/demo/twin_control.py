"""The demo's hand on its twin: what took effect, and keeping an answer back."""

from __future__ import annotations

from collections.abc import Mapping

import httpx

from core.json_value import JsonObject
from core.messages.message import message
from core.reasons import OpsError, WhoActs
from interfaces.bootstrap.servers import ServerRecord

_SECONDS = 10.0


class TwinSilent(OpsError):
    """The twin's control endpoint gives no answer."""

    who_acts = WhoActs.OPERATOR


class TwinControl:
    """Raises `TwinSilent`."""

    def __init__(self, twin: ServerRecord) -> None:
        self._client = httpx.Client(
            base_url=f"{twin.endpoint}/_twin",
            headers={"authorization": f"Bearer {twin.token}"},
            timeout=_SECONDS,
            trust_env=False,
        )

    def effects(self) -> dict[str, int]:
        """Call -> how often it took effect, by the twin's own log."""
        return {call: count for call, count in self._ask("GET", "effects").items() if isinstance(count, int)}

    def hold(self, call: str) -> None:
        """Keep the next answer of `call` back once it has taken effect."""
        self._ask("POST", "holds", {"call": call})

    def is_holding(self, call: str) -> bool:
        held = self._ask("GET", "holds").get("held")
        return isinstance(held, list) and call in held

    def release(self) -> None:
        self._ask("POST", "release", {})

    def close(self) -> None:
        self._client.close()

    def _ask(self, method: str, path: str, body: JsonObject | None = None) -> JsonObject:
        try:
            response = self._client.request(method, f"/{path}", json=body)
            answer = response.raise_for_status().json()
        except (httpx.HTTPError, ValueError) as error:
            raise TwinSilent(message("demo.twin_silent", why=str(error) or type(error).__name__)) from error
        return answer if isinstance(answer, Mapping) else {}
