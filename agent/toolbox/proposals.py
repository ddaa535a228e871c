"""`propose_<operation>`: the model fills in parameters and cites choices by id; it can't write a choice itself."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ValidationError

from agent.provenance.mentions import Candidate
from agent.toolbox.schemas import function_tool, nullable, properties_of
from core.choices import ChoiceKind
from core.json_value import JsonObject, JsonValue, canonical_json
from state.records import PlanNode
from workflows.operations import Operation

PREFIX = "propose_"
REPLACES = "replaces"


class BadCall(Exception):
    """The call cannot be used; the text goes back to the model so that it can repair it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """One validated call. `cited` holds only usable candidates of kinds that the operation needs."""

    operation: str
    params: JsonObject
    cited: Mapping[ChoiceKind, Candidate]
    replaces: str | None


def proposal_tool(operation: Operation, candidates: Sequence[Candidate], open_nodes: Sequence[PlanNode]) -> JsonObject:
    """The tool as the model sees it at this moment: only what may be cited is in its enums."""
    properties = properties_of(operation.params)
    for kind in sorted(operation.human_choices):
        properties[kind.value] = _citation(kind, candidates)
    own = [node for node in open_nodes if node.operation == operation.name]
    properties[REPLACES] = _replaces(own)
    return function_tool(PREFIX + operation.name, operation.description, properties)


def read_proposal(
    operation: Operation, arguments: str, candidates: Sequence[Candidate], open_nodes: Sequence[PlanNode]
) -> Proposal:
    """Raises `BadCall` for no JSON, a field too many, a value of a wrong type or an id that is not on offer."""
    given = dict(read_arguments(arguments))
    replaces = _taken_replaces(given.pop(REPLACES, None), operation, open_nodes)
    cited = {
        kind: candidate
        for kind in sorted(operation.human_choices)
        if (candidate := _taken_citation(kind, given.pop(kind.value, None), candidates)) is not None
    }
    params = validated(operation.params, {name: value for name, value in given.items() if value is not None})
    return Proposal(operation=operation.name, params=params, cited=cited, replaces=replaces)


def read_arguments(arguments: str) -> JsonObject:
    """Raises `BadCall` unless the text is one JSON object; an empty text counts as `{}`."""
    try:
        value = json.loads(arguments or "{}")
    except ValueError as error:
        raise BadCall(f"the arguments are no JSON: {error}") from None
    if not isinstance(value, dict):
        raise BadCall("the arguments are no JSON object")
    return value


def validated(model: type[BaseModel], given: JsonObject) -> dict[str, JsonValue]:
    """`given` as the model's own JSON, unset fields left out. Raises `BadCall` naming each wrong field."""
    unknown = sorted(given.keys() - model.model_fields.keys())
    if unknown:
        raise BadCall(f"unknown parameters: {', '.join(unknown)}")
    try:
        parsed = model.model_validate(given)
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, fault['loc']))}: {fault['msg']}" for fault in error.errors())
        raise BadCall(f"wrong arguments: {faults}") from None
    dumped: dict[str, JsonValue] = parsed.model_dump(mode="json", exclude_unset=True, exclude_none=True)
    return dumped


def free_fields(model: type[BaseModel]) -> tuple[str, ...]:
    """Fields whose values are names, amounts or texts, not one of a few words that the schema lists."""
    return tuple(name for name, schema in properties_of(model).items() if _is_free(schema))


def _citation(kind: ChoiceKind, candidates: Sequence[Candidate]) -> JsonValue:
    usable = [candidate for candidate in candidates if candidate.is_usable and candidate.choice.kind is kind]
    listed = "; ".join(
        f"{candidate.id} = {canonical_json(candidate.choice.value)} ({candidate.choice.quote!r})"
        for candidate in usable
    )
    text = (
        f"Id of the requester's own choice: {listed}. Null if none of these is meant for this operation."
        if usable
        else "Nothing usable was said: null. The requester will be asked."
    )
    if not usable:
        return {"type": "null", "description": text}
    return nullable({"type": "string", "enum": [candidate.id for candidate in usable], "description": text})


def _replaces(nodes: Sequence[PlanNode]) -> JsonValue:
    if not nodes:
        return {"type": "null", "description": "No step of the open plan can be replaced: null."}
    text = (
        "Id of the open plan's step that this call corrects; what is null here stays as it was. Null: a further step."
    )
    return nullable({"type": "string", "enum": [node.id for node in nodes], "description": text})


def _taken_replaces(value: JsonValue, operation: Operation, nodes: Sequence[PlanNode]) -> str | None:
    if value is None:
        return None
    if isinstance(value, str) and any(node.id == value and node.operation == operation.name for node in nodes):
        return value
    raise BadCall(f"{REPLACES}: the open plan has no such step of {operation.name}: {value!r}")


def _taken_citation(kind: ChoiceKind, value: JsonValue, candidates: Sequence[Candidate]) -> Candidate | None:
    if value is None:
        return None
    for candidate in candidates:
        if candidate.id == value and candidate.choice.kind is kind and candidate.is_usable:
            return candidate
    raise BadCall(
        f"{kind.value}: {value!r} is not the id of a choice that the requester made."
        " Only listed ids may be cited; what is null is asked."
    )


def _is_free(schema: JsonValue) -> bool:
    if not isinstance(schema, Mapping):
        return False
    branches = schema.get("anyOf", ())
    inner = [branch for branch in branches if isinstance(branch, Mapping)] if isinstance(branches, Sequence) else []
    return any(
        "enum" not in branch and branch.get("type") in {"string", "integer", "number", "array"} for branch in inner
    )
