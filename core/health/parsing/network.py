"""InfiniBand, RoCE, EFA and libfabric lines, link state, names and routes.

`unresponsive remote` and `Peer host id` accuse the other end (EKS node-monitoring-agent, aws-ofi-nccl 346);
`status=5` and `vendor err 249` are flushes that follow another failure (nccl issue 1698).
"""

from __future__ import annotations

from core.health.parsing.line_pattern import LinePattern, pattern
from core.health.signals import SignalFamily

_W = SignalFamily.NETWORK

PATTERNS: tuple[LinePattern, ...] = (
    pattern(
        _W,
        "ib_completion_error",
        ("got completion", "vendor err", "retry counter exceeded", "retry_exc"),
        r"Got completion(?: from peer (?P<peer>[^ <]{1,64})(?:<\d+>)?)? with (?:error|status=) ?(?P<code>\d+)"
        r"(?:,? opcode[ =](?P<opcode>\d+))?(?:,? len[ =](?P<length>\d+))?(?:,? vendor err (?P<vendor>\d+))?"
        r"(?:.{0,80}?hca (?P<device>\S{1,24}))?",
    ),
    pattern(
        _W,
        "ib_flush",
        ("vendor err 249", "status=5", "wr_flush"),
        r"status=5\b.{0,80}|vendor err 249|WR_FLUSH_ERR",
    ),
    pattern(
        _W,
        "ib_retry_exceeded",
        ("retry counter exceeded", "retry_exc"),
        r"(?:transport )?retry counter exceeded|RETRY_EXC_ERR",
    ),
    pattern(
        _W,
        "port_error",
        ("port error", "async event"),
        r"Got (?:async|fatal) event ?: ?(?P<code>port error|local catastrophic error|device fatal"
        r"|client reregistration|GID table change|lid change)"
        r"|async(?:hronous)? event.{0,40}(?:port error|port_err|fatal)",
    ),
    pattern(
        _W,
        "link_down",
        (
            "link down",
            "lost carrier",
            "link is down",
            "link flap",
            "flap",
            "port down",
            "nic down",
            "link_downed",
            "link lost",
            "state: down",
            "port state change",
        ),
        r"(?:link|port|nic|mlx5_\d+|eth\d|ib\d|efa_?\d|rdma\w*|interface)\S{0,20}.{0,40}(?:\bdown\b"
        r"|flap|link_downed)|lost carrier|link lost|\bflap(?:s|ped|ping)?\b|State: Down",
    ),
    pattern(
        _W,
        "nic_kernel_error",
        ("mlx5_core", "mlx5_pcie", "mlx5_"),
        r"mlx5\S{0,24}.{0,60}(?:insufficient power|high temperature|health (?:compromised|poll|counter)|fatal"
        r"|command timeout|firmware (?:internal )?error)",
    ),
    pattern(
        _W,
        "nic_hardware",
        (
            "mlx5",
            "nic ",
            "ethernet",
            "transceiver",
            "optic",
            "cable",
            "connectx",
            "firmware",
            "health",
            "ibstat",
            "symbol",
            "switch port",
            "leaf",
            "spine",
        ),
        r"mlx5\S{0,24}.{0,60}(?:insufficient power|high temperature|health (?:compromised|poll|counter)"
        r"|fatal|assert|command timeout|firmware)|"
        r"(?:bad|faulty|broken|dirty|defective|loose|replaced?) (?:\w+ )?(?:cable|transceiver|optic|nic"
        r"|switch|hca|port)|"
        r"symbol[ _]?err\w*.{0,40}(?:ris|increas|climb|high|grow)|(?:switch|leaf|spine).{0,40}(?:fail"
        r"|reboot|crash|died|fault)",
    ),
    pattern(
        _W,
        "gid_problem",
        ("gid",),
        r"GID.{0,60}(?:index|table|wrong|chang|missing|invalid|::0|empty|not found|shift|fe80)|(?:wrong"
        r"|missing|no) GID|show_gids",
    ),
    pattern(
        _W,
        "ibv_modify_qp",
        "ibv_modify_qp",
        r"ibv_modify_qp failed.{0,40}?(?P<code>Network is unreachable|No such device|Invalid argument"
        r"|Connection timed out|No data available)?",
    ),
    pattern(
        _W,
        "memlock_limit",
        (
            "ibv_reg_mr",
            "memlock",
            "ibv_create_cq",
            "ibv_create_qp",
            "locked memory",
            "nvidia_peermem",
            "nv_peer_mem",
            "peermem",
        ),
        r"ibv_(?:reg_mr\w*|create_[cq][qp]) failed.{0,80}|memlock|max locked memory|(?:nvidia_peermem"
        r"|nv_peer_mem|peermem).{0,60}(?:not|missing|fail)",
    ),
    pattern(
        _W,
        "mtu_mismatch",
        ("mtu", "pfc", "ecn", "dcqcn"),
        r"\bMTU\b.{0,60}(?:mismatch|differ|9000|1500|jumbo)|\bPFC\b.{0,60}(?:not|disabled|missing"
        r"|misconf)|lossless.{0,40}(?:not|disabled)",
    ),
    pattern(
        _W,
        "efa_request_error",
        ("net/ofi", "libfabric:", "prov_err"),
        r"NET/OFI.{0,60}Request .{0,60}completed with error. {0,2}RC: ?(?P<code>\d+)"
        r"|prov_err:? ?.{0,60}\((?P<prov>\d+)\)|"
        r"libfabric:.{0,120}<warn> err: ?(?P<err>\d+)",
    ),
    pattern(
        _W,
        "efa_address_insert",
        ("address vector", "insert remote address", "fi_av_insert"),
        r"(?:insert (?:remote )?address|fi_av_insert|address vector)",
    ),
    pattern(
        _W,
        "efa_unresponsive_remote",
        ("unresponsive", "invalid address", "peer host id", "impaired_remote", "impaired remote"),
        r"(?:unresponsive[ _](?:remote|receiver|peer)|impaired[ _]remote|Invalid address(?=.{0,400}Peer host id))"
        r"(?:.{0,400}?Peer host id: ?(?P<peer>i-\w{4,17}))?|Peer host id: ?(?P<peer_id>i-\w{4,17})",
    ),
    pattern(
        _W,
        "efa_unreachable_remote",
        (
            "unreachable remote",
            "never received a response",
            "unreachable_remote",
            "host unreachable",
            "ehostunreach",
        ),
    ),
    pattern(
        _W,
        "efa_not_found",
        (
            "optimal provider",
            "only efa provider",
            "no efa device",
            "provider efa",
            "fi_getinfo",
            "efa provider",
            "using network socket",
            "net/socket",
            "eligible provider",
            "no eligible",
            "no efa",
            "efa device",
        ),
        r"Could not find any optimal provider|Only EFA provider is supported|no efa (?:device|interface"
        r"|provider)|fi_getinfo.{0,60}(?:fail|No data|-61)|"
        r"Using network Socket|No eligible providers? (?:were|was)? ?found|efa (?:provider"
        r"|device)\w*.{0,40}(?:not|missing|fail)",
    ),
    pattern(
        _W,
        "efa_admin_command",
        "failed to process command",
        r"efa_?\d?:? ?.{0,20}Failed to process command (?P<code>\w+).{0,60}err -?(?P<err>\d+)",
    ),
    pattern(
        _W,
        "efa_huge_page",
        ("huge page", "huge_page", "hugepage", "fork safe", "fork_safe", "rdmav_fork", "efa_fork"),
        r"huge[ _]?page.{0,80}|(?:rdmav|efa|fi_efa)_fork\w*|fork.{0,20}(?:ENOMEM|cannot allocate)",
    ),
    pattern(
        _W,
        "efa_installer",
        ("efa installer", "efa_installer", "aws-ofi-nccl", "libfabric", "efa version", "plugin"),
        r"(?:efa[ _]installer|efa version|libfabric|aws-ofi-nccl|ofi plugin).{0,60}(?:mismatch|older"
        r"|differ|incompat|too old|not (?:loaded|found|installed)|missing|bug|upgrade)",
    ),
    pattern(
        _W,
        "security_group",
        (
            "security group",
            "security-group",
            "self-referenc",
            "firewall",
            "iptables",
            "ufw",
            "network acl",
            "network policy",
            "networkpolicy",
            "firewalld",
            "blocked port",
        ),
    ),
    pattern(
        _W,
        "name_resolution",
        (
            "name or service not known",
            "temporary failure in name resolution",
            "getaddrinfo",
            "could not resolve host",
            "nodename nor servname",
            "no such host",
            "unknownhost",
            "/etc/hosts",
        ),
    ),
    pattern(
        _W,
        "efa_retransmit",
        ("retrans", "packet loss", "congestion", "dropped packets", "rx_drops"),
        r"retrans\w*.{0,60}(?:\d{2,}|ris|high|increas)|packet loss|congestion|rx_drops.{0,30}(?:ris"
        r"|increas|[1-9]\d)",
    ),
    pattern(
        _W,
        "tls_or_proxy",
        ("certificate verify failed", "x509:", "ssl:", "proxyerror", "407 proxy"),
        r"certificate verify failed|x509: .{0,80}|ProxyError|407 Proxy",
    ),
)
