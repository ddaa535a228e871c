"""An AWS client that answers from a table: service and operation -> what the test says."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from core.json_value import JsonObject
from core.messages.message import message
from core.reasons import FailureClass
from tools.clients.base import Clients, KubernetesClient
from tools.errors import TargetNotFound
from tools.reading import children, items

Answer = Callable[[JsonObject], JsonObject]


@dataclass(slots=True)
class FakeAws:
    """An operation without an answer is a mistake of the test. `calls` are those made, in order."""

    answers: Mapping[str, Answer]
    region: str = "us-west-2"
    account: str = "123456789012"
    is_local: bool = True
    calls: list[tuple[str, JsonObject]] = field(default_factory=list)

    def call(self, service: str, operation: str, params: JsonObject) -> JsonObject:
        name = f"{service}:{operation}"
        self.calls.append((name, params))
        return self.answers[name](params)

    def pages(self, service: str, operation: str, params: JsonObject, key: str) -> Iterator[JsonObject]:
        answer = self.call(service, operation, params)
        texts = [item for item in items(answer, key) if isinstance(item, str)]
        yield from children(answer, key) or ({"value": item} for item in texts)


class NoKubernetes:
    """For tools that must not need the orchestrator."""

    def connect(self, eks_cluster_name: str) -> KubernetesClient:
        raise TargetNotFound(
            message("tools.target_not_found", call="eks:DescribeCluster", code="404", raw=eks_cluster_name),
            call="eks:DescribeCluster",
            failure_class=FailureClass.CONFIG,
        )


def clients(answers: Mapping[str, Answer]) -> Clients:
    return Clients(aws=FakeAws(answers), kubernetes=NoKubernetes(), tags={"muster:managed": "true"})


def absent(call: str) -> Answer:
    """The platform says that there is no such thing."""

    def answer(params: JsonObject) -> JsonObject:
        raise TargetNotFound(
            message("tools.target_not_found", call=call, code="ResourceNotFound", raw="no"),
            call=call,
            failure_class=FailureClass.CONFIG,
        )

    return answer
