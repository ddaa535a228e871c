"""From a message to goals: which operation each part of the sentence asks for, and where that part stands."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from agent.planner.lexicon import Noun, NounHit, Verb, VerbHit, find_nouns, find_verbs

OPERATIONS: Final[Mapping[tuple[Verb, Noun], str]] = {
    (Verb.CREATE, Noun.CLUSTER): "create_cluster",
    (Verb.START, Noun.CLUSTER): "create_cluster",
    (Verb.CREATE, Noun.NODES): "create_cluster",
    (Verb.DELETE, Noun.CLUSTER): "delete_cluster",
    (Verb.REMOVE, Noun.CLUSTER): "delete_cluster",
    (Verb.ADOPT, Noun.CLUSTER): "adopt_cluster",
    (Verb.RUN, Noun.JOB): "submit_job",
    (Verb.START, Noun.JOB): "submit_job",
    (Verb.CREATE, Noun.JOB): "submit_job",
    (Verb.ADD, Noun.NODES): "add_capacity",
    (Verb.ADD, Noun.CLUSTER): "add_capacity",
    (Verb.ADD, Noun.GROUP): "add_capacity",
    (Verb.REMOVE, Noun.NODES): "remove_capacity",
    (Verb.REMOVE, Noun.GROUP): "remove_capacity",
    (Verb.DELETE, Noun.NODES): "remove_capacity",
    (Verb.DELETE, Noun.GROUP): "remove_capacity",
    (Verb.MOUNT, Noun.STORAGE): "mount_storage",
    (Verb.CREATE, Noun.STORAGE): "mount_storage",
    (Verb.ADD, Noun.STORAGE): "mount_storage",
    (Verb.STOP, Noun.JOB): "stop_job",
    (Verb.DELETE, Noun.JOB): "stop_job",
    (Verb.RESUME, Noun.JOB): "resume_job",
    (Verb.RESIZE, Noun.JOB): "resize_job",
    (Verb.REPLACE, Noun.NODES): "replace_node",
    (Verb.REBOOT, Noun.NODES): "reboot_node",
    (Verb.CHECK, Noun.NODES): "deep_health_check",
    (Verb.CHECK, Noun.CLUSTER): "deep_health_check",
    (Verb.UPDATE, Noun.SOFTWARE): "update_software",
    (Verb.UPDATE, Noun.CLUSTER): "update_software",
    (Verb.ENABLE, Noun.RESILIENCE): "enable_resilience",
    (Verb.SET, Noun.RESILIENCE): "enable_resilience",
    (Verb.ENABLE, Noun.OBSERVABILITY): "enable_observability",
    (Verb.CREATE, Noun.OBSERVABILITY): "enable_observability",
    (Verb.SET, Noun.QUOTA): "set_governance",
    (Verb.SET, Noun.TEAM): "set_governance",
}
"""What is done to what -> operation, by its name without `propose_`."""

BY_VERB_ALONE: Final[Mapping[Verb, Noun]] = {
    Verb.RUN: Noun.JOB,
    Verb.MOUNT: Noun.STORAGE,
    Verb.REBOOT: Noun.NODES,
    Verb.REPLACE: Noun.NODES,
    Verb.ADD: Noun.NODES,
    Verb.RESUME: Noun.JOB,
    Verb.CHECK: Noun.CLUSTER,
    Verb.DELETE: Noun.CLUSTER,
    Verb.STOP: Noun.JOB,
    Verb.RESIZE: Noun.JOB,
}
"""The object that goes without saying."""

ALONGSIDE: Final[Mapping[Noun, str]] = {
    Noun.STORAGE: "mount_storage",
    Noun.RESILIENCE: "enable_resilience",
    Noun.OBSERVABILITY: "enable_observability",
}
"""Things that a new cluster may be wished with: `a cluster with Lustre on /fsx`."""

MOST_PARTS: Final = 60
"""Parts of a message that are read for goals: nobody's wish has more."""
_SEPARATOR = re.compile(
    r"[.;!?\n。；！？]+(?=\s|$|[^\x00-\x7f])|[,，、]\s*|\band\s+then\b|\bthen\b|\band\b|\bafter\s+that\b|\bplus\b"
    r"|然后|接着|随后|之后|并且|以及|同时|另外|(?<![要用别必不])再|并(?=[\u4e00-\u9fff])"
)
_SENTENCE_END = re.compile(r"[.;!?\n。；！？](?=\s|$|[^\x00-\x7f])")
_PHRASE_END = re.compile(
    r"\b(?:with|in|on|for|of|using|named|called|that|to|from|at|by|via|as|which|where|across|so)\b|[,，。;；:：]|在|用|叫|名为|放|给"
)
_PURPOSE = re.compile(
    r"(?:\bto|\bfor|\bthat\s+(?:can|will)|\bwhich\s+(?:can|will)|\bcan|用来|用于|用以|以便|供|来)\s*$"
)
_WISH = re.compile(
    r"(?:\b(?:want|need|like|you|us|going|have|ready|time|able|please|try|wish|plan)\s+to|\b(?:can|could|would|will)\s+(?:you|we|i)(?:\s+please)?"
    r"|\bhow\s+about|接下来|请|帮我|帮忙|我想|想要|要)\s*$"
)
_NEGATED = re.compile(
    r"(?:\b(?:don't|do\s+not|never|not|without|no\s+need\s+to|shouldn't)\s*(?:\w+\s+)?"
    r"|(?:不要|别(?!的)|不用|不必|不需要|无需|勿|先不)\s*(?:[\u4e00-\u9fff]{0,4}|\w+)\s*)$"
)
_JOB_PHRASE = re.compile(
    r"[\s,，、]*(?:and|plus|with|以及|和|加上|再加)?\s*(?:the|an?|our|my|one|一个)?\s*(?:[\w-]+\s+){0,2}?(?:jobs?\b|示例任务|训练任务|任务|作业)"
)
_CORRECTION = re.compile(
    r"^\s*(?:no|nope|actually|wait|sorry|hm+|oh)\b|\binstead\b|\brather\b|\bchange\b|\bmake\s+(?:it|that|them)\b|\bi\s+mean\b|\bshould\s+be\b"
    r"|^\s*(?:不|等等|抱歉)|改成|改为|换成|改一下|应该是|还是用"
)
_NEGATION = re.compile(r"\bnot\b|n't\b|\bno\b|不|别")
_HOW_TO = re.compile(r"^\s*(?:how\s+(?:do|can|should|would|to)|what\s+happens|should\s+i|when\s+should|怎么|如何|怎样)")
_QUESTION_WORD = re.compile(
    r"\b(?:why|what|when|which|who|where|how\s+(?:many|much|long|far|is|are|did|does))\b|什么|为什么|为何|原因|多少|哪个|哪些|几个|几台"
)
_ASKS_ZH = re.compile(
    r"到哪(?:一?步|儿|里|了)|怎么样|怎样了|什么(?:任务|作业|集群|节点|状态|情况|进度|原因|问题)|(?:完|好|成功)了?没有?$"
)
"""Chinese asks without a question mark too, and in words that no order has."""
_PRONOUN_ONE = re.compile(r"\s*(?:an?other\s+|a\s+new\s+)?one\b|\s*(?:另)?一个(?=[,，。]|叫|名|$)")
_PAST_OR_BEING = re.compile(
    r"(?:\b(?:was|were|is|are|been|being|did|does|why\s+did|has|had|the)\s+(?:it\s+|\S+\s+)?|正在|已经|为什么.{0,12}|怎么.{0,8})$"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """`text[start:end]` (of the normalised message) is the part of the sentence that asks for it."""

    operation: str
    start: int
    end: int
    verb: Verb
    noun: Noun


def goals(text: str) -> list[Goal]:
    """The operations that a normalised message asks for, in its order; none for a question about the state."""
    found: list[Goal] = []
    for start, end in _parts(text):
        goal = _goal_of(text, start, end) or _job_beside_cluster(text, start, end, found)
        if goal is not None:
            found.append(goal)
        elif found:
            found[-1] = _longer(found[-1], end)
    return _with_leading_text(_one_creation(_without_mere_purpose(text, found)))


def wished_cluster(text: str) -> Goal | None:
    """`We should use usw2-az2 for a new cluster with 4 nodes`: a cluster described, without a verb that makes it."""
    is_described = any(hit.noun is Noun.CLUSTER for hit in find_nouns(text)) and not find_verbs(text)
    if not is_described or is_question(text) or _NEGATION.search(text):
        return None
    return Goal(operation="create_cluster", start=0, end=len(text), verb=Verb.CREATE, noun=Noun.CLUSTER)


def is_correction(text: str) -> bool:
    """Whether a normalised message says that it changes what was said before (`no`, `instead`, 改成)."""
    return _CORRECTION.search(text) is not None


def states_goal(text: str, operation: str) -> bool:
    """Whether a normalised message asks for the operation by itself, as a first message would, and corrects nothing."""
    return not is_correction(text) and any(goal.operation == operation for goal in goals(text))


def is_question(text: str) -> bool:
    """Whether the message wants to know something rather than have something done."""
    return (
        any(hit.verb is Verb.SHOW for hit in find_verbs(text))
        or bool(_ASKS_ZH.search(text))
        or bool(re.search(r"[?？]\s*$|吗\s*$|呢\s*$", text))
    )


def extras(text: str, goal: Goal) -> list[Noun]:
    """What else the new cluster of this goal shall have."""
    if goal.operation != "create_cluster":
        return []
    found = [hit.noun for hit in find_nouns(text[goal.start : goal.end]) if hit.noun in ALONGSIDE]
    return list(dict.fromkeys(found))


def _parts(text: str) -> list[tuple[int, int]]:
    edges = sorted({0, *(match.start() for match in _SEPARATOR.finditer(text)), len(text)})
    found = [(low, high) for low, high in pairwise(edges) if text[low:high].strip()]
    return found[:MOST_PARTS]


def _goal_of(text: str, start: int, end: int) -> Goal | None:
    part = text[start:end]
    sentence = text[_sentence_start(text, start) : _sentence_end(text, end)]
    if _HOW_TO.match(sentence) or _wants_to_know(sentence):
        return None
    for hit in find_verbs(part):
        if hit.verb is Verb.SHOW:
            if hit.start < 12 or re.search(r"[?？吗呢]\s*$", sentence):
                return None
            continue
        if not _is_wish(part, hit):
            continue
        noun = _object_of(part, hit)
        operation = OPERATIONS.get((hit.verb, noun)) if noun is not None else None
        if operation is not None and noun is not None:
            return Goal(operation=operation, start=start, end=end, verb=hit.verb, noun=noun)
    return None


def _wants_to_know(sentence: str) -> bool:
    """A question with a question word is no order in disguise, unlike `can you create ...?`."""
    if _ASKS_ZH.search(sentence):
        return True
    return _QUESTION_WORD.search(sentence) is not None and re.search(r"[?？]\s*$", sentence) is not None


def _job_beside_cluster(text: str, start: int, end: int, found: list[Goal]) -> Goal | None:
    """`a cluster with Lustre, and the sample job on 2 nodes`: a job named beside the cluster is to run on it."""
    if not found or found[-1].operation != "create_cluster" or find_verbs(text[start:end]):
        return None
    if not _JOB_PHRASE.match(text[start:end]):
        return None
    return Goal(operation="submit_job", start=start, end=end, verb=Verb.RUN, noun=Noun.JOB)


def _is_wish(part: str, hit: VerbHit) -> bool:
    """Not a purpose (`a cluster to run jobs`), not a negation, not a report (`was it started`)."""
    before = part[: hit.start]
    if _NEGATED.search(before):
        return False
    if _WISH.search(before):
        return True
    is_purpose = _PURPOSE.search(before) and any(other.verb is not Verb.SHOW for other in find_verbs(before))
    return not (is_purpose or _PAST_OR_BEING.search(before))


def _object_of(part: str, hit: VerbHit) -> Noun | None:
    """The head of the phrase behind the verb; else the first noun behind it; else one before it (把 … 删掉)."""
    nouns = find_nouns(part)
    behind = [noun for noun in nouns if noun.start >= hit.end]
    next_verb = next((verb.start for verb in find_verbs(part) if verb.start >= hit.end), len(part))
    behind = [noun for noun in behind if noun.start < next_verb] or behind
    phrase_end = _PHRASE_END.search(part, hit.end)
    phrase = [noun for noun in behind if phrase_end is None or noun.start < phrase_end.start()]
    for candidates in (phrase[-1:], behind[:1], _before(nouns, hit)):
        for noun in candidates:
            if (hit.verb, noun.noun) in OPERATIONS:
                return noun.noun
    if any((hit.verb, noun.noun) in OPERATIONS for noun in nouns):
        return next(noun.noun for noun in nouns if (hit.verb, noun.noun) in OPERATIONS)
    if hit.verb is Verb.CREATE and _PRONOUN_ONE.match(part, hit.end):
        return Noun.CLUSTER
    if hit.verb is Verb.DELETE and nouns:
        return None  # `delete the logs`: something is named, and it is nothing that goes without saying
    return BY_VERB_ALONE.get(hit.verb)


def _before(nouns: list[NounHit], hit: VerbHit) -> list[NounHit]:
    return [noun for noun in nouns if noun.end <= hit.start][-1:]


def _sentence_start(text: str, position: int) -> int:
    ends = [match.end() for match in _SENTENCE_END.finditer(text, 0, position)]
    return ends[-1] if ends else 0


def _sentence_end(text: str, position: int) -> int:
    match = _SENTENCE_END.search(text, max(0, position - 1))
    return match.end() if match else len(text)


def _longer(goal: Goal, end: int) -> Goal:
    return Goal(operation=goal.operation, start=goal.start, end=end, verb=goal.verb, noun=goal.noun)


def _without_mere_purpose(text: str, found: list[Goal]) -> list[Goal]:
    """`I want to train a 7B model, please build the cluster for it`: what the cluster is for is no job yet."""
    kept: list[Goal] = []
    for place, goal in enumerate(found):
        later = [other.operation for other in found[place + 1 :]]
        is_plain_train = goal.operation == "submit_job" and not _names_a_job(text[goal.start : goal.end])
        if not (is_plain_train and "create_cluster" in later):
            kept.append(goal)
    return kept


def _one_creation(found: list[Goal]) -> list[Goal]:
    """`I need 64 H100, please build a cluster`: the machines are those of the cluster, not another one."""
    makes_cluster = any(goal.operation == "create_cluster" and goal.noun is Noun.CLUSTER for goal in found)
    kept: list[Goal] = []
    for goal in found:
        if not (makes_cluster and goal.operation == "create_cluster" and goal.noun is Noun.NODES):
            kept.append(goal)
        elif kept and kept[-1].operation == "create_cluster":
            kept[-1] = _longer(kept[-1], goal.end)
    return kept


def _names_a_job(part: str) -> bool:
    return re.search(r"\bjobs?\b|\bscript\b|\bsample\b|\bexample\b|任务|作业|示例|脚本", part) is not None


def _with_leading_text(found: list[Goal]) -> list[Goal]:
    """What stands before the first goal belongs to it (`In usw2-az2, create ...`)."""
    if not found or found[0].start == 0:
        return found
    first = found[0]
    return [Goal(operation=first.operation, start=0, end=first.end, verb=first.verb, noun=first.noun), *found[1:]]
