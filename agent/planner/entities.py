"""Names, numbers and places in one part of a sentence, each found by the words around it, not by a list of names."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from agent.provenance.counts import numbers
from agent.provenance.mentions import Unit
from agent.words import words

_TOKEN: Final = r"(?<![a-z0-9_-])[a-z0-9][a-z0-9_-]*(?![a-z0-9_-])"
_QUOTE: Final = r"[\"'“”‘’`「」『』]?"
_NAMED = re.compile(
    rf"(?:\b(?:called|named|name\s+it|call\s+it|name\s+(?:is|of|it|(?:should|shall|must|will)\s+be)|with\s+(?:the\s+)?name|by\s+the\s+name(?:\s+of)?|titled|dubbed|as|rename\s+it(?:\s+to)?)\b"
    rf"|\bname\s*[:=]|名字\s*(?:就)?(?:叫做?|是|为|[:：])?|名\s*(?:叫|为|[:：])|名称\s*(?:是|为|[:：])?|叫做|叫|名为|命名为|取名|起名)\s*(?:为|作)?\s*[:：]?\s*{_QUOTE}(?P<name>{_TOKEN}|[^\s,，。;；\"'“”]{{1,40}}?(?=的|[,，。;；\"'“”]|\s|$)){_QUOTE}"
)
_CLUSTER_AFTER = re.compile(
    rf"(?:\bcluster\b|集群)\s*(?:named|called|叫做?|名为)?\s*{_QUOTE}(?P<name>{_TOKEN}){_QUOTE}"
)
_CLUSTER_AFTER_ZH = re.compile(
    # No English adjective follows 集群: what stands there is a name, whatever it means elsewhere (把集群 old 删掉).
    rf"集群\s*(?P<name>(?!(?:eks|slurm|hyperpod|gpu|cpu|efa|nccl|fsx|lustre|s3)\b){_TOKEN})"
    r"(?=\s*(?:[\u4e00-\u9fff，。？！]|$))"
)
_CREATED = re.compile(
    rf"(?:\b(?:create|build|launch|set\s*up|spin\s*up|make|deploy|provision)|创建|新建|建立|搭建|建)\s*[\"'“‘`「](?P<name>{_TOKEN})[\"'”’`」]"
)
_NAME_AT_END = re.compile(rf"\bname\s+(?P<name>{_TOKEN})\s*(?=[.,;]|$)")
_CLUSTER_BEFORE = re.compile(
    rf"{_QUOTE}(?P<name>{_TOKEN}){_QUOTE}\s*(?:(?:'s)?\s*(?:eks|slurm|hyperpod|training)?\s*\bclusters?\b|这个集群|集群)"
)
_JOB_AFTER = re.compile(rf"(?:\bjobs?|任务|作业)\s*{_QUOTE}(?P<name>{_TOKEN}){_QUOTE}")
_JOB_BEFORE = re.compile(rf"{_QUOTE}(?P<name>{_TOKEN}){_QUOTE}\s*(?:\bjobs?\b|这个任务|任务|作业|训练任务)")
_TRAINED = re.compile(
    rf"(?:\b(?:train|fine-?tune|pretrain|stop|cancel|resume|kill|restart|run|submit)|训练|微调|停掉|停止|恢复|继续|跑|提交)\s*(?:the\s+)?{_QUOTE}(?P<name>{_TOKEN}){_QUOTE}"
)
_PLACE = re.compile(
    rf"(?:\b(?:on|onto|in|into|to|from|at|against|inside|within)\s+(?:the\s+|our\s+|my\s+)?|(?:在|到|给|从|往|于|对|用|把)\s*){_QUOTE}(?P<name>{_TOKEN}){_QUOTE}(?!\s*(?:nodes?|gpus?|instances?|machines?|台|个|节点|卡|jobs?\b|任务|teams?\b|projects?\b|团队|项目))"
)
_OWNER = re.compile(
    rf"\b(?:of|for)\s+(?:the\s+|our\s+|my\s+)?{_QUOTE}(?P<name>{_TOKEN}){_QUOTE}(?!\s*(?:teams?|projects?)\b)"
)
_PLACE_ZH = re.compile(rf"(?P<name>{_TOKEN})\s*(?:上|里|中|那边)")
_HEAD = re.compile(
    rf"(?:\b(?:delete|destroy|drop|terminate|decommission|wipe|remove|describe|show|adopt|grow|expand|shrink|scale|upgrade|update|down)|删除|删掉|删|销毁|下线|接管|查看|看看)\s+?(?:the\s+|my\s+|our\s+)?{_QUOTE}(?P<name>{_TOKEN}){_QUOTE}"
)
_POSSESSIVE = re.compile(rf"(?P<name>{_TOKEN})(?:'s\b|\s*的\s*(?:状态|节点|任务|事件|日志|情况|容量|进度|配额))")
_SUBJECT = re.compile(rf"\b(?:is|does|did|has|was|about|are|why|how)\s+(?:the\s+|my\s+|our\s+)?(?P<name>{_TOKEN})\b")
_MOUNT_PATH = re.compile(r"(?<![\w./:-])(?P<path>/[a-z0-9][a-z0-9_./-]*)")
_FILE_SYSTEM = re.compile(r"\b(?P<id>fs-[0-9a-f]{8,40})\b")
_SIZE = re.compile(r"(?P<number>\d+(?:\.\d+)?)\s*(?P<unit>tib|tb|t|gib|gb|g)(?![a-z0-9])")
_TEAM = re.compile(
    rf"(?:\b(?:team|project|namespace)\s+(?:is\s+)?{_QUOTE}(?P<a>{_TOKEN}){_QUOTE}"
    rf"|{_QUOTE}(?P<b>{_TOKEN}){_QUOTE}\s+(?:team|project|namespace)\b"
    rf"|(?:团队|项目|小组)\s*(?P<c>{_TOKEN})|(?P<d>{_TOKEN})\s*(?:团队|项目组|项目|小组))"
)
_PRIORITY = re.compile(
    r"\b(?P<a>high|low|medium|normal)(?:est)?[- ]+priority|\bpriority\s*(?:is|of|:|=)?\s*(?P<b>high|low|medium|normal)"
    r"|(?P<c>高|低|中)优先级?|优先级?\s*(?:为|是|[:：])?\s*(?P<d>高|低|中)"
)
_GPU_MODEL = re.compile(r"(?<![a-z0-9])(?P<model>gb200|gb300|[abh]\d{3}|l40s|l4|t4|a10g|trainium2?)s?(?![a-z0-9.])")
_TOTAL = re.compile(
    r"\b(?:to|at)\s+(?:just\s+|only\s+|a\s+total\s+of\s+)?(?:\d+|two|three|four|five|six|seven|eight|nine|ten|twelve|sixteen)\s+(?:nodes?|instances?|machines?)\b"
    r"|\b(?:keep|leave)\b|\bin\s+(?:total|all)\b|(?:[到至]|只[剩留]|保留|总共|一共)\s*[\d一二两三四五六七八九十百]+\s*(?:个|台)?\s*(?:节点|机器|实例)"
)
_NODE_ID = re.compile(r"(?<![\w-])(?P<id>i-[0-9a-f]{8,17})(?![\w-])")
_REFERENCE = re.compile(
    r"\b(?:it|there|that\s+(?:cluster|one|job)|this\s+(?:cluster|job)|the\s+(?:new\s+|same\s+)?(?:cluster|job|one)|them)\b"
    r"|它|那里|那边|这个集群|该集群|新集群|上面|上头|那个|这个任务|这上面"
)
_SAMPLE = re.compile(
    r"\b(?:sample|example|demo|test)\s+(?:training\s+)?(?:job|workload|script|run)?|示例|样例|演示任务|测试任务"
)
_COMMAND = re.compile(
    r"(?:\bcommand\s*[:=]?\s*|\brunning\s+|命令\s*[:：]?\s*|运行\s*)[`\"“'](?P<command>[^`\"”']+)[`\"”']"
)
_RUN_COMMAND = re.compile(r"(?:\b(?:run|execute)|运行|执行|跑)\s*[`\"“'](?P<command>[^`\"”'\s]+\s[^`\"”']*)[`\"”']")
_IMAGE = re.compile(r"(?:\bimage\s*[:=]?\s*|镜像\s*[:：]?\s*)[`\"“']?(?P<image>[a-z0-9][\w.:/@-]*[a-z0-9])[`\"”']?")
_MENDING_ZH: Final = r"(?:恢复|修复|替换|更换)"
_RECOVERY_OFF = re.compile(
    r"\b(?:without|no|disable|turn\s+off)\s+(?:the\s+)?(?:auto(?:matic)?[- ]?\s*)?(?:node\s+)?"
    r"(?:recovery|replacements?)"
    r"|recovery\s*(?:[:=]|is|to)?\s*(?:off|none)"
    r"|\b(?:do\s+not|don'?t|never)\s+(?:automatically\s+)?(?:replace|repair|recover)\b(?=.*\bauto|.*\bnodes?\b)"
    rf"|(?:关闭|关掉|不要|不用|不需要|别|无需|禁用)\s*(?:节点)?自动\s*{_MENDING_ZH}"
)
_RECOVERY_ON = re.compile(rf"\b(?:auto(?:matic)?|with|enable)\s+(?:node\s+)?recovery\b|自动\s*{_MENDING_ZH}")

_NOT_A_NAME: Final = words(
    """a an the this that these those it its them there here one two three four five six seven eight nine ten new
    another same my our your like eks slurm hyperpod training gpu sample example whole cluster clusters job jobs
    node nodes instance instances machine machines with in on of for to from and or but at as by using use named
    called name which where who what why how when is are was were be been does did do has have had will would
    can could should demand on-demand spot plan capacity please now then also just only all any each every some
    more other next first second high low medium normal priority team project namespace run runs running submit
    create delete stop start status state up down out off over us me we i you they he she so if than too not no
    yes ok zone region az event events log logs aws amazon sagemaker kubernetes lustre fsx storage file system
    volume data model script scripts many much long still waiting pending stuck slow failed failing ready
    healthy done finished happening happened wrong going doing cluster's multi-node single distributed default
    existing available current currently quick simple minimal empty fresh old training-plan order case general
    total exist exists build launch deploy get make set add try see train finetune pretrain everything anything
    something nothing overview asap least most about around under above below across pytorch fine-tuning
    finetuning fine tuning workload batch s3 hours hour minutes usd dollars detail details tell show list
    describe explain check progress questions question approval approvals"""
)
_ADJECTIVES: Final = words(
    "demo big large dev prod production staging test testing research shared main primary spot multi small"
)
_ENDS_A_NAME = re.compile(r"\s*(?:$|[,.;:\"']|(?:with|in|on|and|using|of|at)\b)")
_ORCHESTRATOR = re.compile(r"(?<![a-z])(?P<name>eks|slurm|kubernetes|k8s)(?![a-z])")
_PRIORITIES: Final = {"高": "high", "低": "low", "中": "medium"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Entities:
    """What one part of a message names; absent where it names nothing of the kind."""

    name: str | None
    """Given with `called`, `named`, 叫 and the like."""
    cluster: str | None
    """By the word cluster beside it (`the llama cluster`)."""
    place: str | None
    """By a preposition of place (`on llama`, 在 llama 上): most likely a cluster."""
    owner: str | None
    """`2 nodes of llama`, `the logs of s1`: a cluster or a job."""
    job: str | None
    nodes: int | None
    is_total: bool
    """`nodes` is how many it shall be in the end (`down to 3 nodes`), not how many more or fewer."""
    team: str | None
    priority: str | None
    orchestrator: str | None
    gpu_model: str | None
    mount: str | None
    file_system: str | None
    size_gib: int | None
    node_id: str | None
    image: str | None
    command: str | None
    recovery: str | None
    is_sample: bool
    refers_back: bool


def find_entities(text: str, original: str) -> Entities:
    """`text` is normalised, `original` the same stretch as it was written: names keep their case."""
    kept = _Names(text, original)
    named = kept.first(_NAMED, allow_words=True) or kept.first(_CREATED) or kept.first(_NAME_AT_END)
    job = kept.first(_JOB_AFTER) or kept.first(_JOB_BEFORE, adjectives=True)
    cluster = (
        kept.first(_CLUSTER_AFTER)
        or kept.first(_CLUSTER_AFTER_ZH, allow_words=True)
        or kept.first(_CLUSTER_BEFORE, adjectives=True)
    )
    priority = _PRIORITY.search(text)
    return Entities(
        name=named,
        cluster=cluster,
        place=kept.first(_PLACE) or kept.first(_PLACE_ZH),
        owner=kept.first(_OWNER),
        job=job or kept.first(_TRAINED),
        nodes=_nodes(text),
        is_total=_TOTAL.search(text) is not None,
        team=_group(_TEAM, text, original),
        priority=None if priority is None else _priority(priority),
        orchestrator=_orchestrator(text),
        gpu_model=_named_group(_GPU_MODEL, text, "model"),
        mount=_named_group(_MOUNT_PATH, text, "path"),
        file_system=_named_group(_FILE_SYSTEM, text, "id"),
        size_gib=_size_gib(text),
        node_id=_named_group(_NODE_ID, text, "id"),
        image=_named_group(_IMAGE, text, "image"),
        command=kept.raw(_COMMAND, "command") or kept.raw(_RUN_COMMAND, "command"),
        recovery="None" if _RECOVERY_OFF.search(text) else "Automatic" if _RECOVERY_ON.search(text) else None,
        is_sample=_SAMPLE.search(text) is not None,
        refers_back=_REFERENCE.search(text) is not None,
    )


def target_name(text: str, original: str) -> str | None:
    """The name that a question or a deletion is about, whatever its kind."""
    kept = _Names(text, original)
    patterns = (
        _CLUSTER_AFTER,
        _CLUSTER_BEFORE,
        _JOB_AFTER,
        _JOB_BEFORE,
        _HEAD,
        _POSSESSIVE,
        _OWNER,
        _PLACE,
        _PLACE_ZH,
        _SUBJECT,
    )
    for pattern in patterns:
        if (found := kept.first(pattern)) is not None:
            return found
    return None


class _Names:
    """Looks names up in normalised text and returns them as written, leaving out words that are no names."""

    def __init__(self, text: str, original: str) -> None:
        self._text, self._original = text, original

    def first(self, pattern: re.Pattern[str], *, allow_words: bool = False, adjectives: bool = False) -> str | None:
        """`adjectives`: the name stands before its noun, where `dev` or `production` is likely none."""
        position = 0
        while match := pattern.search(self._text, position):
            name = match["name"]
            if self._is_name(name, match, allow_words) and not (adjectives and name in _ADJECTIVES):
                return self._original[match.start("name") : match.end("name")]
            position = max(match.start() + 1, match.start("name"))
        return None

    def raw(self, pattern: re.Pattern[str], group: str) -> str | None:
        match = pattern.search(self._text)
        return None if match is None else self._original[match.start(group) : match.end(group)]

    def _is_name(self, name: str, match: re.Match[str], allow_words: bool) -> bool:
        if allow_words and name not in {"the", "an", "it", "is", "job", "cluster", "new", "my", "our"}:
            return name != "a" or _ENDS_A_NAME.match(self._text, match.end("name")) is not None
        before = self._text[match.start("name") - 1 : match.start("name")]
        is_quoted = before != "" and before in "\"'“‘`「『"
        if (name in _NOT_A_NAME and not is_quoted) or name.isdigit() or _looks_like_a_choice(name):
            return False
        after = self._text[match.end("name") : match.end("name") + 2]
        is_dotted = len(after) == 2 and after[0] == "." and after[1].isalnum()
        return before not in {".", "/"} and after[:1] not in {"/", "="} and not is_dotted


def _looks_like_a_choice(name: str) -> bool:
    return (
        re.fullmatch(
            r"[a-z]{2,4}\d-az\d+|[a-z]{2}(?:-[a-z]+)+-\d[a-z]?|az-?\d|(?:ml)?[pg]\d\w{0,2}|trn\d\w?|[abh]\d{3}s?|\d+\w{0,3}|fs-[0-9a-f]+|i-[0-9a-f]{8,}",
            name,
        )
        is not None
    )


def _nodes(text: str) -> int | None:
    found = [number for number in numbers(text) if number.unit is Unit.NODES and number.value is not None]
    return found[0].value if found else None


def _group(pattern: re.Pattern[str], text: str, original: str) -> str | None:
    """The first group of any match that holds a name and not just a word."""
    position = 0
    while match := pattern.search(text, position):
        for name, value in match.groupdict().items():
            if value is not None and value not in _NOT_A_NAME:
                return original[match.start(name) : match.end(name)]
        position = match.start() + 1
    return None


def _priority(match: re.Match[str]) -> str:
    found = next(value for value in match.groupdict().values() if value is not None)
    return _PRIORITIES.get(found, found)


def _orchestrator(text: str) -> str | None:
    found: Sequence[str] = _ORCHESTRATOR.findall(text)
    kinds = {"slurm" if name == "slurm" else "eks" for name in found}
    return kinds.pop() if len(kinds) == 1 else None


def _size_gib(text: str) -> int | None:
    """`1.2T` is 1200 GiB, as FSx sizes are written."""
    match = _SIZE.search(text)
    if match is None:
        return None
    factor = 1000 if match["unit"].startswith("t") else 1
    if match["unit"] == "tib":
        factor = 1024
    return round(float(match["number"]) * factor)


def _named_group(pattern: re.Pattern[str], text: str, group: str) -> str | None:
    match = pattern.search(text)
    return None if match is None else match[group]
