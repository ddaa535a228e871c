"""Rules for broken machines that are not decided by a code of the Xid table alone."""

from __future__ import annotations

from core.health.diagnosis.rule import CauseRule, rule
from core.health.faults import Accused, Confidence, FaultClass, Remediation

_REBOOT, _REPLACE, _RESTART, _ASK = (
    Remediation.REBOOT,
    Remediation.REPLACE,
    Remediation.RESTART_WORKLOAD,
    Remediation.ESCALATE,
)
_SELF = Accused.REPORTER
_HW, _BUS, _MEMORY, _SWITCH, _PEER = (
    FaultClass.GPU_HW,
    FaultClass.GPU_HW_BUS,
    FaultClass.GPU_HW_MEMORY,
    FaultClass.NVLINK_SWITCH,
    FaultClass.NVLINK_PEER,
)
_STATED, _WEAK = Confidence.STATED, Confidence.WEAK

BEFORE_TABLE: tuple[CauseRule, ...] = (
    rule(
        "remap_failed",
        "row_remap_failed|memory_worn_out|xid_first:64",
        (_MEMORY, _REPLACE, _SELF),
        "NVIDIA GPU memory error guide: no spare row is left for it",
        repeat=_REPLACE,
        confidence=_STATED,
    ),
    rule(
        "memory_dying",
        "xid:48|xid:95|ecc_uncorrectable|cuda_ecc returns_after_reboot",
        (_MEMORY, _REPLACE, _SELF),
        "a new remap soon after the reboot that activated one: the memory is dying (vllm-backport 62)",
        unless="row_remap_clean",
        repeat=_REPLACE,
    ),
    rule(
        "hyperpod_terminates",
        "fault_type:NvidiaErrorTerminate|health_label:UnschedulablePendingReplacement",
        (_HW, _REPLACE, _SELF),
        "HyperPod label: the agent asks for a replacement",
        repeat=_REPLACE,
        confidence=_STATED,
    ),
    rule(
        "hyperpod_reboots",
        "fault_type:NvidiaErrorReboot|fault_type:NvidiaGPUUnhealthy|health_label:UnschedulablePendingReboot",
        (_HW, _REBOOT, _SELF),
        "HyperPod label: the agent asks for a reboot",
        repeat=_REPLACE,
        confidence=_STATED,
    ),
    rule(
        "nvlink_peer",
        "nvlink5.peer",
        (_PEER, _ASK, Accused.PEER),
        "NVLink 5 sub-code that tells to look at the peer device",
        confidence=_STATED,
    ),
    rule(
        "nvlink_unsettled",
        "xid:145 xid:137 nvlink5.nonfatal",
        (FaultClass.AMBIGUOUS, _ASK, Accused.FABRIC),
        "nccl 2241: fabric manager or NVLink, not settled",
    ),
    rule(
        "channel_reset_again",
        "xid:43|xid:13|xid:31 returns_after_reboot",
        (_HW, _REBOOT, _SELF),
        "eks-node-monitoring-agent 272: an application code that keeps returning on one GPU is its own fault",
        repeat=_REPLACE,
    ),
)

AFTER_TABLE: tuple[CauseRule, ...] = (
    rule(
        "fatal_nvlink",
        "nvlink5.fatal",
        (_HW, _REBOOT, _SELF),
        "NVLink 5 Fatal or Link Fatal: reset, on EC2 reboot",
        repeat=_REPLACE,
        confidence=_STATED,
    ),
    rule(
        "fabric_state_damaged",
        "xid:144|xid:145|xid:146|xid:147|xid:148|xid:149|xid:150",
        (_HW, _REBOOT, _SELF),
        "damage of the NVLink fabric is the node's, not one GPU's (open-gpu-kernel-modules 1355)",
        repeat=_REPLACE,
    ),
    rule(
        "off_the_bus",
        "gpu_off_bus|gpu_lost",
        (_BUS, _REBOOT, _SELF),
        "off the bus, with or without an Xid (NVSentinel 155)",
        repeat=_REPLACE,
        confidence=_STATED,
    ),
    rule(
        "gpu_missing",
        "gpu_count_short|gpu_gone",
        (_BUS, _REBOOT, _SELF),
        "fewer GPUs than the type has: reboot (HyperPod health-monitoring agent)",
        unless="many_nodes agent_restarted",
        repeat=_REPLACE,
    ),
    rule(
        "memory_error",
        "ecc_uncorrectable|cuda_ecc|row_remap_pending",
        (_MEMORY, _REBOOT, _SELF),
        "uncorrectable memory error: the remap takes effect at the next start (vllm 5222)",
        unless="row_remap_clean",
        repeat=_REPLACE,
        confidence=_STATED,
    ),
    rule(
        "accelerator_terminates",
        "neuron_hw_error.action:TERMINATE_INSTANCE|neuron_hw_error.action:REPLACE_INSTANCE",
        (_HW, _REPLACE, _SELF),
        "Neuron: the line names its action",
        repeat=_REPLACE,
        confidence=_STATED,
    ),
    rule(
        "accelerator_error",
        "neuron_hw_error|neuron_memory_error",
        (_HW, _REBOOT, _SELF),
        "Neuron hardware error",
        repeat=_REPLACE,
        confidence=_STATED,
    ),
    rule(
        "accelerator_exit",
        "neuron_exit.exit:1004|neuron_exit.exit:1201|neuron_exit.exit:1202|neuron_exit.exit:1203"
        "|neuron_exit:NRT_EXEC_HW_ERR_HBM_UE|neuron_exit:NRT_EXEC_HW_ERR_NC_UE|neuron_exit:NRT_EXEC_HW_ERR_DMA_ABORT",
        (_HW, _REPLACE, _SELF),
        "Neuron runtime exit codes of SRAM, HBM and DMA errors",
        repeat=_REPLACE,
        confidence=_STATED,
    ),
    rule(
        "accelerator_soft_exit",
        "neuron_exit:NRT_TIMEOUT|neuron_exit.exit:1205|neuron_exit:NERR_HW_ERROR|neuron_count_short",
        (_HW, _REBOOT, _SELF),
        "Neuron: repairable memory error, compute hang or missing device",
        repeat=_REPLACE,
    ),
    rule(
        "accelerator_peer",
        "neuron_exit.exit:1200|neuron_exit:NRT_EXEC_HW_ERR_COLLECTIVES",
        (FaultClass.NETWORK_PEER, _RESTART, Accused.PEER),
        "Neuron collectives hang: look at the other workers",
    ),
    rule(
        "switch_fault",
        "sxid.fatal|nvlink_peer_error",
        (_SWITCH, _RESTART, Accused.FABRIC),
        "switch side of NVLink: the first reporter names the domain (marin 8934)",
        repeat=Remediation.ISOLATE,
    ),
    rule(
        "hyperpod_faulty_instance",
        "faulty_instance",
        (_HW, _REPLACE, _SELF),
        "HyperPod deep health check: replace the instance",
        repeat=_REPLACE,
        confidence=_STATED,
    ),
    rule(
        "failed_bandwidth_check",
        "gpu_bandwidth_low one_node_only|deep_check:Failed",
        (_HW, _ASK, _SELF),
        "below the type's bandwidth on one node only",
        repeat=_REPLACE,
    ),
    rule(
        "host_parts",
        "machine_check|disk_error|pcie_uncorrected|event_hardware|part_failed|host_crash",
        (_HW, _REBOOT, _SELF),
        "CPU, memory, disk or PCIe of the host",
        repeat=_REPLACE,
        confidence=_STATED,
    ),
    rule(
        "part_was_replaced",
        "hw_confirmed",
        (_HW, _ASK, _SELF),
        "the report says which part was bad",
    ),
    rule(
        "heat_or_power",
        "gpu_thermal|gpu_power_brake|gpu_clock_stuck",
        (_HW, _ASK, _SELF),
        "hardware slow-down is cooling or power, not load",
        repeat=_REPLACE,
    ),
    rule(
        "degraded_link",
        "pcie_degraded|nvlink_down|nvswitch_fault",
        (_HW, _REBOOT, _SELF),
        "a link that runs below its width is a straggler (Minder: 8.6 % of faults)",
        unless="sxid",
        repeat=_REPLACE,
    ),
    rule(
        "diagnostic_failed",
        "dcgm.node|deep_check:Failed|deep_check_failed|eks_hardware_condition|gpu_requires_reset|gpu_init_failed|cuda_hw_error",
        (_HW, _REBOOT, _SELF),
        "a diagnostic or the driver says that the GPU needs a reset",
        repeat=_REPLACE,
    ),
    rule(
        "bandwidth_check",
        "gpu_bandwidth_low|diag_failed",
        (_HW, _ASK, _SELF),
        "below the threshold of a health check",
        unless="many_nodes after_rollout dcgm.not_established dcgm.software_or_configuration dcgm.none",
        repeat=_REPLACE,
        confidence=_WEAK,
    ),
    rule(
        "slow_with_all_else_excluded",
        "slowdown nothing_else_runs",
        (_HW, _ASK, _SELF),
        "a slow-down that survives an idle neighbourhood (nnUNet 1351)",
        repeat=_REPLACE,
    ),
    rule(
        "one_node_only",
        "one_node_only slowdown|collective_hang|nan_loss|wrong_results|fails_more|segfault|silent_corruption"
        "|nccl_watchdog_timeout|cuda_illegal_access|python_error|nccl_system_error|ib_completion_error",
        (_HW, _ASK, _SELF),
        "the trouble stays with one machine and leaves with it",
        unless="many_nodes after_rollout",
        repeat=_REPLACE,
    ),
    rule(
        "ecc_errors",
        "ecc_mentioned",
        (_MEMORY, _ASK, _SELF),
        "memory errors without saying which: the counters decide",
        unless="ecc_correctable_low row_remap_clean recovered misconfigured",
        repeat=_REPLACE,
        confidence=_WEAK,
    ),
    rule(
        "corrupts_data",
        "silent_corruption",
        (_HW, _ASK, _SELF),
        "wrong results without an error",
        repeat=_REPLACE,
        confidence=_WEAK,
    ),
)
