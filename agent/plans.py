"""How a plan's nodes change: by a proposal of the model, or by a person's answer. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from agent.provenance.mentions import Candidate, Standing
from agent.toolbox.proposals import Proposal
from core.choices import LATER, Choice, ChoiceKind, Origin
from core.cluster.clusters import CapacityMode
from core.cluster.instance_types import find_instance_type
from core.json_value import JsonObject, JsonValue, digest
from core.messages.message import Language
from state.records import PlanNode, Question

PARAM_PREFIX = "params."
_SEPARATOR = ":"
_TAKES_BACK = {Standing.NEGATED, Standing.ALTERNATIVE}


def node_id(call_id: str) -> str:
    """The same for the same call, so that a call read twice after a crash makes one node."""
    return digest(call_id)[:6]


def question_name(node: PlanNode, name: str) -> str:
    """Unique within the plan: which node asks, and what."""
    return f"{node.id}{_SEPARATOR}{name}"


def new_node(proposal: Proposal, call_id: str, said: Sequence[Candidate], rivals: int) -> PlanNode:
    """`rivals`: how many nodes of this message need choices; more distinct choices than that are ambiguous."""
    cited = {
        kind: candidate.choice
        for kind, candidate in proposal.cited.items()
        if not _is_bare(candidate) and not _is_ambiguous(kind, said, rivals)
    }
    return PlanNode(
        id=node_id(call_id),
        operation=proposal.operation,
        params=proposal.params,
        choices=_choices_json(_with_gpus(cited, proposal.cited)),
    )


def revised_node(node: PlanNode, proposal: Proposal, said: Sequence[Candidate]) -> PlanNode:
    """What was said anew replaces what was there; a choice that was taken back ("not there") is open again."""
    choices = read_choices(node)
    for kind in ChoiceKind:
        if kind in proposal.cited and not _is_ambiguous(kind, said, 1):
            choices[kind] = _merged(choices.get(kind), proposal.cited[kind].choice)
        elif kind in choices and _is_taken_back(choices[kind], said):
            del choices[kind]
    params = {**node.params, **proposal.params}
    return replace(node, params=params, choices=_choices_json(_with_gpus(choices, proposal.cited)))


def read_choices(node: PlanNode) -> dict[ChoiceKind, Choice]:
    """A node's choices as values. Raises `ValueError` on another shape than `Choice.to_json` writes."""
    return {ChoiceKind(kind): _choice(value) for kind, value in node.choices.items()}


def answered_nodes(nodes: Sequence[PlanNode], question: Question, language: Language) -> tuple[PlanNode, ...]:
    """`nodes` with the answer put where the question's name says. Doing it twice changes nothing more.

    A choice quotes the option that was taken, in `language`.
    """
    wanted, _, name = question.name.partition(_SEPARATOR)
    return tuple(_answered(node, name, question, language) if node.id == wanted else node for node in nodes)


def _answered(node: PlanNode, name: str, question: Question, language: Language) -> PlanNode:
    if name.startswith(PARAM_PREFIX):
        return replace(node, params={**node.params, name.removeprefix(PARAM_PREFIX): question.answer})
    choices = read_choices(node)
    quote = _option_label(question, language)
    for kind, value in _answered_values(ChoiceKind(name), question.answer, choices).items():
        choices[kind] = Choice(
            kind=kind, value=value, origin=Origin.ANSWERED, quote=quote or _shown(value), reference=question.id
        )
    return replace(node, choices=_choices_json(choices))


def _option_label(question: Question, language: Language) -> str:
    """What the person picked, as it was shown; empty for an answer in their own words."""
    taken = (option for option in question.options if option.value == question.answer)
    return next((option.label.render(language) for option in taken), "")


def _answered_values(
    kind: ChoiceKind, answer: JsonValue, before: Mapping[ChoiceKind, Choice]
) -> dict[ChoiceKind, JsonValue]:
    """A capacity answer may carry another zone and type; one without them keeps the plan's."""
    if kind is not ChoiceKind.CAPACITY or not isinstance(answer, Mapping):
        return {kind: answer}
    kept = before[kind].value if kind in before else None
    values: dict[ChoiceKind, JsonValue] = {kind: _joined_capacity(kept, answer)}
    if answer.get("zone") is not None:
        values[ChoiceKind.AVAILABILITY_ZONE] = answer["zone"]
    if answer.get("type") is not None:
        values[ChoiceKind.INSTANCE_TYPE] = answer["type"]
    return values


def _merged(before: Choice | None, said: Choice) -> Choice:
    """A capacity said in parts over several messages keeps the parts that were not said again."""
    if before is None or said.kind is not ChoiceKind.CAPACITY or not isinstance(said.value, Mapping):
        return said
    value = _joined_capacity(before.value, said.value)
    is_whole = said.value.get("mode") is not None and said.value.get("count") is not None
    return replace(said, value=value, quote=said.quote if is_whole else f"{before.quote}{LATER}{said.quote}")


def _joined_capacity(before: JsonValue, after: JsonObject) -> dict[str, JsonValue]:
    old: JsonObject = before if isinstance(before, Mapping) else {}
    mode = after.get("mode") or old.get("mode")
    count = after.get("count") if after.get("count") is not None else old.get("count")
    keeps_plan = mode == CapacityMode.TRAINING_PLAN.value
    return {"mode": mode, "count": count, "plan": (after.get("plan") or old.get("plan")) if keeps_plan else None}


def _with_gpus(choices: Mapping[ChoiceKind, Choice], cited: Mapping[ChoiceKind, Candidate]) -> dict[ChoiceKind, Choice]:
    """`64 GPUs` of a chosen type with 8 each are 8 nodes; a number that does not divide stays open."""
    result = dict(choices)
    candidate, chosen_type = cited.get(ChoiceKind.CAPACITY), choices.get(ChoiceKind.INSTANCE_TYPE)
    capacity = choices.get(ChoiceKind.CAPACITY)
    gpus = candidate.facts.get("accelerators") if candidate else None
    if capacity is None or chosen_type is None or not isinstance(gpus, int) or not isinstance(capacity.value, Mapping):
        return result
    figures = find_instance_type(str(chosen_type.value))
    if figures is not None and figures.accelerators and gpus > 0 and gpus % figures.accelerators == 0:
        value = {**capacity.value, "count": gpus // figures.accelerators}
        result[ChoiceKind.CAPACITY] = replace(capacity, value=value)
    return result


def _is_bare(candidate: Candidate) -> bool:
    return bool(candidate.facts.get("is_bare"))


def _is_ambiguous(kind: ChoiceKind, said: Sequence[Candidate], rivals: int) -> bool:
    distinct = {digest(found.choice.value) for found in said if found.is_usable and found.choice.kind is kind}
    return len(distinct) > rivals


def _is_taken_back(choice: Choice, said: Sequence[Candidate]) -> bool:
    """`not usw2-az2`, or `az1 or az3`: the choice made before no longer stands."""
    for found in said:
        if found.choice.kind is not choice.kind or found.standing not in _TAKES_BACK:
            continue
        if found.standing is Standing.ALTERNATIVE or _agrees(found.choice.value, choice.value):
            return True
    return False


def _agrees(part: JsonValue, whole: JsonValue) -> bool:
    if isinstance(part, Mapping) and isinstance(whole, Mapping):
        return all(value is None or whole.get(key) == value for key, value in part.items())
    return part == whole


def _shown(value: JsonValue) -> str:
    if isinstance(value, Mapping):
        return ", ".join(str(item) for item in value.values() if item is not None)
    return str(value)


def _choices_json(choices: Mapping[ChoiceKind, Choice]) -> dict[str, JsonValue]:
    return {kind.value: choice.to_json() for kind, choice in choices.items()}


def _choice(value: JsonValue) -> Choice:
    if not isinstance(value, Mapping):
        raise ValueError(f"not a choice: {value!r}")
    return Choice(
        kind=ChoiceKind(str(value["kind"])),
        value=value["value"],
        origin=Origin(str(value["origin"])),
        quote=str(value["quote"]),
        reference=str(value["reference"]),
    )
