"""What people add to a symptom: how widely, since when, what cured it. Circumstances turn a verdict, they
never make one alone except where they say outright that nothing is wrong.
"""

from __future__ import annotations

from core.health.parsing.line_pattern import LinePattern, pattern
from core.health.signals import SignalFamily

_C = SignalFamily.CIRCUMSTANCE

PATTERNS: tuple[LinePattern, ...] = (
    pattern(
        _C,
        "hw_confirmed",
        ("rma", "replac", "vendor", "bad ", "faulty", "defective", "broken", "swap"),
        r"\bRMA(?:'?d|ed)\b|(?:gpu|board|card|dimm|nic|motherboard|node|riser)s? (?:was |were "
        r"|has been |got )?(?:replaced|swapped).{0,60}(?:fix|gone|ok|solv|resolv|work)"
        r"|(?:bad|faulty|defective|broken) (?:\w+ )?(?:gpu|card|node|dimm|motherboard|riser|machine|host)\b",
    ),
    pattern(
        _C,
        "survived_replacement",
        ("swap", "replac", "new ", "other "),
        r"(?:again|return\w*|came back|comes back|still|persist\w*|reappear\w*|same (?:error|nan"
        r"|hang)).{0,60}"
        r"(?:after|despite|even (?:on|with)).{0,40}(?:swap|replac|new (?:motherboard|gpu|node|machine))"
        r"|(?:swap|replac)\w* .{0,120}(?:but|yet|then|however).{0,60}(?:again|return|came back|still"
        r"|reappear|persist)",
    ),
    pattern(
        _C,
        "flaps",
        ("again in", "again after", "down*", "up and down", "on and off"),
        r"again (?:in|after) [\d-]+ ?(?:s|min|h)|down\*? again|up and down|on and off",
    ),
    pattern(
        _C,
        "conditions_reset",
        ("condition", "all-clear", "all clear"),
        r"conditions? .{0,40}(?:reset|set|flip\w*|went|back) (?:back )?to (?:False|Unknown)"
        r"|false all[- ]clear",
    ),
    pattern(
        _C,
        "many_nodes",
        ("nodes", "fleet", "machines", "cluster", "hosts", "instances"),
        r"(?:on|across|over|for|in) (?:~ ?)?(?:many|all|every|most|several|multiple|both|half|dozens"
        r"|hundreds|[1-9]\d{1,4}|whole|entire) (?:of )?(?:the )?(?:gpu |compute |worker |our )?"
        r"(?:nodes|machines|hosts|instances|fleet|cluster)"
        r"|(?:~ ?)?[1-9]\d{1,3} (?:gpu )?nodes (?:within|at once|in|went|reboot|fail|down|show)"
        r"|fleet[- ]wide|same (?:half|error|code|xid) .{0,30}(?:nodes|machines|fresh cluster)"
        r"|every node|all nodes",
    ),
    pattern(
        _C,
        "after_rollout",
        (
            "upgrad",
            "updat",
            "roll",
            "new driver",
            "new ami",
            "new image",
            "new kernel",
            "regression",
            "downgrad",
            "driver 5",
            "driver 4",
            "driver 6",
            "since version",
            "release",
        ),
        r"(?:after|since|following|from|once|post)[ -].{0,60}(?:upgrad\w*|updat\w*|roll(?:ed)?[- ]?out"
        r"|new (?:driver|ami|image|kernel|version|release))|"
        r"regression|(?:downgrad|roll)\w* (?:back )?.{0,40}(?:fix|solv|work|help|resolv|clean|gone)"
        r"|(?:fixed|solved|gone|works|resolved) (?:in|with|by|after) .{0,30}(?:driver|version|release"
        r"|\d{3}\.\d+)|"
        r"driver (?:version )?[456]\d\d(?:\.\d+)*",
    ),
    pattern(
        _C,
        "agent_restarted",
        ("agent", "daemonset", "dcgm", "exporter", "monitor"),
        r"(?:after|right after|following|when|on|during) .{0,30}(?:agent|daemonset|dcgm\w*|exporter"
        r"|monitor\w*|npd|plugin).{0,30}(?:upgrade|restart|start|update|roll|warm)|(?:agent|monitor\w*"
        r"|npd) (?:re)?start(?:s|ed)?\b",
    ),
    pattern(
        _C,
        "recovered",
        (
            "recover",
            "cleared by itself",
            "passes on retry",
            "healthy",
            "harmless",
            "no impact",
            "benign",
            "expected behavio",
            "works as designed",
            "informational",
            "can be ignored",
            "safe to ignore",
            "safely ignored",
            "nonfatal",
            "non-fatal",
        ),
        r"(?:already|has|have|fully|self-?)[- ]?recovered|recovered (?:by itself|automatically"
        r"|on its own)|harmless|no impact|\bbenign\b|expected behaviou?r|as designed|informational"
        r"|(?:can|safe) (?:be |to )(?:safely )?ignored?|"
        r"(?:gpu|hardware|node|job|training)s? (?:is|was|are|stays?|remains?|itself) (?:healthy|fine|ok"
        r"|unaffected)|hardware fine|all (?:checks|tests) pass",
    ),
    pattern(
        _C,
        "stale_state",
        (
            "still",
            "remain",
            "never clear",
            "not clear",
            "stays",
            "stuck",
            "persist",
            "leftover",
            "left over",
            "stale",
            "sticks",
            "does not clear",
            "not reset",
            "not removed",
        ),
        r"(?:condition|taint|label|cordon\w*|drain\w*|reason|status|alert|annotation"
        r"|unschedulable)\w*.{0,80}(?:still|remains?|never clear\w*|not clear\w*|stays?|stuck|persists?"
        r"|sticks|not (?:reset|removed)|stale)|"
        r"(?:still|remains?|stays?|stale|left ?over) .{0,30}(?:condition|taint|label|cordon\w*|drain\w*"
        r"|reason|annotation|unschedulable|True)",
    ),
    pattern(
        _C,
        "stale_forever",
        ("never", "not clear", "n't clear", "does not", "not reset", "not removed", "permanent"),
        r"(?:condition|taint|label|cordon\w*|drain\w*|reason|alert|annotation|status|unschedulable"
        r"|event)\w*.{0,60}"
        r"(?:(?:never|not|n't|no longer) (?:ever |be |get |gets )?(?:clear|reset|remov|lift|revert)\w*"
        r"|permanent\w*)",
    ),
    pattern(
        _C,
        "after_fix",
        ("after", "since", "although", "even though", "despite", "long after"),
        r"(?:after|although|even though|despite|once|since) .{0,60}(?:reboot\w*|recover\w*|replac\w*"
        r"|fix\w*|repair\w*|heal\w*|swap\w*|remediat\w*|reset|pass\w*|resolved)",
    ),
    pattern(
        _C,
        "false_alarm",
        (
            "false positive",
            "false alarm",
            "false-positive",
            "misreport",
            "wrongly",
            "incorrectly",
            "mis-report",
            "spurious",
            "although healthy",
            "race",
            "misclassif",
            "falsely",
            "mistak",
        ),
        r"false[- ](?:positive|alarm)|mis-?report|(?:wrongly|incorrectly|falsely|mistakenly"
        r"|spurious\w*) .{0,60}(?:report|mark|flag|drain|reboot|cordon|label|count|detect|unhealthy"
        r"|fatal|error|classif)|race (?:condition )?.{0,40}(?:agent|check|count|monitor)|misclassif",
    ),
    pattern(
        _C,
        "returns_after_reboot",
        ("reboot", "reset", "recur", "again", "repeated", "keeps"),
        r"(?:again|returns?|recurs?|came back|back|new (?:row|remap)).{0,40}after .{0,30}(?:reboot"
        r"|reset)|(?:after|despite) (?:each|every|\d+|several|multiple|two"
        r"|three) (?:of \d+ )?(?:reboots?|resets?|power cycles?)|keeps (?:coming|failing|falling)"
        r"|minutes? after a reboot",
    ),
    pattern(
        _C,
        "one_node_only",
        (
            "same node",
            "one node",
            "this node",
            "same gpu",
            "single node",
            "that node",
            "same machine",
            "other machine",
            "other hardware",
            "another node",
            "other node",
            "different node",
            "only on",
            "one machine",
            "always the same",
        ),
        r"(?:always |only )?(?:on|with|involv\w+)? ?(?:the )?(?:same|one|this|that|a single|particular"
        r"|specific) (?:node|gpu|machine|host|card)\b|only on \S{1,30}|(?:works?|fine|ok|runs?|clean"
        r"|gone)\W.{0,30}(?:on|with) (?:other|another|a different|different) (?:node|machine|hardware"
        r"|gpu|host|card)s?|(?:excluding|exclude|removing|removed|without) (?:the |that "
        r"|this )?(?:bad )?(?:node|machine|host)",
    ),
    pattern(
        _C,
        "nothing_else_runs",
        (
            "nothing else",
            "no other job",
            "idle neighbo",
            "otherwise idle",
            "exclusive node",
            "no other process",
        ),
    ),
    pattern(
        _C,
        "slowdown",
        (
            "slow",
            "epoch time",
            "step time",
            "throughput",
            "batches per second",
            "batch per second",
            "it/s",
            "iteration time",
            "low gpu util",
            "samples/s",
            "tokens/s",
            "takes longer",
            "tflops",
            "mfu",
        ),
        r"(?<!hw )(?<!hw_)(?<!hardware )(?<!thermal )(?<!brake )slow(?:er|down|ly|s)?\b|(?:epoch|step"
        r"|iteration) time|(?:throughput|tflops|mfu|samples/s"
        r"|tokens/s|it/s).{0,40}(?:drop|fell|fall|half|halv|decreas|lower|low|degrad|vs|only)"
        r"|batch(?:es)? per second|low gpu util\w*|takes (?:much )?longer",
    ),
    pattern(_C, "periodic", "periodic"),
    pattern(
        _C,
        "compared_sites",
        ("other cluster", "another cluster", "other system", "on the other", "vs ", "versus"),
        r"(?:other|another|second) (?:cluster|system|site|machine)\b|\bvs\.? |versus",
    ),
    pattern(
        _C,
        "data_preparation",
        (
            "tokeniz",
            "dataset",
            "preprocess",
            "lineshuffler",
            "index",
            "download",
            "map:",
            "generating",
            "shuffl",
            "cache",
            "loading",
            "collat",
            "sharding",
        ),
        r"(?:Running tokenizer|tokeniz\w+|preprocess\w*|LineShuffler|building .{0,20}index|index(?:ing"
        r"|ed)? |download\w*|generating \w+ split|shuffl\w+|loading (?:data|checkpoint|model|shards?)"
        r"|Map(?: \(num_proc)?|Filter|Grouping texts)"
        r".{0,80}?(?:\d+ ?%|\d+/\d+|\[\d+:\d\d|Init|min|hour|\d+ ?GB|took|takes|long|rank 0"
        r"|only on rank)|(?:rank ?0|main process|one rank|single rank).{0,60}(?:tokeniz|preprocess"
        r"|download|index|dataset|saving|evaluat|generat)",
    ),
    pattern(_C, "progress_bar", "%|", r"\d+%\|.{0,40}\| ?\S{0,40} ?\[\d+:\d\d(?::\d\d)?<"),
    pattern(
        _C,
        "uneven_work",
        (
            "uneven",
            "unequal",
            "different number of",
            "fewer batches",
            "one rank",
            "rank 0 only",
            "only rank 0",
            "conditional",
            "control flow",
            "skips",
            "early stop",
            "rank 0",
            "rank0",
        ),
        r"(?:uneven|unequal|different number of|fewer|more) .{0,20}(?:batch|input|sample|step|micro"
        r"|data|length)\w*|(?:only )?rank ?0 (?:only |alone |saves?|evaluates?|calls?|enters?|writes?|is )"
        r"|control[- ]flow"
        r"|one rank (?:skips|exits|raises|is still|indexing)|skips? the (?:all|collective|backward)",
    ),
    pattern(
        _C,
        "checkpoint_phase",
        ("checkpoint", "saving", "save_", "evaluat", "compil", "warm"),
        r"(?:during|while|at|in|after) .{0,20}(?:checkpoint\w*|saving|save_\w+|evaluat\w+|validation"
        r"|compil\w+|warm-?up)",
    ),
    pattern(
        _C,
        "after_relaunch",
        (
            "leftover",
            "left-over",
            "orphan",
            "zombie",
            "other process",
            "held by",
            "still held",
            "already running",
            "previous job",
            "d-state",
            "d state",
            "uninterruptible",
            "another process",
        ),
        r"left-?over|orphan\w*|zombie|(?:still )?held (?:by|gpu)|already running|previous (?:job|run)"
        r"|D-state|uninterruptible|another process",
    ),
    pattern(
        _C,
        "operator_did",
        (
            "operator",
            "admin",
            "manual",
            "by hand",
            "uncordon",
            "kubectl",
            "drained by",
            "cordoned by",
            "on purpose",
            "intentional",
            "deliberat",
            "decommission",
            "requested by",
        ),
        r"(?:operator|admin\w*|someone|colleague|by hand|manual\w*|intentional\w*|deliberat\w*"
        r"|on purpose).{0,60}(?:cordon|drain|replace|reboot|restart|delete|stop|terminat|update|cancel"
        r"|uncordon|remov|reset|fail)|(?:cordon|drain|reboot|replac|restart|stopp|terminat|delet"
        r"|decommission)\w* (?:manually |intentionally )?(?:by|at the request of) (?:the "
        r"|an? )?(?:operator|admin|user|maintenance)|kubectl (?:cordon|drain|delete)|planned (?:reboot"
        r"|replacement)",
    ),
    pattern(
        _C,
        "checker_hung",
        ("health check", "nhc", "nvidia-smi", "check "),
        r"(?:health ?check|nhc|nvidia-smi|dcgmi?|check) .{0,40}(?:hang|hung|times? out|timed out"
        r"|timeout|stuck)|NHC: Watchdog timer",
    ),
    pattern(
        _C,
        "gpu_busy_idle_wire",
        ("100 %", "100%", "no bytes", "0 % ", "spinning"),
        r"100 ?% (?:busy|util\w*|gpu)|all GPUs 100 ?%|no bytes moving",
    ),
    pattern(
        _C,
        "fresh_setup",
        (
            "fresh",
            "new cluster",
            "first time",
            "never worked",
            "just installed",
            "newly",
            "right away",
            "immediately",
        ),
        r"fresh (?:cluster|install|node|machine)s?|new(?:ly)? (?:cluster|install\w*|built|created"
        r"|launched)|first (?:time|run|start)|never worked|right away|immediately",
    ),
    pattern(
        _C,
        "no_nvswitch",
        ("no nvswitch", "without nvswitch", "4090", "3090", "pcie card", "a10", "l40s", "g5.", "g6."),
        r"(?:no|without) nvswitch|\b[2348]x ?(?:rtx ?)?[34]0?90\b|(?:rtx )?(?:3090|4090)"
        r"|\bg[56]e?\.\d{1,2}xlarge",
    ),
)
