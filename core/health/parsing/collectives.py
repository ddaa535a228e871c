"""NCCL and process-group lines: the watchdog, bootstrap, and what NCCL says about its peers."""

from __future__ import annotations

from core.health.parsing.line_pattern import LinePattern, pattern, sentence
from core.health.signals import SignalFamily

_N = SignalFamily.COLLECTIVE

PATTERNS: tuple[LinePattern, ...] = (
    pattern(
        _N,
        "nccl_watchdog_timeout",
        ("watchdog caught collective", "worknccl("),
        r"(?:\[rank ?(?P<rank>\d+)\])?.{0,80}WorkNCCL\((?:SeqNum=(?P<seq>\d+), ?)?OpType=(?P<op>\w+)"
        r"(?:, ?NumelIn=(?P<numel>\d+))?(?:, ?NumelOut=\d+)?(?:, ?Timeout\(ms\)=(?P<timeout_ms>\d+))?\)?"
        r"(?:.{0,12}ran for (?P<ran_ms>\d+) milliseconds)?",
    ),
    pattern(
        _N,
        "nccl_socket_timeout",
        (
            "socket timeout",
            "setting up nccl communicator",
            "store->get",
            "wait timeout after",
            "timed out after 1800",
            "monitoredbarrier",
        ),
    ),
    sentence(
        _N,
        "nccl_timeout_mention",
        r"(?:nccl|collective|watchdog|all-?reduce|all-?gather|broadcast|barrier)\w*.{0,40}time[sd]?[- ]?outs?",
    ),
    sentence(
        _N,
        "collective_hang",
        r"(?:nccl|all[-_]?reduce|all[-_]?gather|collective|broadcast|barrier|training|rank|job|step"
        r"|program|process|run|script|test)\w*"
        r".{0,80}(?:\bhangs?\b|\bhung\b|hanging|deadlock|\bstuck\b|blocked|no progress|freez\w+|\bstalls?\b|stalled)"
        r"|(?:\bhangs?\b|hanging|deadlock|stuck).{0,60}(?:nccl|all[-_]?reduce|collective|barrier"
        r"|init_process_group|dist\.)",
    ),
    sentence(
        _N,
        "hang_at_init",
        r"(?:hang|deadlock|stuck|fail|timeout)\w*.{0,40}(?:right |immediately )?(?:after|at|during|in"
        r"|on) (?:the )?(?:nccl |first )?(?:init\w*|launch|start-?up|first (?:iteration|step|collective"
        r"|all-?reduce))",
    ),
    pattern(
        _N,
        "nccl_connect_refused",
        (
            "connection refused",
            "no route to host",
            "network is unreachable",
            "connection timed out",
            "socketstartconnect",
            "failed to connect",
            "could not connect",
            "unable to connect",
            "cannot connect",
            "client socket has",
        ),
        r"client socket has (?:timed out|failed)|(?:failed to|could not|unable to|cannot) connect (?:to"
        r"|with)|(?:Call to )?(?:connect|socket\w*|bind)?.{0,60}(?P<code>Connection refused|No route to host"
        r"|Network is unreachable|Connection timed out)",
    ),
    pattern(
        _N,
        "nccl_no_interface",
        (
            "no socket interface found",
            "no interface found",
            "no usable listening interface",
            "nccl_socket_ifname",
        ),
    ),
    pattern(
        _N,
        "nccl_version_mismatch",
        ("mismatched nccl version", "nccl version mismatch", "different nccl version", "mismatching nccl"),
    ),
    pattern(
        _N,
        "nccl_topology",
        ("of node cpu not found", "graph/xml", "xml.h", "xml.cc", "nccl_topo_file"),
        r"Attribute \w+ of node \w+ not found|(?:Could not open|Failed to (?:open|parse)) XML.{0,80}"
        r"|XML (?:Parse|Import|Open).{0,80}",
    ),
    pattern(
        _N,
        "nccl_truncated",
        (
            "message truncated",
            "mismatched collective",
            "mismatch between collective",
            "collective mismatch",
            "detected mismatch",
        ),
    ),
    pattern(
        _N,
        "nccl_invalid_usage",
        (
            "duplicate gpu detected",
            "ncclinvalidusage",
            "invalid usage",
            "ncclinvalidargument",
            "invalid argument (run with",
        ),
    ),
    pattern(
        _N,
        "nccl_shm",
        ("dev/shm", "nccl-shm", "shared memory", "(shm)", "bus error", "shm_open", "shm-size", "ipc=host"),
        r"/dev/shm.{0,80}|shm-size|ipc=host|nccl-shm|insufficient shared memory|\(shm\)"
        r"|unexpected bus error encountered in worker|shm_open|"
        r"shared memory.{0,40}(?:segment|fail|full|exhaust|too small|insufficient)",
    ),
    pattern(
        _N,
        "nccl_remote_gone",
        (
            "ncclremoteerror",
            "remote process exited",
            "connection closed by remote peer",
            "connection closed by peer",
            "connection reset by peer",
            "net recv failed",
            "broken pipe",
        ),
    ),
    pattern(
        _N,
        "nccl_system_error",
        (
            "unhandled system error",
            "ncclsystemerror",
            "unhandled cuda error",
            "ncclunhandledcudaerror",
            "ncclinternalerror",
        ),
    ),
    pattern(
        _N,
        "nccl_harmless",
        ("failed to find nccl", "failed to open libibverbs", "libnccl-net.so", "no plugin found"),
        r"Failed to find nccl\w+ symbol|Failed to open libibverbs|libnccl-net\.so.{0,60}|no plugin found",
    ),
    sentence(
        _N,
        "p2p_workaround",
        r"(?P<code>NCCL_(?:P2P_DISABLE|SHM_DISABLE|IB_DISABLE|P2P_LEVEL|NVLS_ENABLE|CUMEM\w*)|p2p=0)",
    ),
    sentence(
        _N,
        "pcie_isolation",
        r"\biommu\b|\bACS\b|\bPHB\b|access control services",
    ),
    sentence(
        _N,
        "setting_cured",
        r"NCCL_(?:IB_GID_INDEX|IB_HCA|SOCKET_IFNAME|IB_TC|IB_SL)|(?:solved|fixed|resolved"
        r"|cured) by setting",
    ),
    sentence(
        _N,
        "torchelastic_hang",
        r"agent (?:hangs|does not restart|never restarts)|hangs? instead of restart|(?:torchelastic|torchrun"
        r"|elastic).{0,60}(?:hang|stuck|never restart|does not restart)",
    ),
)
