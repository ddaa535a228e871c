"""Questions about the state: which read tools to use, and how their results are told in the person's language."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Final

from agent.planner.entities import find_entities, target_name
from agent.planner.lexicon import Noun, find_nouns
from agent.planner.memory import last_cluster, last_job
from agent.planner.wire import Request, Tool, as_list, as_object
from agent.provenance.text import normalise
from core.json_value import JsonObject, JsonValue
from core.messages.catalogue import TEXTS
from core.messages.message import Language, message

MAX_ITEMS: Final = 15
MAX_FIELDS: Final = 9
_TOOLS: Final[tuple[tuple[frozenset[Noun], tuple[str, ...]], ...]] = (
    (frozenset({Noun.LOG}), ("job_logs", "logs")),
    (frozenset({Noun.QUESTION}), ("list_questions",)),
    (frozenset({Noun.RUN}), ("list_runs",)),
    (frozenset({Noun.QUOTA, Noun.TEAM}), ("describe_governance", "list_quotas", "describe_cluster")),
    (frozenset({Noun.JOB}), ("list_jobs", "describe_job")),
    (frozenset({Noun.EVENT}), ("list_events", "list_runs")),
    (frozenset({Noun.STORAGE}), ("list_file_systems", "describe_cluster")),
    (frozenset({Noun.NODES, Noun.GROUP, Noun.SOFTWARE}), ("list_nodes", "describe_cluster", "list_clusters")),
)
"""Nouns of a question -> the tools that know about them, the best first."""
_WHY: Final = re.compile(
    r"\bwhy\b|\bwhat\s+(?:happened|went\s+wrong|is\s+wrong)\b|\bcause\b|为什么|为何|怎么回事|怎么了|出了什么|原因"
)
_WHY_TOOLS: Final = ("explain_job", "list_incidents", "list_jobs", "list_events", "list_runs")
_WAITS: Final = re.compile(
    r"\b(?:pending|queued|waiting|stuck|suspended|preempted|evicted|training)\b|排队|等待|挂起|被抢占|卡住"
)
_RUNNING: Final = re.compile(r"\brunning\b|\bgoing\s+on\b|在跑|在运行|正在|在忙")
_HOW_MANY: Final = re.compile(r"\bhow\s+many\b|\bcount\b|\bnumber\s+of\b|多少|几个|几台|有几")
_TELLING: Final = ("name", "status", "state", "reason", "message", "why")


def looks(request: Request) -> list[tuple[str, JsonObject]]:
    """The read tools to use for the person's question, with their arguments; none if none fits."""
    original = request.user_text
    text = normalise(original)
    names = [name for name in _wanted(text) if name in request.tools]
    if not _WHY.search(text) and not _RUNNING.search(text):
        names = names[:1]
    target = target_name(text, original)
    entities = find_entities(text, original)
    if not names:
        cluster_known = "describe_cluster" in request.tools and (target is not None or entities.refers_back)
        names = ["describe_cluster" if cluster_known else "list_clusters"]
    if "describe_cluster" in names and target is None and last_cluster(request) is None:
        names = ["list_clusters"]
    return [(name, _arguments(request.tools[name], request, text, original)) for name in names if name in request.tools]


def tell(request: Request) -> str:
    """The answer from the results at hand."""
    text = normalise(request.user_text)
    target = target_name(text, request.user_text)
    parts = [_told(result, target, bool(_HOW_MANY.search(text)), request.language) for result in request.results]
    return "\n".join(part for part in parts if part) or message("planner.nothing_found").render(request.language)


def _wanted(text: str) -> Sequence[str]:
    nouns = {hit.noun for hit in find_nouns(text)}
    if _WHY.search(text):
        return _WHY_TOOLS
    for kinds, tools in _TOOLS:
        if kinds & nouns:
            return tools
    return ("list_jobs", "list_runs") if _RUNNING.search(text) and Noun.CLUSTER not in nouns else ()


def _arguments(tool: Tool, request: Request, text: str, original: str) -> JsonObject:
    entities, target = find_entities(text, original), target_name(text, original)
    about_job = any(hit.noun in {Noun.JOB, Noun.LOG} for hit in find_nouns(text)) or _WAITS.search(text) is not None
    cluster = entities.cluster or entities.place
    job = entities.job or (target if about_job and target != cluster else None)
    if tool.name == "describe_cluster":
        cluster = cluster or target
    given: dict[str, JsonValue] = dict.fromkeys(tool.properties)
    for name in ("cluster", "cluster_name"):
        if name in given:
            given[name] = cluster or (last_cluster(request) if tool.name != "list_runs" else None)
    for name in ("job", "job_name"):
        if name in given:
            given[name] = job or last_job(request)
    if "team" in given:
        given["team"] = entities.team
    return given


def _told(result: JsonObject, target: str | None, counts: bool, language: Language) -> str:
    if "error" in result:
        return str(result["error"])
    tool = str(result.get("untrusted_output_of", ""))
    items = _items(result.get("data"))
    if target is not None and any(_mentions(item, target) for item in items):
        items = [item for item in items if _mentions(item, target)]
    if not items:
        return message("planner.none_of", what=_label(tool, language)).render(language)
    lines = [_line(item, language) for item in items[:MAX_ITEMS]]
    if len(items) > MAX_ITEMS:
        lines.append(message("planner.and_more", count=len(items) - MAX_ITEMS).render(language))
    head = message("planner.count", count=len(items), what=_label(tool, language)).render(language)
    return "\n".join([head, *lines]) if counts or len(items) > 1 else "\n".join(lines)


def _items(data: JsonValue) -> list[JsonValue]:
    """The list inside `{"clusters": [...]}`, a bare list, or the one thing itself."""
    if isinstance(data, Mapping):
        lists = [value for value in data.values() if isinstance(value, Sequence) and not isinstance(value, str)]
        if len(lists) == 1 and len(data) <= 2:
            return list(lists[0])
        return [data] if data else []
    if isinstance(data, str):
        return [data] if data.strip() else []
    return list(as_list(data))


def _mentions(item: JsonValue, target: str) -> bool:
    if isinstance(item, Mapping):
        return any(str(value).lower() == target.lower() for value in item.values())
    return isinstance(item, str) and target.lower() in item.lower()


def _line(item: JsonValue, language: Language) -> str:
    if not isinstance(item, Mapping):
        return f"- {item}"
    fields = {key: value for key, value in item.items() if value not in (None, "", [], {})}
    order = sorted(fields, key=lambda key: _TELLING.index(key) if key in _TELLING else len(_TELLING))
    name = fields.get("name")
    shown = [f"{_label(key, language)}: {_value(fields[key], language)}" for key in order[:MAX_FIELDS] if key != "name"]
    return f"- {name}: {'; '.join(shown)}" if name is not None else f"- {'; '.join(shown)}"


def _value(value: JsonValue, language: Language) -> str:
    if isinstance(value, bool):
        return message("general.yes" if value else "general.no").render(language)
    if isinstance(value, Mapping):
        return ", ".join(f"{_label(key, language)} {_value(item, language)}" for key, item in as_object(value).items())
    if isinstance(value, Sequence) and not isinstance(value, str):
        return ", ".join(_value(item, language) for item in list(value)[:MAX_ITEMS])
    return str(value)


def _label(key: str, language: Language) -> str:
    text = TEXTS[language].get(f"planner.label_{key}")
    return text if text is not None else key.replace("_", " ")
