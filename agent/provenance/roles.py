"""What the words around a count are about: the capacity of a cluster, or the size of a job."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import pairwise

from agent.provenance.mentions import Role

_CUT = re.compile(
    r"[,，.;；。!！?？\n]|\b(?:and\s+)?then\b|\band\s+(?=(?:also\s+)?(?:run|submit|train|start|launch|create|add|mount|put|kick|fine|deploy|execute|a\s+\S+\s+job|an?\s+job|job))"
    r"|然后|接着|随后|之后|再(?=[\u4e00-\u9fff ])|并且?(?=[\u4e00-\u9fff ])"
)
_JOB = re.compile(
    r"\bjobs?\b|\brun(?:ning|s)?\b(?!\s+(?:in|out)\b)|\bsubmit\w*|\btrain\b|\bfine-?tun\w+|\bworkloads?\b|\bexperiments?\b|\bexecute\b"
    r"|任务|作业|跑|提交|微调|(?<!用于)(?<!用来)训练(?!计划|集群|用|平台)|运行"
)
_CLUSTER = re.compile(
    r"\bclusters?\b|\bcreat\w+|\bbuild\b|\bspin\b|\bprovision\w*|\bset\s*up\b|\bstand\s*up\b|\bbring\s*up\b|\badd\b|\bgrow\b|\bscale\b|\bexpand\b"
    r"|\bcapacity\b|\bgroups?\b|集群|创建|新建|建|搭|扩|加|组"
)
_JOB_NOUN_AFTER = re.compile(
    r"\s*(?:-?\s*nodes?|个?节点|台(?:机器)?)?\s*的?\s*(?:\w+\s+)?(?:jobs?\b|training\s+run|任务|作业|训练任务)"
)


def role_at(text: str, start: int, end: int) -> Role:
    """The role of the count at `text[start:end]` (normalised).

    The head word of its part of the sentence decides; a part without one goes on with what came before.
    """
    if _JOB_NOUN_AFTER.match(text, end):
        return Role.JOB
    parts = _parts(text)
    place = next((number for number, (low, high) in enumerate(parts) if low <= start < high), len(parts) - 1)
    for low, high in reversed(parts[: place + 1]):
        if role := _head_role(text[low:high], start - low if low <= start < high else None):
            return role
    return Role.CAPACITY


@lru_cache(maxsize=4)
def _parts(text: str) -> tuple[tuple[int, int], ...]:
    edges = [0, *(match.start() for match in _CUT.finditer(text)), len(text)]
    return tuple(pairwise(edges))


def _head_role(part: str, position: int | None) -> Role | None:
    """The first cue wins, except that a job noun right before the count outweighs a verb further away."""
    job, cluster = _JOB.search(part), _CLUSTER.search(part)
    if (
        position is not None
        and re.search(r"(?:\bjobs?\b|任务|作业)[^,，]{0,30}$", part[:position])
        and not re.search(r"(?:\bcluster\b|集群)[^,，]{0,30}$", part[:position])
    ):
        return Role.JOB
    if job and (not cluster or job.start() < cluster.start()):
        return Role.JOB
    return Role.CAPACITY if cluster else None
