"""Every line pattern of every source, and the words of the combined pre-filter."""

from __future__ import annotations

from core.health.parsing import circumstances, collectives, cuda, gpu, host, hyperpod, launchers, network
from core.health.parsing.line_pattern import LinePattern

PATTERNS: tuple[LinePattern, ...] = (
    *gpu.PATTERNS,
    *cuda.PATTERNS,
    *collectives.PATTERNS,
    *network.PATTERNS,
    *host.PATTERNS,
    *launchers.PATTERNS,
    *hyperpod.PATTERNS,
    *circumstances.PATTERNS,
)

CIRCUMSTANCE_KINDS: frozenset[str] = frozenset(pattern.kind for pattern in circumstances.PATTERNS)

# People write circumstances, machines do not; the few that a program prints itself are read from logs too.
_PRINTED = frozenset({"data_preparation", "progress_bar"})

# Shapes of sentences, whose common words would cost a log stream its pre-filter.
_SENTENCES: frozenset[str] = frozenset(
    {
        *("collective_hang", "hang_at_init", "pcie_isolation", "p2p_workaround", "setting_cured"),
        *(
            "torchelastic_hang",
            "storage_slow",
            "cpu_binding",
            "host_setting",
            "gpu_clock_stuck",
            "site_power",
        ),
        *("security_group", "efa_retransmit", "gpu_bandwidth_low", "mtu_mismatch", "efa_installer"),
        *("autoresume_requeue", "nic_hardware", "gpu_count_short", "pcie_degraded", "gid_problem", "maintenance"),
    }
)

LOG_PATTERNS: tuple[LinePattern, ...] = tuple(
    pattern for pattern in PATTERNS if pattern.kind in _PRINTED or pattern.kind not in CIRCUMSTANCE_KINDS | _SENTENCES
)
"""What a stream of machine-written lines is searched for."""
