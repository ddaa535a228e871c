"""Every tool that a model is given can be sent to a strict server, and what comes back is checked again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Literal

import pytest
from pydantic import BaseModel

from agent.looks.catalogue import LOOK_TOOLS
from agent.provenance.extract import extract_candidates
from agent.toolbox.catalogue import tools_of_the_moment
from agent.toolbox.envelope import LIMIT_BYTES, enveloped
from agent.toolbox.proposals import BadCall, free_fields, read_proposal
from agent.toolbox.schemas import properties_of
from core.json_value import JsonObject, JsonValue
from state.records import PlanNode
from tests.fakes.operations import CreateParams, FakeCreateCluster
from workflows.catalogue import OPERATIONS
from workflows.operations import Operation

ALLOWED = {"type", "enum", "description", "anyOf", "items", "properties", "required", "additionalProperties"}
SAID = "create cluster a with 8 on-demand p5.48xlarge in usw2-az2"
CANDIDATES = extract_candidates(SAID, sequence=1, region="us-west-2")


def all_tools() -> list[JsonObject]:
    operations: dict[str, Operation] = {operation.name: operation for operation in OPERATIONS}
    looks = {tool.name: tool for tool in LOOK_TOOLS}
    return tools_of_the_moment(operations, looks, CANDIDATES, None)


def schemas_in(schema: JsonValue) -> Iterator[Mapping[str, JsonValue]]:
    if isinstance(schema, Mapping):
        yield schema
        for key in ("anyOf", "items", "properties"):
            inner = schema.get(key)
            parts = inner.values() if isinstance(inner, Mapping) and key == "properties" else [inner]
            for part in parts:
                yield from schemas_in(part)
    elif isinstance(schema, list):
        for item in schema:
            yield from schemas_in(item)


@pytest.mark.parametrize("tool", all_tools(), ids=lambda tool: str(tool["function"]["name"]))
def test_a_tool_is_flat_closed_and_free_of_words_that_strict_servers_refuse(
    tool: dict[str, dict[str, JsonObject]],
) -> None:
    parameters = tool["function"]["parameters"]
    properties = parameters["properties"]

    assert isinstance(properties, dict)
    assert parameters["additionalProperties"] is False
    assert parameters["required"] == list(properties)
    for schema in schemas_in(parameters):
        assert schema.keys() <= ALLOWED
    for schema in properties.values():
        assert all(part.get("type") != "object" for part in schemas_in(schema))
    assert tool["function"]["description"]


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_no_operation_lets_the_model_write_a_human_choice(operation: Operation) -> None:
    written = set(properties_of(operation.params))

    assert not written & {"availability_zone", "zone", "zone_id", "instance_type", "type", "capacity", "mode", "plan"}


def test_a_free_mapping_has_no_strict_schema() -> None:
    class Loose(BaseModel):
        labels: dict[str, str] | None = None

    with pytest.raises(ValueError, match="labels"):
        properties_of(Loose)


def test_only_names_and_amounts_have_to_be_said() -> None:
    class Mixed(BaseModel):
        name: str | None = None
        nodes: int | None = None
        orchestrator: Literal["Eks", "Slurm"] | None = None
        is_sample: bool | None = None

    assert free_fields(Mixed) == ("name", "nodes")


@pytest.mark.parametrize(
    "arguments",
    [
        "{broken",
        "[]",
        '{"name": 7}',
        '{"zone": "usw2-az2"}',
        '{"availability_zone": "usw2-az2"}',
        '{"availability_zone": "type-1-1"}',
        '{"replaces": "create_cluster-000000"}',
        '{"orchestrator": "Nomad"}',
    ],
)
def test_a_call_that_is_not_on_offer_is_refused_with_words_for_the_model(arguments: str) -> None:
    with pytest.raises(BadCall, match=r"\w+ \w+"):
        read_proposal(FakeCreateCluster(), arguments, CANDIDATES, ())


def test_a_cited_choice_comes_from_the_words_and_not_from_the_model() -> None:
    proposal = read_proposal(
        FakeCreateCluster(), '{"name": "a", "availability_zone": "zone-1-1", "capacity": null}', CANDIDATES, ()
    )

    assert [candidate.choice.quote for candidate in proposal.cited.values()] == ["usw2-az2"]


def test_a_step_of_another_operation_is_not_replaced() -> None:
    node = PlanNode(id="submit_job-1", operation="submit_job", params={})

    with pytest.raises(BadCall):
        read_proposal(FakeCreateCluster(), '{"replaces": "submit_job-1"}', (), [node])


def test_tool_output_is_marked_untrusted_and_stays_small() -> None:
    rows: list[JsonValue] = [{"name": f"n{number}", "message": "x" * 5000} for number in range(500)]
    text = enveloped("list_nodes", {"nodes": rows})

    assert len(text.encode()) <= LIMIT_BYTES
    assert json.loads(text)["is_shortened"] is True
    assert json.loads(text)["untrusted_output_of"] == "list_nodes"


def test_of_a_long_log_the_end_is_kept() -> None:
    assert "the end" in enveloped("job_logs", {"log": "x" * 50_000 + " the end"})


def test_the_model_parameters_are_read_back_as_json() -> None:
    proposal = read_proposal(FakeCreateCluster(), '{"name": "a", "orchestrator": "Eks"}', (), ())

    assert proposal.params == {"name": "a", "orchestrator": "Eks"}
    assert set(proposal.params) <= set(CreateParams.model_fields)
