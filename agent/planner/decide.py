"""One answer of the planner: proposals for what was asked, a correction of the open plan, looks, or a short text."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from agent.answers import verdict
from agent.planner.entities import Entities, find_entities, target_name
from agent.planner.fill import arguments
from agent.planner.grammar import ALONGSIDE, Goal, extras, goals, is_correction, is_question, wished_cluster
from agent.planner.lexicon import Noun, Verb, find_nouns
from agent.planner.looking import looks, tell
from agent.planner.memory import last_cluster, last_job
from agent.planner.wire import CHOICE_KINDS, Answer, Citation, PlanStep, Request, Tool
from agent.provenance.text import normalise
from core.json_value import JsonObject, JsonValue
from core.messages.message import Language, message
from core.questions import REJECT

_PROPOSE = "propose_"
_WITHDRAW = "withdraw_plan"
_REPLACES = "replaces"
_ANOTHER = re.compile(
    r"\banother\b|\bsecond\b|\badditional(?!\s+nodes?)|\balso\s+(?:a|an|one)\b"
    r"|另一个|另外一个|再(?:建|来|要|创建)一个|第二个"
)
_DROP_OBJECT = (
    r"(?:it|that|this|everything|(?:about\s+)?(?:it|that|(?:the|this|that)\s+(?:whole\s+)?(?:plan|request|thing)))"
)
_DROP = re.compile(
    rf"^\s*(?:please\s+)?(?:cancel|forget|drop|withdraw|scrap|discard|abandon|stop)(?:\s+{_DROP_OBJECT})?"
    r"(?:\s+please)?\s*[.!]?\s*$"
    r"|\b(?:never\s+mind|nevermind|forget\s+(?:about\s+)?(?:it|that|the\s+plan)|cancel\s+(?:the|this|that)\s+(?:plan|request))\b"
    r"|算了|不做了|不用了|撤回|作废|取消(?:这个)?(?:计划|请求)?\s*(?:吧|了)?\s*[。!]?\s*$"
)
_HELP = re.compile(
    r"\bwhat\s+can\s+(?:you|i|we)\b|\bwhat(?:['’]?s|\s+is|\s+are)\s+(?:this|you|muster)\b|\bwho\s+are\s+you\b"
    r"|你是谁|这是什么|^\s*/?help\s*[.!?]*\s*$|你(?:能|会|可以)(?:做|干|帮)[^,，。]{0,6}什么|^\s*帮助\s*$"
)
_NEGATED = re.compile(r"\bnot\b|n't\b|\bexcept\b|\banywhere\b|\bno\b|不|别|除了")


@dataclass(frozen=True, slots=True)
class _Part:
    """A goal with what its own words name and which choices stand in them."""

    goal: Goal
    entities: Entities
    citations: tuple[Citation, ...]


def decide(request: Request) -> Answer:
    """The same request always gets the same answer."""
    if request.results:
        return _after_results(request)
    text = normalise(request.user_text)
    said = verdict(text)
    if request.has_open_plan and _WITHDRAW in request.tools and (_DROP.search(text) or said == REJECT):
        return Answer(calls=((_WITHDRAW, {}),))
    if not request.has_open_plan and (said is not None or _DROP.search(text)) and not goals(text):
        return Answer(text=message("planner.nothing_open").render(request.language))
    parts = _parts_of(request, text)
    if parts:
        return _propose(request, text, parts)
    if _HELP.search(text):
        return _help(request)
    if is_question(text) and not (request.open_steps and is_correction(text)):
        calls = tuple(looks(request))
        return Answer(calls=calls) if calls else _help(request)
    return _correct(request, text) or _help(request)


def _after_results(request: Request) -> Answer:
    """Looks are told. A proposal comes back only when something was wrong with it: trying again would be the same."""
    if all("untrusted_output_of" in result or "error" in result for result in request.results):
        return Answer(text=tell(request))
    return Answer(text=message("planner.stuck").render(request.language))


def _parts_of(request: Request, text: str) -> list[_Part]:
    found = goals(text)
    if not found and not request.has_open_plan and request.citations and (wish := wished_cluster(text)) is not None:
        found = [wish]
    if request.open_steps and is_correction(text):
        found = [goal for goal in found if (goal.operation, goal.noun) != ("create_cluster", Noun.NODES)]
    original = request.user_text
    with_choices = [goal for goal in found if _takes_choices(request.tools.get(_PROPOSE + goal.operation))]
    parts = []
    for goal in found:
        own = [
            citation
            for citation in request.citations
            if not citation.is_bare and (len(with_choices) == 1 or goal.start <= citation.position < goal.end)
        ]
        entities = find_entities(text[goal.start : goal.end], original[goal.start : goal.end])
        parts.append(_Part(goal, entities, tuple(own)))
    return parts


def _propose(request: Request, text: str, parts: Sequence[_Part]) -> Answer:
    calls: list[tuple[str, JsonObject]] = []
    unsupported: list[str] = []
    created: str | None = None
    for part in parts:
        tool = request.tools.get(_PROPOSE + part.goal.operation)
        if tool is None:
            unsupported.append(part.goal.operation)
            continue
        if part.goal.operation == "create_cluster":
            created = part.entities.name or part.entities.cluster
        cluster = _target_cluster(request, text, part, created)
        given = arguments(
            tool, part.goal.operation, _with_job(request, part), cluster=cluster, citations=part.citations
        )
        given[_REPLACES] = _replaced(request, text, part, tool)
        calls.append((tool.name, given))
        calls += _alongside(request, text, part, created)
    if calls:
        return Answer(calls=tuple(calls))
    what = _listed(unsupported, request)
    return Answer(text=message("planner.unsupported", what=what).render(request.language))


def _alongside(request: Request, text: str, part: _Part, created: str | None) -> list[tuple[str, JsonObject]]:
    """`a cluster with Lustre on /fsx and resilience`: one call more for each, on the new cluster."""
    calls: list[tuple[str, JsonObject]] = []
    for noun in extras(text, part.goal):
        tool = request.tools.get(_PROPOSE + ALONGSIDE[noun])
        if tool is not None:
            given = arguments(tool, ALONGSIDE[noun], part.entities, cluster=created, citations=())
            calls.append((tool.name, given))
    return calls


def _target_cluster(request: Request, text: str, part: _Part, created: str | None) -> str | None:
    entities, goal = part.entities, part.goal
    if goal.operation == "create_cluster":
        return None
    if goal.noun is Noun.CLUSTER and entities.name is not None:
        return entities.name
    if entities.cluster is not None:
        return entities.cluster
    named = entities.place or entities.owner
    if named is not None and named not in {entities.name, entities.job}:
        return named
    if created is not None:
        return created
    if goal.noun is Noun.CLUSTER and (target := target_name(text[goal.start : goal.end], _stretch(request, goal))):
        return target
    return last_cluster(request) if entities.refers_back or _is_said_again(request, goal) else None


def _is_said_again(request: Request, goal: Goal) -> bool:
    """`Yes, delete`: an open deletion said once more, without its target."""
    return goal.verb is Verb.DELETE and any(step.operation == goal.operation for step in request.open_steps)


def _with_job(request: Request, part: _Part) -> Entities:
    """`stop it`: the job of which was spoken."""
    entities = part.entities
    if (
        part.goal.operation != "submit_job"
        and part.goal.noun is Noun.JOB
        and entities.job is None
        and entities.name is None
    ):
        return replace(entities, job=last_job(request) if entities.refers_back else None)
    return entities


def _replaced(request: Request, text: str, part: _Part, tool: Tool) -> str | None:
    """The open step that this goal restates: the same operation, and nothing says that another one is meant."""
    on_offer = tool.allows(_REPLACES)
    steps = [step for step in request.open_steps if step.id in on_offer]
    if not steps or _ANOTHER.search(text):
        return None
    named = part.entities.name
    same = [step for step in steps if named is None or str(step.params.get("name", named)).lower() == named.lower()]
    if same:
        return same[-1].id
    return steps[-1].id if is_correction(text) else None


def _correct(request: Request, text: str) -> Answer | None:
    """A message without a goal of its own while a plan is open: what it names replaces what the plan has."""
    if not request.open_steps:
        return None
    entities = find_entities(text, request.user_text)
    step = _corrected_step(request, text, entities)
    tool = request.tools.get(_PROPOSE + step.operation)
    if tool is None or step.id not in tool.allows(_REPLACES):
        return None
    cluster = entities.cluster or entities.place if step.operation != "create_cluster" else None
    given = arguments(tool, step.operation, entities, cluster=cluster, citations=request.citations)
    if not _takes_choices(tool) and given.get("nodes", 0) is None:
        given["nodes"] = _bare_count(request)
    if not any(value is not None for value in given.values()) and not _NEGATED.search(text):
        return None
    given[_REPLACES] = step.id
    return Answer(calls=((tool.name, given),))


def _corrected_step(request: Request, text: str, entities: Entities) -> PlanStep:
    """The step that takes what was said: choices go to the one with choices, talk of a job to the job's."""
    about_job = any(hit.noun is Noun.JOB for hit in find_nouns(text))
    for step in reversed(request.open_steps):
        if about_job and step.operation.endswith("_job"):
            return step
    if not about_job:
        for step in request.open_steps:
            if _takes_choices(request.tools.get(_PROPOSE + step.operation)):
                return step
    return request.open_steps[-1]


def _bare_count(request: Request) -> JsonValue:
    counts: list[JsonValue] = [
        citation.value.get("count") for citation in request.citations if isinstance(citation.value, dict)
    ]
    return next((count for count in counts if count is not None), None)


def _takes_choices(tool: Tool | None) -> bool:
    return tool is not None and bool(CHOICE_KINDS & tool.properties.keys())


def _stretch(request: Request, goal: Goal) -> str:
    return request.user_text[goal.start : goal.end]


def _help(request: Request) -> Answer:
    known = sorted(name.removeprefix(_PROPOSE) for name in request.tools if name.startswith(_PROPOSE))
    what = _listed([name for name in known if name in _LABELLED], request)
    return Answer(text=message("planner.help", what=what).render(request.language))


def _listed(operations: Sequence[str], request: Request) -> str:
    """In the person's language; an operation that has no label there goes by its name."""
    labels = [
        message(f"planner.can_{name}").render(request.language) if name in _LABELLED else name.replace("_", " ")
        for name in operations
    ]
    return ("、" if request.language is Language.CHINESE else ", ").join(labels)


_LABELLED = frozenset(
    {
        "create_cluster",
        "submit_job",
        "delete_cluster",
        "add_capacity",
        "remove_capacity",
        "mount_storage",
        "stop_job",
        "resume_job",
        "resize_job",
        "replace_node",
        "reboot_node",
        "enable_resilience",
        "deep_health_check",
        "update_software",
        "set_governance",
        "adopt_cluster",
        "enable_observability",
    }
)
