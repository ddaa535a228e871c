"""The offline planner as an in-process `Model`: through its own JSON parsing, without sockets."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count

from agent.models.wire import Reply, TextSink, ToolCall
from agent.planner.decide import decide
from agent.planner.wire import parse_request
from core.json_value import JsonObject


@dataclass
class PlannerModel:
    prefix: str = "call"
    seen: list[Sequence[JsonObject]] = field(default_factory=list)
    _numbers: count[int] = field(default_factory=lambda: count(1))

    def reply(
        self, messages: Sequence[JsonObject], tools: Sequence[JsonObject], sink: TextSink, *, seconds: float
    ) -> Reply:
        self.seen.append(list(messages))
        answer = decide(parse_request(json.loads(json.dumps({"messages": list(messages), "tools": list(tools)}))))
        if answer.text:
            sink.piece(answer.text)
        calls = tuple(
            ToolCall(id=f"{self.prefix}-{next(self._numbers)}", name=name, arguments=json.dumps(arguments))
            for name, arguments in answer.calls
        )
        return Reply(text=answer.text, tool_calls=calls, tokens=100)
