"""Words of the field in both languages: verbs by what they do, nouns by what is done to.

To teach the planner a word, add it here; to teach it an operation, add a row to `agent.planner.grammar`.
Patterns meet text that `agent.provenance.text.normalise` has lowered and narrowed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Verb(StrEnum):
    CREATE = "create"
    START = "start"
    RUN = "run"
    DELETE = "delete"
    ADD = "add"
    REMOVE = "remove"
    MOUNT = "mount"
    STOP = "stop"
    RESUME = "resume"
    RESIZE = "resize"
    REPLACE = "replace"
    REBOOT = "reboot"
    CHECK = "check"
    UPDATE = "update"
    ENABLE = "enable"
    SET = "set"
    ADOPT = "adopt"
    SHOW = "show"
    """Wants to know something: changes nothing."""


class Noun(StrEnum):
    CLUSTER = "cluster"
    JOB = "job"
    NODES = "nodes"
    GROUP = "group"
    STORAGE = "storage"
    SOFTWARE = "software"
    RESILIENCE = "resilience"
    OBSERVABILITY = "observability"
    QUOTA = "quota"
    RUN = "run"
    EVENT = "event"
    LOG = "log"
    QUESTION = "question"
    TEAM = "team"


_AMOUNT = r"(?:\d+|two|three|four|five|six|seven|eight|nine|ten|twelve|sixteen|several|some|a\s+(?:few|couple))"
_AMOUNT_ZH = r"(?=\s*(?:[一二两三四五六七八九十几百]|\d)+\s*(?:个|台|套|张|块|片|卡|节点))"
_HARDWARE = (
    r"\b(?:nodes?|instances?|machines?|hosts?|servers?|box(?:es)?|gpus?"
    r"|(?:[abh]|gb)\d{3}s?|(?:ml\.)?(?:[pg]|trn)\d\w*)\b"
)
_MORE = r"(?=\s+(?:[\w-]+\s+){0,2}more\b)"

_VERBS: Final[tuple[tuple[Verb, str], ...]] = (
    (
        Verb.CREATE,
        r"\bcreate\b|\bbuild\b|\bset(?:ting)?\s?-?up\b|\bspin(?:ning)?\s?up\b|\bprovision\b|\bstand\s+up\b|\bbring\s+up\b|\bdeploy\b"
        r"|\bmake(?!\s+(?:it|that|them|this|sure)\b)"
        rf"|\b(?:want|need|like|have)\b(?!{_MORE})(?=\s+(?:an?|one|another|new|{_AMOUNT})\b)"
        rf"|\bget\b(?!{_MORE})(?=\s+{_AMOUNT}\s+(?:of\s+)?(?:[\w-]+\s+){{0,2}}?{_HARDWARE})"
        r"|\bget\b(?=\s+(?:an?|another)\s+(?:(?:new|small|big|training|gpu|eks|slurm|test)\s+){0,2}clusters?\b)"
        rf"|(?:想要|需要|要|来|弄|搞|租|申请|给我|开){_AMOUNT_ZH}|租(?=一)|申请(?=一)|开(?=集群)"
        r"|\bneed\b(?=\s+(?:\w+\s+){0,3}clusters?\b)|\badd\b(?=\s+(?:an?|another|one\s+more|new)\s+(?:\w+\s+){0,3}clusters?\b)"
        r"|\b(?:get|give)\s+(?:me|us)\s+(?=an?\b|another\b|\d)|\border\b"
        r"|创建|新建|搭建|组建|建立|建(?!议|好|完|成)|搭|要(?=一个|个|一套)|需要(?=一个|个|一套)|来(?=一个|个|一套)|部署|弄(?=一个|个)|拉起|搞(?=一个|个)",
    ),
    (
        Verb.START,
        r"\bstart\b|\blaunch\b|\bkick\s+off\b|\bfire\s+up\b|启动|开始(?=训练|微调)|开(?=一个|个|一套|一下)|起(?=一个|个|一套)|发起",
    ),
    (
        Verb.RUN,
        r"\brun\b(?!s\b)|\bsubmit\b|\btrain\b|\bfine-?tune\b|\bexecute\b|\bqueue\b(?=\s+(?:an?|the|my|our)\b)|\bpretrain\b"
        r"|跑(?!到|着|得|完|了|在)|提交|运行(?!到|着|得|完|了)|微调|训练(?=\s*(?:一个|一下|[a-z]))|执行",
    ),
    (
        Verb.DELETE,
        r"\bdelete\b|\btear\s+(?:it\s+|them\s+)?down\b|\bdestroy\b|\bget\s+rid\s+of\b|\bterminate\b|\bdecommission\b|\bdrop\b|\bwipe\b"
        r"|\bshut(?:ting)?\s+(?:it\s+)?down\b|\bturn(?:ing)?\s+off\b|\bkill\b(?=\s+(?:[\w-]+\s+){0,2}clusters?\b)"
        r"|删除|删掉|删了|删|销毁|拆掉|拆除|下线|注销|清掉|清理|关掉|关闭|退掉|释放|移除集群",
    ),
    (
        Verb.ADD,
        rf"\b(?:need|want|like|have|get|give)\b{_MORE}|还(?:需要|要|差|缺){_AMOUNT_ZH}|"
        r"\badd\b|\bgrow\b|\bexpand\b|\bscale\s+(?:it\s+)?(?:up|out)\b|\bextend\b|\bincrease\b|\bscale\b(?!.*\bjob\b)(?=.*\bto\b)"
        r"|增加|添加|扩容|扩展|扩到|扩|加(?!速|载)|多要|追加",
    ),
    (
        Verb.REMOVE,
        r"\bremove\b|\bshrink\b|\bscale\s+(?:it\s+)?(?:down|in)\b|\breduce\b|\btake\s+(?:away|off)\b|缩容|缩到|减少|减掉|减到|减|移除|去掉|缩",
    ),
    (Verb.MOUNT, r"\bmount\b|\battach\b|\bhook\s+up\b|挂载|挂上|挂到|挂在|挂|接上"),
    (
        Verb.STOP,
        r"\bstop\b|\bsuspend\b|\bcancel\b|\bkill\b|\babort\b|\bhalt\b|\bend\b(?=\s+(?:the|job|my))|停止|停掉|停下|停|取消|终止|杀掉",
    ),
    (Verb.RESUME, r"\bresume\b|\bcontinue\b|\brestart\b|\bpick\s+up\b|恢复|继续|重新开始|接着跑|续跑|重启任务"),
    (Verb.RESIZE, r"\bresize\b|\brescale\b|\bscale\b(?=.*\bjob\b)|调整大小|调整规模"),
    (Verb.REPLACE, r"\breplace\b|\bswap\b|更换|替换|换掉|换一台"),
    (Verb.REBOOT, r"\breboot\b|\brestart\b(?=.*\bnodes?\b)|重启"),
    (Verb.CHECK, r"\bdeep\s+(?:health\s+)?checks?\b|\bhealth\s*check\b|深度(?:健康)?检查|体检|健康检查"),
    (Verb.UPDATE, r"\bupdate\b|\bupgrade\b|\bpatch\b|升级|更新|打补丁"),
    (Verb.ENABLE, r"\benable\b|\bturn\s+on\b|\bactivate\b|\bswitch\s+on\b|启用|开启|打开|配置|装上"),
    (
        Verb.SET,
        r"\bset\b(?!\s?-?up)|\bgive\b(?=\s+\w+\s+\d)|\bassign\b|\ballocate\b|\bborrow\b|设置|设为|设成|分配|调整",
    ),
    (Verb.ADOPT, r"\badopt\b|\bimport\b|\btake\s+over\b|接管|纳管|导入"),
    (
        Verb.SHOW,
        r"\bshow\b|\blist\b|\bdescribe\b|\bwhat(?:'s|s)?\b|\bwhich\b|\bhow(?:['’]?s)?\b(?!\s+about)|\bis\s+(?:there|the|my|our|it)\b"
        r"|\bare\s+(?:there|the|my|our|any)\b|\bwhy\b|\bwhen\b|\bwhere\b|\bwho\b|\btell\s+me\b|\bstatus\b|\bcheck\b|\blook\b|\bsee\b|\bget\b(?!\s+(?:me|us|rid))"
        r"|\bexplain\b|\bdid\b|\bhas\b|\bdo\s+(?:we|i)\s+have\b|\btail\b|\bprint\b|\bany\b(?=.*\?)"
        r"|显示|列出|列一下|看看|看一下|看下|查看|查一下|查询|查|有哪些|有什么|有几|多少|几个|几台|哪个|哪些|哪儿|哪里|为什么|为何|怎么|什么|状态|情况|是否|有没有|告诉我|介绍|进度|如何",
    ),
)

_NOUNS: Final[tuple[tuple[Noun, str], ...]] = (
    (Noun.CLUSTER, r"\bclusters?\b|集群|群集"),
    (
        Noun.JOB,
        r"\bjobs?\b|\btraining\s+runs?\b|\bworkloads?\b|\bexperiments?\b|\bscripts?\b|\bexample\b|\bdemo\b(?=\s+(?:job|train))"
        r"|(?:(?<=start\s)|(?<=off\s)|(?<=launch\s)|(?<=begin\s))training\b(?!\s+(?:clusters?|plans?|nodes?)\b)"
        r"|任务|作业|(?<=开始)训练|训练(?!集群|计划|用|节点|平台|[^,，。;；]{0,4}模型)|实验|脚本|示例",
    ),
    (
        Noun.NODES,
        rf"{_HARDWARE}|\bworkers?\b|\bcapacity\b|节点|实例|机器|台|服务器|容量|卡",
    ),
    (Noun.GROUP, r"\b(?:instance\s+)?groups?\b|实例组|组"),
    (
        Noun.STORAGE,
        r"\blustre\b|\bfsx\b(?!/)|\bfile\s*systems?\b|\bstorage\b|\bvolumes?\b|\bs3\b|\bbucket\b|\bfs-[0-9a-f]{8,}|文件系统|存储|共享盘|存储卷",
    ),
    (Noun.SOFTWARE, r"\bsoftware\b|\bami\b|\bimage\s+version\b|\bdrivers?\b|\bplatform\s+version\b|软件|驱动|镜像版本"),
    (
        Noun.RESILIENCE,
        r"\bresilien\w+|\bauto(?:matic)?[- ]?(?:recovery|resume|repair)\b|\bself[- ]?heal\w*"
        r"|\bnode\s+recovery\b|\bfault\s+toleran\w+"
        r"|弹性恢复|自动恢复|自愈|容错|韧性|自动修复|故障恢复",
    ),
    (
        Noun.OBSERVABILITY,
        r"\bobservability\b|\bmonitoring\b|\bdashboards?\b|\bmetrics\b|\bgrafana\b|\bprometheus\b|监控|可观测|仪表盘|指标",
    ),
    (
        Noun.QUOTA,
        r"\bquotas?\b|\bshares?\b|\bgovernance\b|\bborrow\w*|\bpriorit(?:y|ies)\s+class\w*|配额|额度|份额|治理|借用",
    ),
    (Noun.RUN, r"\b(?:workflow\s+)?runs\b|\boperations?\b|\bprogress\b|运行记录|流程|操作记录|进度"),
    (Noun.EVENT, r"\bevents?\b|\bhappen(?:ed|ing)?\b|\bwent\s+wrong\b|事件|发生|出了什么|怎么了|怎么回事"),
    (Noun.LOG, r"\blogs?\b|\boutput\b|\bstdout\b|\bloss\b|日志|输出"),
    (Noun.QUESTION, r"\bquestions?\b|\bapprovals?\b|待批|审批|问题"),
    (Noun.TEAM, r"\bteams?\b|\bprojects?\b|团队|项目|小组"),
)

_COMPILED_VERBS: Final = tuple((verb, re.compile(pattern)) for verb, pattern in _VERBS)
_COMPILED_NOUNS: Final = tuple((noun, re.compile(pattern)) for noun, pattern in _NOUNS)


@dataclass(frozen=True, slots=True, kw_only=True)
class VerbHit:
    verb: Verb
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NounHit:
    noun: Noun
    start: int
    end: int


def find_verbs(text: str) -> list[VerbHit]:
    """In the order of the text; of overlapping ones the longest."""
    hits = [
        VerbHit(verb=verb, start=match.start(), end=match.end())
        for verb, pattern in _COMPILED_VERBS
        for match in pattern.finditer(text)
        if _is_word(text, match)
    ]
    kept: list[VerbHit] = []
    for hit in sorted(hits, key=lambda hit: (hit.start - hit.end, hit.start)):
        if all(hit.end <= other.start or hit.start >= other.end for other in kept):
            kept.append(hit)
    return sorted(kept, key=lambda hit: hit.start)


def find_nouns(text: str) -> list[NounHit]:
    hits = [
        NounHit(noun=noun, start=match.start(), end=match.end())
        for noun, pattern in _COMPILED_NOUNS
        for match in pattern.finditer(text)
        if _is_word(text, match)
    ]
    return sorted(hits, key=lambda hit: (hit.start, -hit.end))


def _is_word(text: str, match: re.Match[str]) -> bool:
    """Not a piece of a name such as `vision-train` or `job_7`."""
    before = text[match.start() - 1] if match.start() else " "
    after = text[match.end()] if match.end() < len(text) else " "
    return not (match[0][0].isascii() and before in "-_.=/") and not (match[0][-1].isascii() and after in "-_=/")
