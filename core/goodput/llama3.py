"""Published failure figures that goodput is checked against.

Llama 3 pre-training: 16,384 H100 (2,048 nodes), 54 days, 419 unexpected interruptions (arXiv 2407.21783, table 5; the
counts, not the printed percentages, which do not match them).
"""

from __future__ import annotations

from typing import Final

NODES: Final = 2_048
DAYS: Final = 54
FAILURES_PER_1000_NODE_DAYS: Final = 3.79
PESSIMISTIC_FAILURES_PER_1000_NODE_DAYS: Final = 6.5
"""Meta's RSC-1 cluster of A100 (arXiv 2410.21680)."""

INTERRUPTIONS: Final[dict[str, int]] = {
    "gpu": 148,
    "gpu_memory": 72,
    "software": 54,
    "switch_or_cable": 35,
    "host_maintenance": 32,
    "gpu_sram": 19,
    "gpu_system_processor": 17,
    "nic": 7,
    "nccl_watchdog": 7,
    "silent_data_corruption": 6,
    "gpu_thermal": 6,
    "disk": 3,
    "power_supply": 3,
    "chassis": 2,
    "io_board": 2,
    "dependency": 2,
    "cpu": 2,
    "system_memory": 2,
}
