"""InfiniBand, RoCE, EFA and libfabric lines, link state, names and routes.

`unresponsive remote` and `Peer host id` accuse the other end (EKS node-monitoring-agent, aws-ofi-nccl 346);
`status=5` and `vendor err 249` are flushes that follow another failure (nccl issue 1698).
"""

from __future__ import annotations

from core.health.parsing.line_pattern import LinePattern, pattern, sentence
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
        ("retry count", "retry_exc", "retries exceeded"),
        r"retry count(?:er)? exceeded|RETRY_EXC_ERR|retries exceeded",
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
            "state down",
            "physical state",
            "no ib port",
            "port state change",
        ),
        r"(?:link|port|nic|mlx5_\d+|eth\d|ib\d|efa_?\d|rdma\w*|interface)\S{0,20}.{0,40}(?:\bdown\b"
        r"|flap|link_downed)|lost carrier|link lost|\bflap(?:s|ped|ping)?\b"
        r"|(?:State|LinkState):? ?Down\b|Physical state:? ?(?:Disabled|Polling)|No IB port",
    ),
    pattern(
        _W,
        "nic_kernel_error",
        ("mlx5_core", "mlx5_pcie", "mlx5_"),
        r"mlx5\S{0,24}.{0,60}(?:insufficient power|high temperature|health (?:compromised|poll|counter)|fatal"
        r"|command timeout|firmware (?:internal )?error)",
    ),
    sentence(
        _W,
        "nic_hardware",
        r"mlx5\S{0,24}.{0,60}(?:insufficient power|high temperature|health (?:compromised|poll|counter)|fatal"
        r"|assert|command timeout|firmware)|(?:bad|faulty|broken|dirty|defective|loose"
        r"|replaced?) (?:\w+ )?(?:cable|transceiver|optic|nic|switch|hca|port)|symbol[ _]?err\w*.{0,40}(?:ris"
        r"|increas|climb|high|grow)|(?:switch|leaf|spine).{0,40}(?:fail|reboot|crash|died|fault)"
        r"|(?:cable|transceiver|optic|fibre|fiber|nic|hca|switch|port)s? (?:was|were|has been"
        r"|got) (?:replaced|swapped|re-?seated|cleaned)"
        r"|(?:dirty|damaged|bent|kinked|unplugged) (?:\w+ )?(?:cable|fibre|fiber|optic|connector)"
        r"|packet (?:drops|loss)|drops packets",
    ),
    sentence(
        _W,
        "gid_problem",
        r"GID.{0,60}(?:index|table|wrong|chang|missing|invalid|::0|empty|not found|shift|fe80)|(?:wrong|missing"
        r"|no) GID|show_gids",
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
    sentence(
        _W,
        "mtu_mismatch",
        r"\bMTU\b.{0,60}(?:mismatch|differ|9000|1500|jumbo)|\bPFC\b.{0,60}(?:not|disabled|missing|misconf)"
        r"|lossless.{0,40}(?:not|disabled)",
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
        r"(?:unresponsive[ _](?:remote|receiver|peer)|impaired[ _]remote"
        r"|Invalid address(?=.{0,400}Peer host id))"
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
            *("optimal provider", "only efa provider", "no efa", "provider efa", "fi_getinfo", "efa provider"),
            *("using network socket", "net/socket", "eligible provider", "no eligible", "efa device"),
        ),
        r"Could(?: not|n't) find any optimal provider|Only EFA provider is supported|no efa (?:device|interface"
        r"|provider)"
        r"|fi_getinfo.{0,80}(?:fail|No data|-61|empty)|Using network Socket"
        r"|No eligible providers? (?:were|was)? ?found"
        r"|efa (?:provider|device)\w*.{0,40}(?:not|missing|fail|empty)|provider efa .{0,20}empty",
    ),
    sentence(
        _W,
        "efa_not_used",
        r"NET/Socket ?: ?Using|instead of (?:the )?EFA|f[ae]ll\w* back to (?:socket|tcp|ethernet)"
        r"|(?:not using|without|no) EFA\b"
        r"|Selected Provider is (?:tcp|sockets)",
    ),
    sentence(
        _W,
        "interface_choice",
        r"NCCL (?:picks|chose|uses|selects|selected) .{0,20}(?:eth\d|docker0|\blo\b|virbr0|overlay)"
        r"|overlay network|hostNetwork",
    ),
    sentence(
        _W,
        "subnet_manager",
        r"opensm|subnet manager|partition key|\bpkey\b|LID.{0,20}(?:unassigned|is 0)",
    ),
    sentence(
        _W,
        "routing",
        r"can(?:no|')t be routed|not routable|across (?:the )?(?:subnets?|vpcs?|zones?|availability zones?)"
        r"|different (?:subnet|vpc|availability zone)s?|route table|routing (?:table|rule|problem)"
        r"|lacks? port \d+|port \d+ (?:is )?(?:blocked|closed)",
    ),
    pattern(_W, "ofi_warning", "nccl warn net/ofi"),
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
    sentence(
        _W,
        "efa_installer",
        r"(?:efa[ _]installer|efa version|libfabric|aws-ofi-nccl|ofi plugin).{0,60}(?:mismatch|older|differ"
        r"|incompat|too old|not (?:loaded|found|installed)|missing|bug|upgrade)",
    ),
    sentence(
        _W,
        "security_group",
        r"security\ group|security\-group|self\-referenc|firewall|iptables|ufw|network\ acl|network\ policy"
        r"|networkpolicy|firewalld|blocked\ port",
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
    sentence(
        _W,
        "efa_retransmit",
        r"retrans\w*.{0,60}(?:\d{2,}|ris|high|increas)|packet loss|congestion|rx_drops.{0,30}(?:ris|increas"
        r"|[1-9]\d)"
        r"|over-?subscri\w+|incast|NCCL_IB_TIMEOUT",
    ),
    pattern(
        _W,
        "tls_or_proxy",
        ("certificate verify failed", "x509:", "ssl:", "proxyerror", "407 proxy"),
        r"certificate verify failed|x509: .{0,80}|ProxyError|407 Proxy",
    ),
)
