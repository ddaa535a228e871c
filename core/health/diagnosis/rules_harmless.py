"""Rules that say: nothing is wrong, or somebody did it on purpose."""

from __future__ import annotations

from core.health.diagnosis.rule import CauseRule, rule
from core.health.faults import Accused, Confidence, FaultClass, Remediation

_NONE, _NOBODY = Remediation.NONE, Accused.NOBODY
_BENIGN, _FALSE, _STALE, _OPERATOR = (
    FaultClass.BENIGN,
    FaultClass.FALSE_POSITIVE,
    FaultClass.STALE_CONDITION,
    FaultClass.OPERATOR_ACTION,
)

RULES: tuple[CauseRule, ...] = (
    rule(
        "operator_replaces",
        "slurm_operator_update",
        (_OPERATOR, _NONE, _NOBODY),
        "HyperPod resiliency guide: exact reason strings Action:Reboot and Action:Replace",
        unless="xid gpu_off_bus slurm_prolog_failed slurm_kill_task_failed",
        confidence=Confidence.STATED,
    ),
    rule(
        "tool_defect",
        "tool_defect",
        (FaultClass.SOFTWARE, Remediation.ESCALATE, Accused.IMAGE),
        "the automation did it, not the node (soperator 1317 and 2635, NVSentinel 1424 and 1439)",
        unless="hardware xid gpu_off_bus",
    ),
    rule(
        "operator_did_it",
        "operator_did",
        (_OPERATOR, _NONE, _NOBODY),
        "NVSentinel 1424, 1872: remember who cordoned",
        unless="hardware xid stale_state stale_forever ecc_uncorrectable cuda_802 fabric_manager_down false_alarm",
    ),
    rule(
        "condition_is_over",
        "node_condition.state:False",
        (_BENIGN, _NONE, _NOBODY),
        "HyperPod node labels page: the condition goes back to False after recovery",
        unless="node_condition.state:True xid gpu_off_bus",
        confidence=Confidence.STATED,
    ),
    rule(
        "count_read_too_early",
        "gpu_count_zero|gres_zero agent_restarted|start_order",
        (_FALSE, _NONE, _NOBODY),
        "hyperpod-cli 425: NVML shows 0 GPUs for up to 2 minutes after the agent starts",
    ),
    rule(
        "agent_lost_its_memory",
        "agent_restarted conditions_reset",
        (_FALSE, _NONE, _NOBODY),
        "node-problem-detector 304: conditions fall back to False when the detector restarts",
    ),
    rule(
        "ecc_already_remapped",
        "ecc_uncorrectable|xid:48|xid:63 row_remap_clean",
        (_BENIGN, _NONE, _NOBODY),
        "gpud 108: decide on the remap state, not on the counter",
        unless="row_remap_failed row_remap_pending returns_after_reboot",
    ),
    rule(
        "fabric_manager_not_needed",
        "fabric_manager_not_needed",
        (_BENIGN, _NONE, _NOBODY),
        "no NVSwitch, no fabric manager (cube-studio 29)",
        unless="hardware",
        confidence=Confidence.STATED,
    ),
    rule(
        "no_nvswitch",
        "fabric_manager_down no_nvswitch",
        (_BENIGN, _NONE, _NOBODY),
        "only NVSwitch types need the fabric manager",
    ),
    rule(
        "condition_never_clears",
        "stale_forever",
        (_STALE, _NONE, _NOBODY),
        "node-problem-detector 215, 474, 673, 936: every log-derived condition needs a clear rule",
        unless="gpu_off_bus row_remap_failed returns_after_reboot",
    ),
    rule(
        "still_shown_but_healthy",
        "stale_state healthy_now",
        (_STALE, _NONE, _NOBODY),
        "soperator 1316: the reason of the machine before stands on its healthy successor",
        unless="row_remap_failed returns_after_reboot collective_hang slowdown fails_more link_down",
    ),
    rule(
        "state_outlived_its_cause",
        "stale_state after_fix",
        (_STALE, _NONE, _NOBODY),
        "NVSentinel 458 and 1416, soperator 1316: the label, cordon or reason stayed after recovery",
        unless="row_remap_pending row_remap_failed returns_after_reboot xid gpu_off_bus ecc_uncorrectable hardware "
        "link_down nic_hardware port_error slowdown collective_hang hw_confirmed",
    ),
    rule(
        "old_evidence",
        "stale_state|slurm_prolog_failed|checker_hung|condition_word old_evidence",
        (_STALE, _NONE, _NOBODY),
        "a check that reads old log lines keeps a repaired node out (azurehpc 648)",
        unless="gpu_off_bus row_remap_failed returns_after_reboot",
    ),
    rule(
        "healthy_although_reported",
        "healthy_now node_condition|stale_state|after_fix|gpu_count_short|gres_zero|slurm_not_responding|node_not_ready"
        "|health_label|agent_restarted|condition_word",
        (_FALSE, _NONE, _NOBODY),
        "the report itself says that the thing works: the checker is wrong or late",
        unless="gpu_off_bus row_remap_failed returns_after_reboot collective_hang slowdown hw_confirmed "
        "cured_by_version",
    ),
    rule(
        "checker_does_not_fit",
        "not_applicable|application_fault condition_word",
        (_FALSE, _NONE, _NOBODY),
        "the check does not fit the machine, or blames it for the program's error (gpud 140, k8s-device-plugin 268)",
        unless="gpu_off_bus row_remap_failed returns_after_reboot hardware",
    ),
    rule(
        "said_to_be_false",
        "false_alarm",
        (_FALSE, _NONE, _NOBODY),
        "checker failures are not node failures",
        unless="row_remap_failed returns_after_reboot gpu_off_bus gpu_lost",
    ),
    rule(
        "power_cap_is_normal",
        "gpu_power_cap",
        (_BENIGN, _NONE, _NOBODY),
        "a software power cap at high utilisation is normal (open_clip 703)",
        unless="gpu_power_brake gpu_thermal gpu_clock_stuck hardware xid slowdown",
    ),
    rule(
        "nonfatal_nvlink",
        "nvlink5.nonfatal",
        (_BENIGN, _NONE, _NOBODY),
        "NVIDIA Xid catalogue: NVLink 5 Nonfatal has recovery bucket IGNORE",
        unless="collective_hang xid:137 nvlink5.fatal returns_after_reboot hardware nccl_watchdog_timeout",
        confidence=Confidence.STATED,
    ),
    rule(
        "recovered_by_itself",
        "recovered",
        (_BENIGN, _NONE, _NOBODY),
        "nothing is left to repair",
        unless=(
            "hardware xid returns_after_reboot one_node_only oom_cgroup slurm_kill_task_failed"
            " link_down port_error "
            "collective_hang nccl_watchdog_timeout cuda_802 driver_mismatch fabric_manager_down"
            " neuron_device_busy "
            "ib_completion_error efa_request_error slowdown cuda_illegal_access"
        ),
    ),
)

LAST: tuple[CauseRule, ...] = (
    rule(
        "condition_stays",
        "stale_state condition_word",
        (_STALE, _NONE, _NOBODY),
        "a condition that only stays, with nothing else to see",
        confidence=Confidence.WEAK,
    ),
    rule(
        "sticks_to_one_machine",
        "one_node_only",
        (FaultClass.GPU_HW, Remediation.ESCALATE, Accused.REPORTER),
        "the trouble stays with one machine",
        unless="many_nodes after_rollout uneven_work data_preparation",
        confidence=Confidence.WEAK,
    ),
    rule(
        "corrected_only",
        "pcie_corrected|ecc_correctable_low",
        (_BENIGN, _NONE, _NOBODY),
        "corrected errors are watched, not repaired",
        confidence=Confidence.STATED,
    ),
    rule(
        "node_failed_under_job",
        "job_cancelled.why:NODE_FAILURE",
        (FaultClass.UNKNOWN, Remediation.ESCALATE, Accused.REPORTER),
        "Slurm saw the node go; why stands in other logs",
        confidence=Confidence.STATED,
    ),
    rule(
        "job_was_stopped",
        "job_cancelled|maintenance",
        (_OPERATOR, _NONE, _NOBODY),
        "somebody or the scheduler ended the job",
        unless="killed",
        confidence=Confidence.WEAK,
    ),
    rule(
        "harmless_line",
        "nccl_harmless|driver_starting|deep_check:Passed|deep_check:InProgress",
        (_BENIGN, _NONE, _NOBODY),
        "deep-learning-containers 2675: missing plug-in symbols are harmless",
        confidence=Confidence.WEAK,
    ),
)

_ONLY_PROSE = "xid nccl_watchdog_timeout killed terminated process_exit node_condition slurm_stepd_terminated"

TOPICS: tuple[CauseRule, ...] = (
    rule(
        "about_storage",
        "topic_storage slowdown|collective_hang|waits_for_others|io_error",
        (FaultClass.FILESYSTEM, Remediation.NONE, Accused.STORAGE),
        "nothing but the subject of the report",
        unless=_ONLY_PROSE,
        confidence=Confidence.WEAK,
    ),
    rule(
        "about_network",
        "topic_network",
        (FaultClass.NETWORK, Remediation.ESCALATE, Accused.FABRIC),
        "nothing but the subject of the report",
        unless=_ONLY_PROSE,
        confidence=Confidence.WEAK,
    ),
    rule(
        "about_software",
        "topic_software",
        (FaultClass.SOFTWARE_CONFIG, Remediation.ESCALATE, Accused.IMAGE),
        "nothing but the subject of the report",
        unless=_ONLY_PROSE,
        confidence=Confidence.WEAK,
    ),
)
"""Asked last: what a report is about, where nothing in it says what was wrong."""
