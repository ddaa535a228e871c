"""torchrun, Slurm and Kubernetes job lines: how a process or a job ended, and what the scheduler thinks of
nodes."""

from __future__ import annotations

from core.health.parsing.line_pattern import LinePattern, pattern, sentence
from core.health.signals import SignalFamily

_L, _S = SignalFamily.LAUNCHER, SignalFamily.SCHEDULER

PATTERNS: tuple[LinePattern, ...] = (
    pattern(
        _L,
        "process_exit",
        ("exitcode", "exit code", "exited with", "signal"),
        r"failed \(exitcode: ?(?P<code>-?\d+)\)(?:.{0,20}local_rank: ?(?P<local_rank>\d+))?"
        r"|exit ?code:?\s{0,4}(?P<plain>-?\d+)|Signal (?P<signal>\d+) \(SIG\w+\)",
    ),
    pattern(
        _L,
        "rendezvous_failed",
        (
            "rendezvousconnectionerror",
            "rendezvoustimeout",
            "rendezvousclosed",
            "rendezvous",
            "timed out after",
            "tcpstore",
            "waiting for clients",
            "init_process_group",
            "pjrt_client_connect",
            "coordination service",
        ),
        r"PjRT_Client_Connect|coordination service.{0,60}(?:fail|error|unavailable|timed out)"
        r"|Rendezvous\w*(?:Error|Exception)?.{0,80}(?:fail|error|timeout|timed out|closed|could not)"
        r"|TCPStore.{0,80}(?:timeout|timed out|fail|refused)|"
        r"Timed out after \d+ seconds waiting for clients|init_process_group.{0,60}(?:timeout|timed out"
        r"|fail|error)|Rendezvous(?:Connection|Timeout|Closed)Error",
    ),
    pattern(_L, "address_in_use", ("address already in use", "eaddrinuse", "errno: 98", "errno 98")),
    pattern(
        _L,
        "child_failed",
        ("childfailederror", "sending process", "processgroup failed", "errors.childfailed"),
        r"ChildFailedError|Sending process \d+ closing signal (?P<code>SIG\w+)",
    ),
    pattern(
        _L,
        "killed",
        ("killed", "sigkill", "signal 9", "exitcode: -9", "exit code 137"),
        r"(?<!be )(?<!been )\bKilled\b(?! process)|SIGKILL|signal 9\b|exitcode: -9|exit code:? 137",
    ),
    pattern(
        _L,
        "terminated",
        ("sigterm", "signal: 15", "signal 15", "exit code 143"),
        r"SIGTERM|got signal: 15|signal 15\b|exit code:? 143",
    ),
    pattern(_S, "slurm_kill_task_failed", "kill task failed"),
    pattern(_S, "slurm_stepd_terminated", ("job not ending with signals", "stepd terminated")),
    pattern(
        _S,
        "slurm_not_responding",
        ("not responding", "nodes not responding", "setting them down", "no response"),
        r"\b(?:Not|no) respon(?:ding|se)\b(?!.{0,20}server| to )|setting (?:them )?DOWN",
    ),
    pattern(_S, "slurm_unexpected_reboot", ("unexpectedly rebooted", "unexpected reboot", "rebooted unexpectedly")),
    sentence(
        _S,
        "pods_pending",
        r"pods? .{0,30}(?:stay|stuck|remain|keep|hang)\w* .{0,20}(?:Pending|ContainerCreating|Terminating|Unknown"
        r"|scheduling)",
    ),
    pattern(
        _S,
        "slurm_low_resource",
        ("low realmemory", "low cpus", "low tmpdisk", "low socket", "differs from hardware"),
        r"differs from hardware|Low (?:RealMemory|CPUs|TmpDisk|socket\S*)",
    ),
    pattern(
        _S,
        "slurm_prolog_failed",
        ("prolog", "epilog"),
        r"(?:prolog|epilog)\w*.{0,80}(?:error|fail|hung|non-zero|exit|denied|rc=)",
    ),
    pattern(
        _S,
        "slurm_operator_update",
        ("update_node", "action:re", "scontrol update", "reason set to", "state set to"),
        r"update_node: node (?P<device>\S{1,64}) (?:reason|state) set to:? ?(?P<code>\S{1,60})"
        r"|Action:(?:Replace|Reboot)|scontrol update",
    ),
    pattern(
        _S,
        "job_cancelled",
        (
            "cancelled",
            "canceled",
            "preempt",
            "time limit",
            "timelimit",
            "scancel",
            "keyboardinterrupt",
            "deadlineexceeded",
            "activedeadline",
        ),
        r"CANCELLED AT.{0,60}DUE TO (?P<why>TIME LIMIT|PREEMPTION|NODE FAILURE)|CANCELLED (?:AT|BY"
        r"|by)?.{0,60}|Cancel+ed by|scancel|due to (?P<code>TIME LIMIT|PREEMPTION)"
        r"|\bPreempted\b|preempt(?:ed|ion) by|KeyboardInterrupt|DeadlineExceeded",
    ),
    sentence(
        _S,
        "maintenance",
        r"(?:scheduled|planned|system|host|site) (?:maintenance|event|downtime|outage|reboot)"
        r"|maintenance (?:window|reservation|event|mode)|instance[- ]retirement|system-reboot|instance-stop"
        r"|capacity block ended|training plan ended",
    ),
    sentence(
        _S,
        "capacity_reclaimed",
        r"spot (?:instance )?interruption|interruption notice|reclaimed by|rebalance recommendation",
    ),
    sentence(
        _S,
        "site_power",
        r"(?:power|cooling|site|utility|datacent(?:er|re)|\baz|zone|rack|chiller"
        r"|pdu)[- ]?(?:wide )?(?:\w+ )?(?:outage|failure|loss|lost"
        r"|event|tripped|cut|blip)|(?:loss|lack) of (?:power|cooling)|breaker trip|lost power|power (?:dip"
        r"|surge)|chiller"
        r"|(?:inlet|aisle|containment|cooling water|chilled).{0,60}(?:fail|high|hot|leak)|all racks",
    ),
    pattern(
        _S,
        "controller_unreachable",
        ("slurm controller", "slurmctld", "slurmdbd", "api server", "apiserver", "etcd"),
        r"(?:Unable to contact slurm controller|slurmctld (?:is |was |has )?(?:not responding|down|unreachable|crash)"
        r"|primary controller.{0,30}(?:down|not responding)|slurmdbd.{0,60}(?:down|unreachable"
        r"|not responding)|(?:api ?server"
        r"|etcd).{0,60}(?:unreachable|timeout|timed out|refused|unavailable|overload))",
    ),
    pattern(
        _S,
        "slurm_config",
        (
            "invalid account",
            "invalid qos",
            "invalid partition",
            "slurm.conf",
            "gres.conf",
            "requested node configuration",
            "nodes required for job are down",
            "unable to parse",
            "invalid generic resource",
            "version mismatch",
            "protocol version",
        ),
        r"Invalid (?:account|qos|partition|generic resource)|(?:slurm|gres|cgroup"
        r"|topology)\.conf.{0,80}|Requested node configuration is not available|protocol version",
    ),
    pattern(
        _S,
        "node_not_ready",
        ("notready", "not ready", "node lost", "nodelost", "nodestatusunknown"),
        r"\bNotReady\b|NodeLost|NodeStatusUnknown|node (?:is )?not ready",
    ),
    sentence(
        _S,
        "autoresume_requeue",
        r"auto-?resume.{0,80}(?:requeue|not|fail|instead)|requeues? instead",
    ),
)
