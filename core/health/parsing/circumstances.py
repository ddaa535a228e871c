"""What people add to a symptom: how widely, since when, what cured it. Circumstances turn a verdict, they never
make one alone except where they say outright that nothing is wrong.

They are shapes of sentences and are sought in every line of a report; the two that programs print themselves
(`data_preparation`, `progress_bar`) have words for the pre-filter and are read from logs, too.
"""

from __future__ import annotations

from core.health.parsing.line_pattern import LinePattern, pattern, sentence
from core.health.signals import SignalFamily

_C = SignalFamily.CIRCUMSTANCE

PATTERNS: tuple[LinePattern, ...] = (
    sentence(
        _C,
        "hw_confirmed",
        r"\bRMA(?:'d|ed)\b|RMA (?:approved|issued)|sent (?:for|to) RMA|(?:gpu|board|card|dimm|motherboard|node"
        r"|riser|machine)s? (?:was |were |has been |got )?(?:replaced|swapped).{0,60}(?:fix|gone|ok|solv|resolv"
        r"|work)|vendor .{0,40}(?:replac|swap|exchang|confirm)\w*|(?:replac|swap|exchang)\w* (?:the|its"
        r"|that) (?:bad |faulty )?(?:gpu|card|board|dimm|motherboard|psu|machine).{0,60}(?:fix|gone|ok|solv|resolv"
        r"|work|back|service)|(?:bad|faulty|defective|broken|dying|failing) (?:\w+ )?(?:gpu|card|node|dimm"
        r"|motherboard|riser|machine|host)\b"
        r"|gpus? (?:is|are) (?:failing|dead|dying|broken|bad)\b|one of the .{0,20}gpus is failing",
    ),
    sentence(
        _C,
        "survived_replacement",
        r"(?:again|return\w*|came back|comes back|still|persist\w*|reappear\w*|same (?:error|nan"
        r"|hang)).{0,60}(?:after|despite|even (?:on|with)).{0,40}(?:swap|replac|new (?:motherboard|gpu|node"
        r"|machine))|(?:swap|replac)\w*.{0,120}(?:but|yet|then|however|later|;).{0,80}(?:again|return|came back"
        r"|comes back|still|re-?appear|persist|started? to appear)",
    ),
    sentence(
        _C,
        "healthy_now",
        r"(?:every|all|each) (?!.{0,12}\bother).{0,40}(?:pass(?:es|ed)?|(?:is|are) (?:healthy|fine|ok))\b"
        r"|nvidia-smi (?:is |looks |reads )?clean|passes (?:dcgmi|the diag"
        r"|all)|no errors? in any log|(?:although|even though|while|despite|but|yet"
        r"|whereas) (?!.{0,30}\bothers?\b).{0,100}(?:(?:is|was|been) (?:long )?(?:resolved|fixed)"
        r"|recovered|healthy|is gone|running\)|is running|are running|is ready|be ready|later checks|succeed"
        r"|passes|all \d+ gpus|present|nothing wrong|works fine|is fine|are fine|overloaded)"
        r"|(?<!other )(?:deployment|cluster|node|job|gpu|workload|training)s? (?:is|are|stays?|runs?) (?:healthy|fine"
        r"|ok|working|unaffected)",
    ),
    sentence(
        _C,
        "condition_word",
        r"condition|unhealthy|alert|taint|quarantine|allocatable|marked|drained|cordoned",
    ),
    sentence(
        _C,
        "waits_for_others",
        r"(?:wait|time[sd]? out)\w* .{0,60}(?:barrier|all-?reduce|all-?gather|collective|gather|others)|(?:others?"
        r"|everybody else|everyone|remaining|rest)\b.{0,30}(?:wait|gather|block)",
    ),
    sentence(
        _C,
        "fails_more",
        r"(?:fail|crash|die|abort)\w* .{0,40}(?:often|again|every time|always|repeatedly)|failure rate",
    ),
    sentence(
        _C,
        "cured_by_change",
        r"(?:solved|fixed|resolved|cured|works?|goes away|disappear\w*|gone|helped|stopped)\b.{0,25}(?:by|with"
        r"|after|once|when|until)? (?:setting|adding|exporting|passing|enabling|disabling|removing the|installing"
        r"|upgrading|downgrading|pinning|increasing|raising|reducing|reinstalling|rebuilding|loading|unsetting"
        r"|mounting|switching (?:to|off))|until .{0,50}(?:is set|was set|is enabled|is disabled|allows"
        r"|is installed|was installed)",
    ),
    sentence(
        _C,
        "host_crash",
        r"(?:node|machine|host|server)s? .{0,20}(?:freez\w*|froze|locks? up|locked up|crash\w*|reboots?|rebooted"
        r"|powers? off|shuts? down) .{0,40}(?:random|under load|spontaneous|by itself|sporadic)",
    ),
    sentence(
        _C,
        "part_failed",
        r"\b(?:psu|power supply|dimm\w*|memory module|fan|ssd|riser|motherboard|backplane)s?\b.{0,40}(?:fail|dead"
        r"|broken|degraded|fault|stopped|critical|defect|died)|cpu .{0,10}(?:fault|machine check|defect)"
        r"|memory stick.{0,30}(?:missing|gone|short)|\b\d+ GB short|stick of memory",
    ),
    sentence(
        _C,
        "cured_by_version",
        r"(?:gone|fixed|resolved|solved|works?|clean|fine|disappear\w*|not seen|ok) (?:in|with|since|from"
        r"|as of|under|on|by|after)"
        r" (?:the )?(?:\w+ ){0,3}v?\d+(?:\.\d+)+|(?:upstream|known|nccl|driver|framework) (?:bug|defect"
        r"|issue)|fixed upstream"
        r"|roll\w+ back .{0,40}(?:end|fix|help|solv|cur)\w*"
        r"|(?:after|when|once|by) .{0,50}(?:downgrad|upgrad|rolled back|newer|older (?:version|release))\w*"
        r"|(?:newer|older|other|next|previous) (?:version|release|container|image) .{0,30}(?:fix|solv|works|clean|ok)",
    ),
    sentence(
        _C,
        "misconfigured",
        r"mis-?configur\w+|(?:wrongly|incorrectly|not) configured|mounted incorrectly|wrong (?:setting"
        r"|option|value|mount|path"
        r"|interface|version|flag)|was (?:enabled|disabled|missing|not set) (?:on|in|for)|forgot\w* to"
        r"|had not been (?:set|enabled)"
        r"|(?:is|was|were|are) not (?:loaded|in path|on the path|installed|mounted|exported)"
        r"|commented out|(?:label|annotation|rule|key|flag|parameter|account|role|permission|driver"
        r"|package|module|entry)s? .{0,20}(?:is|are|was|were) (?:missing|absent|wrong|empty)"
        r"|never deployed|(?:detection|it) does not work (?:on|with)",
    ),
    sentence(
        _C,
        "not_applicable",
        r"(?:machines?|nodes?|instances?|types?|hosts?) (?:that |which )?(?:have|has|with) no\b"
        r"|does not have (?:an? )?(?:nv|inf|efa|gpu)"
        r"|not supported (?:on|by) this|no (?:infiniband|nvswitch|nvlink|efa|gpu) (?:at all|in|on) "
        r"|too old to support|does not support|on purpose|by design|as intended|never created|not meant to",
    ),
    sentence(_C, "application_fault", r"(?:application|user|program)(?:'s)? (?:bug|error|fault|code|mistake)"),
    sentence(
        _C,
        "data_loading",
        r"num_workers|data[- ]?loader|prefetch\w*|decompress\w*|decod(?:e|ing) .{0,20}(?:cpu|jpeg|image)"
        r"|small files|data loading",
    ),
    sentence(
        _C,
        "repeated",
        r"\brepeat(?:ed|edly|s|ing)\b|again and again|over and over|every (?:few )?(?:minutes?|hours?)"
        r"|keeps? (?:logging|coming|appearing)"
        r"|(?:twice|three times|many times|several times|\d+ times|\d+x) (?:in|on|within|since|a day)"
        r"|(?:gpu|device) .{0,40}(?:unusable|is dead)"
        r"|(?:two|three|four|five|six|\d+) times (?:today|a day|in|on|within|since|already)",
    ),
    sentence(
        _C,
        "start_order",
        r"(?:starts?|started|ran|runs|came up|comes up) before|not yet (?:ready|registered|loaded|started|running|up)"
        r"|still (?:loading|initiali[sz]ing"
        r"|in[_ ]progress)|race condition|too early"
        r"|still starting"
        r"|during (?:driver|agent|boot|start)\w*",
    ),
    sentence(
        _C,
        "topic_software",
        r"\b(?:environment|env var\w*|master port|same port|script|librar(?:y|ies)|AMI|configuration"
        r"|config file|yaml|dockerfile"
        r"|container|wheel|package|dependenc(?:y|ies)|bug(?!-report)|defect|invalid job credential|exporter"
        r"|holds the gpu|plug-?in|compiler|RBAC|daemonset|systemd|release|deployed)\b",
    ),
    sentence(
        _C,
        "topic_network",
        r"\b(?:BGP|leaf|spine|switch(?:es)?|uplink|fabric|RDMA|RoCE|InfiniBand|NIC|subnet|link error|cross-?rack)\b",
    ),
    sentence(
        _C,
        "topic_storage",
        r"\b(?:file ?system|FSx|Lustre|NFS|EFS|GPFS|Weka|object store|metadata server|checkpoint storage)\b",
    ),
    sentence(
        _C,
        "memory_pressure",
        r"host memory (?:is )?(?:full|exhausted|short)|kswapd|swapping|OOM killer"
        r"|ran out of (?:host )?memory|memory leak"
        r"|los(?:e|es|ing) memory|leak\w* memory|memory (?:shrinks|is lost|of one numa node)",
    ),
    sentence(
        _C,
        "old_evidence",
        r"last (?:week|month|year)|yesterday|(?:days?|hours?|weeks?) (?:ago|before)|\bold (?:log|entr\w+|xids?"
        r"|syslog|message)|logrotate|archived|long gone",
    ),
    sentence(
        _C,
        "tool_defect",
        r"(?:module|controller|operator|agent|daemon|plug-?in|scheduler|monitor|autoscaler)s? (?:never"
        r"|does not|doesn't|fails to"
        r"|forgets|ignores)\b|"
        r"(?:delet|terminat|reboot|replac|drain|evict)\w* (?:a |the "
        r"|some )?(?:healthy )?nodes? .{0,40}(?:with|while|that|although)"
        r" .{0,30}(?:running|job|healthy)|(?:un-?cordon|un-?drain|cordon|taint|drain|quarantine)\w*.{0,80}"
        r"(?:\bignored\b|by mistake|other reasons|someone|somebody|had cordoned|without (?:running|a |any ))"
        r"|(?:puts?|put|sets?|marks?) .{0,20}(?:online|schedulable|idle|back) .{0,30}(?:mistake|wrong"
        r"|without|too early)"
        r"|assigned .{0,20}to a node that|between assignment and|(?:operator|controller|autoscaler) (?:bug"
        r"|defect|ignores)"
        r"|waits for all jobs|actions? (?:is|are) ignored"
        r"|(?:kill|clean-?up|reaper|cron|housekeeping)(?:ing)? (?:script|bot|job|daemon)|(?:plug-?in"
        r"|daemon|agent|operator|exporter|kubelet|slurmd|controller|monitor)s? (?:crash|segfault|panic"
        r"|leak|dead-?lock)\w*"
        r"|operator (?:re)?(?:starts?|boots?|kills|deletes|evicts) (?:the|every|all|each|a)\b",
    ),
    sentence(
        _C,
        "flaps",
        r"again (?:in|after) [\d-]+ ?(?:s|min|h)|down\*? again|up and down|on and off",
    ),
    sentence(
        _C,
        "conditions_reset",
        r"conditions? .{0,40}(?:reset|set|flip\w*|went|back) (?:back )?to (?:False|Unknown)|false all[- ]clear",
    ),
    sentence(
        _C,
        "many_nodes",
        r"(?:on|across|over|for|in) (?:~ ?)?(?:many|all|every|most|several|multiple|both|half|dozens|hundreds|random"
        r"|[1-9]\d{1,4}|whole|entire) (?:of )?(?:the |our )?(?:gpu |compute |worker )?(?:nodes?|machines?"
        r"|hosts|instances|fleet|cluster)\b"
        r"|(?:~ ?)?[1-9]\d{1,3} (?:gpu |compute )?nodes (?:within|at once|in|went|reboot|fail|down|show|lost|drop)"
        r"|\d+ of (?:the |our )?\d+ (?:gpu )?nodes|fleet[- ]wide|same (?:half|error|code"
        r"|xid) .{0,30}(?:nodes|machines|fresh cluster)"
        r"|every node|all nodes|at the same (?:minute|moment|second)|nodes of the fleet|shut down \d+ nodes"
        r"|[1-9]\d{1,3} (?:\w+ ){0,4}nodes .{0,20}(?:reboot|unexpectedly|down|NotReady|fail|lost|went|died"
        r"|drain)|half of (?:the |our )?(?:\w+ ){0,2}nodes",
    ),
    sentence(
        _C,
        "after_rollout",
        r"(?:after|since|following|from|once|post)[ -].{0,60}(?:upgrad\w*|updat\w*|roll(?:ed)?[- ]?out"
        r"|new (?:driver|ami|image|kernel|version|release))|regression|(?:downgrad"
        r"|roll)\w* (?:back )?.{0,40}(?:fix|solv|work|help|resolv|clean|gone)|(?:fixed|solved|gone|works"
        r"|resolved) (?:in|with|by|after) .{0,30}(?:driver|version|release|\d{3}\.\d+)"
        r"|driver (?:version )?[456]\d\d(?:\.\d+)*",
    ),
    sentence(
        _C,
        "agent_restarted",
        r"(?:after|right after|following|when|on|during) .{0,30}(?:agent|daemonset|dcgm\w*|exporter"
        r"|monitor\w*|npd|detector"
        r"|plugin).{0,30}(?:upgrade|restart|start|update|roll|warm)|(?:agent|monitor\w*|npd) (?:re)?start(?:s|ed)?\b",
    ),
    sentence(
        _C,
        "recovered",
        r"(?:already|has|have|fully|self-?)[- ]?recovered|recovered (?:by itself|automatically|on its own)"
        r"|harmless|no impact|\bbenign\b|expected behaviou?r|as designed|informational|(?:can|safe) (?:be "
        r"|to )(?:safely )?ignored?|(?:gpu|hardware|node|job|training)s? (?:is|was|are|stays?|remains?"
        r"|itself) (?:healthy|fine|ok|unaffected)|hardware fine|all (?:checks|tests) pass",
    ),
    sentence(
        _C,
        "stale_state",
        r"(?:condition|taint|label|cordon\w*|drain\w*|reason|status|alert|annotation"
        r"|unschedulable)\w*.{0,80}(?:still|remains?|never clear\w*|not clear\w*|stays?|stuck|persists?|sticks"
        r"|not (?:reset|removed)|stale)|(?:still|remains?|stays?|stale|left ?over) .{0,30}(?:condition|taint|label"
        r"|cordon\w*|drain\w*|reason|annotation|unschedulable|True)"
        r"|still (?:shows|lists|says|reports)\b"
        r"|(?:gauge|metric|counter|\b[A-Z_]{6,}) (?:is |stays |value )?still \d+\b"
        r"|only (?:a )?restart\w* .{0,40}clears"
        r"|(?:plug-?in|agent|exporter|monitor)\w* (?:container |pod )?restart .{0,20}(?:fixes|clears|cures|brings)",
    ),
    sentence(
        _C,
        "stale_forever",
        r"(?:condition|taint|label|cordon\w*|drain\w*|reason|alert|annotation|status|unschedulable"
        r"|event)\w*.{0,60}(?:(?:never|not|n't|no longer) (?:ever |be |get |gets )?(?:clear|reset|remov|lift"
        r"|revert|return)\w*|permanent\w*)",
    ),
    sentence(
        _C,
        "after_fix",
        r"(?:after|although|even though|despite|once|since) .{0,60}(?:reboot\w*|recover\w*|replac\w*|fix\w*"
        r"|repair\w*|heal\w*|swap\w*|remediat\w*|reset|pass\w*|resolved)",
    ),
    sentence(
        _C,
        "false_alarm",
        r"false[- ](?:positive|alarm)|mis-?report|(?:wrongly|incorrectly|falsely|mistakenly"
        r"|spurious\w*) .{0,60}(?:report|mark|flag|drain|reboot|cordon|label|count|detect|unhealthy|fatal|error"
        r"|classif)|race (?:condition )?.{0,40}(?:agent|check|count|monitor)|misclassif"
        r"|(?:check|monitor|agent|probe)\w* (?:declares|says|thinks|marks|calls) .{0,60}(?:broken"
        r"|unhealthy|bad|failed)",
    ),
    sentence(
        _C,
        "returns_after_reboot",
        r"(?<!never )\b(?:again|returns?|recurs?|came back|back|new (?:row"
        r"|remap)).{0,40}after .{0,30}(?:reboot|reset)|(?:after"
        r"|despite) (?:each|every|\d+|several|multiple|two|three) (?:of \d+ )?(?:reboots?|resets?|power cycles?)"
        r"|keeps (?:coming|failing|falling)|minutes? after a reboot",
    ),
    sentence(
        _C,
        "one_node_only",
        r"(?:always|only|every time|each time) .{0,20}(?:on|with|involv\w+) (?:the )?(?:same|one|this|that"
        r"|a single|specific)"
        r" (?:node|gpu|machine|host|card)\b|(?:on|with) the same (?:node|gpu|machine|host|card|slot)\b"
        r"|on one (?:gpu|node|machine|host) (?:only|in repeated)|only when (?:node|host|gpu|machine) \S+"
        r"|only on (?!rank|the |all|main|one rank)\S{1,30}"
        r"|(?:works?|fine|ok|runs?|clean|gone)\W.{0,30}(?:on|with) (?:other|another|a different|different)"
        r" (?:node|machine|hardware|gpu|host|card)s?"
        r"|(?:excluding|exclude|removing|removed|without|avoiding|draining|swapping out) (?:the |that "
        r"|this )?(?:bad )?(?:node|machine|host)"
        r"|(?:after|by|when|once) (?:excluding|removing|draining|cordoning|isolating|avoiding) (?:it|that"
        r"|this|the|node)\b"
        r"|jobs? (?:that|which) (?:include|use|land on|run on) (?:node|host|machine)?"
        r"|whenever .{0,40}(?:node|host) \S+ is|others? \d+ Gb/s|on that (?:gpu|node|host) only"
        r"|(?:although|while|whereas|but) (?:all |the )?others? (?:\w+ )?(?:are|run|reach)",
    ),
    sentence(
        _C,
        "nothing_else_runs",
        r"nothing\ else|no\ other\ job|idle\ neighbo|otherwise\ idle|exclusive\ node|no\ other\ process",
    ),
    sentence(
        _C,
        "slowdown",
        r"(?<!hw )(?<!hw_)(?<!hardware )(?<!thermal )(?<!brake )slow(?:er|down|ly|s)?\b|(?:epoch|step"
        r"|iteration) time|(?:throughput|tflops|mfu|samples/s|tokens/s|it/s).{0,40}(?:drop|fell|fall|half|halv"
        r"|decreas|lower|low|degrad|vs|only)|batch(?:es)? per second|low gpu util\w*"
        r"|takes? (?:much )?longer|takes? .{0,30}(?:instead of|rather than)",
    ),
    sentence(
        _C,
        "periodic",
        r"periodic",
    ),
    sentence(
        _C,
        "compared_sites",
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
        r"(?:Running tokenizer|tokeniz\w+|preprocess\w*|LineShuffler|building .{0,20}index|index(?:ing|ed)? "
        r"|download\w*|generating \w+ split|shuffl\w+|loading (?:data|checkpoint|model|shards?)"
        r"|Map(?: \(num_proc)?|Filter|Grouping texts).{0,80}?(?:\d+ ?%|\d+/\d+|\[\d+:\d\d|Init|min|hour|\d+ ?GB"
        r"|took|takes|long|rank 0|only on rank)|(?:rank ?0|main process|one rank|single rank).{0,60}(?:tokeniz"
        r"|preprocess|download|index|dataset|saving|evaluat|generat)",
    ),
    pattern(
        _C,
        "progress_bar",
        ("%|",),
        r"\d+%\|.{0,40}\| ?\S{0,40} ?\[\d+:\d\d(?::\d\d)?<",
    ),
    sentence(
        _C,
        "uneven_work",
        r"(?:uneven|unequal|different number of|fewer|more) .{0,20}(?:batch|input|sample|step|micro|data"
        r"|length)\w*|only (?:\w+ ){0,3}(?:on|by|in|for) rank ?0|other ranks? wait|(?:only )?rank ?0 (?:only "
        r"|alone |saves?|evaluates?|calls?|enters?|writes?|is )|control[- ]flow|one rank (?:skips|exits|raises"
        r"|is still|indexing)|skips? the (?:all|collective|backward)"
        r"|rank ?0 (?:was|is) still",
    ),
    sentence(
        _C,
        "checkpoint_phase",
        r"(?:during|while|at|in|after) .{0,20}(?:checkpoint\w*|saving|save_\w+|evaluat\w+|validation|compil\w+"
        r"|warm-?up)",
    ),
    sentence(
        _C,
        "after_relaunch",
        r"left-?over|orphan\w*|zombie|(?:still )?held (?:by|gpu)|already running|previous (?:job|run)|D-state"
        r"|uninterruptible|another process",
    ),
    sentence(
        _C,
        "operator_did",
        r"(?:(?<!gpu )(?<!gpu-)(?<!training )(?<!network )(?<!slurm )\boperator\b|\badmin\w*|someone|somebody|colleague"
        r"|on-call engineer|intentional\w*|deliberat\w*|on purpose).{0,60}(?:cordon|drain|replace|reboot"
        r"|restart|delete|stop|terminat"
        r"|update|cancel|uncordon|remov|reset|fail)|(?:by hand|manual(?:ly)?).{0,20}(?:un-?cordon|drain"
        r"|delet|cancel|stopp)"
        r"|(?:cordon|drain|reboot|replac|restart|stopp|terminat|delet|decommission)\w* (?:manually |intentionally )?"
        r"(?:by|at the request of) (?:the |an? )?(?:operator|admin|user|maintenance|on-call)"
        r"|kubectl (?:cordon|drain|delete)"
        r"|planned (?:reboot|replacement)",
    ),
    sentence(
        _C,
        "checker_hung",
        r"(?:health ?check|nhc|nvidia-smi|dcgmi?|check) .{0,40}(?:hang|hung|times? out|timed out|timeout|stuck)"
        r"|NHC: Watchdog timer",
    ),
    sentence(
        _C,
        "gpu_busy_idle_wire",
        r"100 ?% (?:busy|util\w*|gpu)|all GPUs 100 ?%|no bytes moving",
    ),
    sentence(
        _C,
        "fresh_setup",
        r"fresh (?:cluster|install|node|machine)s?|new(?:ly)? (?:cluster|install\w*|built|created|launched)"
        r"|first (?:time|run|start)|never worked|right away|immediately",
    ),
    sentence(
        _C,
        "no_nvswitch",
        r"(?:no|without) nvswitch|\b[2348]x ?(?:rtx ?)?[34]0?90\b|(?:rtx )?(?:3090|4090)|\bg[56]e?\.\d{1,2}xlarge",
    ),
)
