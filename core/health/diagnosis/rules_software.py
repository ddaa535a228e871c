"""Rules for causes in software, configuration and resources, most of which look like hardware at first."""

from __future__ import annotations

from core.health.diagnosis.rule import CauseRule, rule
from core.health.faults import Accused, Confidence, FaultClass, Remediation

_NONE, _RESTART, _REBOOT, _ASK = (
    Remediation.NONE,
    Remediation.RESTART_WORKLOAD,
    Remediation.REBOOT,
    Remediation.ESCALATE,
)
_JOB, _IMAGE = Accused.JOB, Accused.IMAGE
_USER, _CONFIG, _HOST, _DRIVER, _FM, _NET, _RESOURCES, _NODE_SW, _SW = (
    FaultClass.SOFTWARE_USER,
    FaultClass.SOFTWARE_CONFIG,
    FaultClass.HOST_CONFIG,
    FaultClass.DRIVER_BUG,
    FaultClass.FABRIC_MANAGER,
    FaultClass.NETWORK_CONFIG,
    FaultClass.RESOURCES,
    FaultClass.NODE_SOFTWARE,
    FaultClass.SOFTWARE,
)
_WAITING = "nccl_watchdog_timeout|nccl_socket_timeout|collective_hang|rendezvous_failed"

LOOKS_LIKE_HARDWARE: tuple[CauseRule, ...] = (
    rule(
        *(
            "survived_replacement",
            "survived_replacement nan_loss|collective_hang|nccl_watchdog_timeout|python_error",
        ),
        *(_SW, _ASK, _JOB),
        "what stays after the part was swapped is not the part (dion 76)",
        unless="xid row_remap_failed ecc_uncorrectable gpu_off_bus",
    ),
    rule(
        *("same_code_after_rollout", "xid|sxid|gsp_timeout many_nodes after_rollout", _DRIVER, _ASK, _IMAGE),
        "the same new code on many nodes after a roll-out is software: stop repairs, roll back",
        unless="row_remap_failed",
    ),
    rule(
        *("gsp_firmware", "xid:119|xid:120|gsp_timeout", _DRIVER, _REBOOT, _IMAGE),
        "GSP time-outs are mostly driver or firmware (open-gpu-kernel-modules 446, azurehpc 714)",
        unless="gpu_off_bus xid:79 xid:48 xid:95 row_remap_failed hw_confirmed",
        repeat=_REBOOT,
    ),
    rule(
        *(
            "driver_cured_it",
            "xid|cuda_illegal_access|collective_hang|gpu_init_failed|cuda_unavailable after_rollout",
        ),
        *(_DRIVER, _ASK, _IMAGE),
        "another driver or image makes it go: a regression",
        unless="xid:79 xid:48 xid:95 row_remap_failed hw_confirmed gpu_off_bus returns_after_reboot
        one_node_only", ),
    rule(
        *(
            "fabric_manager_missing",
            "cuda_802|fabric_manager_down|imex_missing|fabric_state_pending",
            _FM,
            _ASK,
            _IMAGE,
        ),
        "CUDA 802 on an NVSwitch type: fabric manager missing, stopped or of another version",
        unless="sxid.fatal xid:79 gpu_off_bus xid:74",
        repeat=_REBOOT,
    ),
    rule(
        *("nvls_needs_fabric_manager", "nvls_failure", _FM, _REBOOT, _IMAGE),
        "NVLS needs the fabric manager and free GPUs at its start (nccl 976, pytorch ci-infra 541)",
        unless="sxid.fatal xid:79 gpu_off_bus",
    ),
    rule(
        *("prolog_or_epilog_setting", "slurm_kill_task_failed|slurm_prolog_failed|slurm_stepd_terminated"),
        *(_NODE_SW, _NONE, Accused.REPORTER),
        "drained by a script, a permission or a process that would not die, not by a fault (hyperpod"
        " awsome 141, 185)",
        unless="hardware xid",
    ),
    rule(
        *(
            "kernel_deadlock",
            "node_condition:KernelDeadLock|fault_type:KernelDeadLock|fault_type:SoftwareError",
        ),
        *(_SW, _NONE, Accused.REPORTER),
        "HyperPod treats KernelDeadLock as SoftwareError without a repair (hyperpod-cli 254)",
        unless="hardware",
        confidence=Confidence.STATED,
    ),
    rule(
        *(
            "neuron_held_by_process",
            "neuron_device_busy|neuron_exit:NERR_RESOURCE_NC|neuron_exit:NERR_RESOURCE",
        ),
        *(_USER, _RESTART, _JOB),
        "left-over processes hold the devices (aws-neuron-samples 44)",
        unless="neuron_hw_error",
    ),
)

JOB: tuple[CauseRule, ...] = (
    rule(
        *("start_barrier", f"data_preparation|progress_bar|uneven_work {_WAITING}", _USER, _RESTART, _JOB),
        "one rank prepares data while the others wait: no fault (nccl 865, accelerate 314)",
        unless="hardware xid.fatal",
    ),
    rule(
        *("ranks_out_of_step", "watchdog.desync|nccl_truncated", _USER, _RESTART, _JOB),
        "ranks wait at different collectives: the code took different paths (pytorch 118369)",
        unless="hardware",
    ),
    rule(
        *("efa_huge_page", "efa_huge_page", _CONFIG, _RESTART, _JOB),
        "EFA's huge pages and fork do not go together: FI_EFA_USE_HUGE_PAGE=0",
        unless="hardware",
    ),
    rule(
        *("memory_limit", "oom_cgroup|oom_global|host_memory_short", _RESOURCES, _RESTART, _JOB),
        "a memory limit or a full host; a bus error beside it is the same shortage",
        unless="hardware",
        confidence=Confidence.STATED,
    ),
    rule(
        *("gpu_memory_limit", "cuda_oom", _RESOURCES, _RESTART, _JOB),
        "the model does not fit, or another process holds the memory",
        unless="hardware",
        confidence=Confidence.STATED,
    ),
    rule(
        *("shared_memory_full", "nccl_shm|bus_error", _CONFIG, _RESTART, _JOB),
        "/dev/shm too small: fills slowly, dies suddenly (pipedream 28)",
        unless="hardware",
    ),
    rule(
        *("disk_full", "disk_full", _RESOURCES, _ASK, _JOB),
        "a volume or quota is full",
        unless="hardware",
        confidence=Confidence.STATED,
    ),
    rule(
        *("security_group", "security_group", _NET, _ASK, _IMAGE),
        "EFA needs a security group that names itself in both directions (aws-ofi-nccl 156, 663)",
        unless="hardware",
    ),
    rule(
        *(
            "efa_cannot_reach",
            "efa_address_insert|efa_unreachable_remote|event_efa_check",
            _NET,
            _ASK,
            _IMAGE,
        ),
        "peers that never answered: first the security group (aws-ofi-nccl 663)",
        unless="hardware",
    ),
    rule(
        *("efa_request_refused", "efa_request_error:20", _NET, _ASK, _IMAGE),
        "RC 20 at the first messages: the security group (aws-ofi-nccl 156)",
        unless="hardware efa_unresponsive_remote",
    ),
    rule(
        *("efa_not_in_use", "efa_not_found|efa_admin_command|efa_installer", _CONFIG, _ASK, _IMAGE),
        "EFA is not visible to the job, or its stack is too old (nccl 229, aws-ofi-nccl 22)",
        unless="hardware",
    ),
    rule(
        *("roce_addressing", "gid_problem|setting_cured|mtu_mismatch", _NET, _ASK, _IMAGE),
        "RoCE address or path setting (pytorch 81628, nccl 769)",
        unless="hardware",
    ),
    rule(
        *(
            "pcie_isolation",
            f"pcie_isolation {_WAITING}|hang_at_init|gpu_busy_idle_wire|slowdown|p2p_workaround",
        ),
        *(_HOST, _ASK, _IMAGE),
        "ACS or the IOMMU bends peer-to-peer traffic (nccl 2079)",
        unless="hardware",
    ),
    rule(
        *("peer_path_workaround", "p2p_workaround", _DRIVER, _ASK, _IMAGE),
        "a switched-off transport cures it: driver or host setting, not a broken part (xgboost 11242)",
        unless="hardware one_node_only",
    ),
    rule(
        *("rdma_limits", "memlock_limit", _HOST, _ASK, _IMAGE),
        "locked-memory limit or peer-memory module",
        unless="hardware",
    ),
    rule(
        *("cpu_binding", "cpu_binding", _CONFIG, _RESTART, _JOB),
        "data-loader workers share too few CPUs (pytorch-caney 44)",
        unless="hardware xid",
    ),
    rule(
        *("slow_without_storage_error", "slowdown compared_sites", _CONFIG, _RESTART, _JOB),
        "slow here, fast there, and no storage error: first the CPUs that workers may use (pytorch-caney 44)",
        unless="hardware lustre_error lustre_evicted nfs_error one_node_only nothing_else_runs gpu_thermal
        pcie_degraded", ),
    rule(
        *(
            "driver_and_library",
            "driver_mismatch|driver_too_old|driver_not_loaded|nvidia_container",
            _CONFIG,
            _ASK,
            _IMAGE,
        ),
        "driver, library and container do not fit together",
        unless="hardware",
    ),
    rule(
        *("lost_cgroup_device", "nvml_unknown", _CONFIG, _RESTART, _IMAGE),
        "systemd reloaded and the container lost its devices",
        unless="hardware xid",
    ),
    rule(
        *("agent_does_not_restart", "torchelastic_hang|autoresume_requeue", _SW, _RESTART, _JOB),
        "launcher defect: kill the job from outside (pytorch 123678)",
        unless="hardware",
    ),
    rule(
        *("neuron_software", "neuron_software", _CONFIG, _RESTART, _JOB),
        "compiler, runtime or collectives set-up (aws-neuron-sdk 779)",
        unless="neuron_hw_error hardware",
    ),
    rule(
        *(
            "neuron_bad_input",
            "neuron_exit:NRT_EXEC_BAD_INPUT|neuron_exit:NRT_RESOURCE|neuron_exit.exit:1002",
        ),
        *(_USER, _RESTART, _JOB),
        "Neuron runtime: the model's input or size",
        unless="neuron_hw_error",
    ),
    rule(
        *("lifecycle_script", "event_lifecycle", _CONFIG, _ASK, _IMAGE),
        "HyperPod event: the lifecycle script failed",
        unless="hardware",
        confidence=Confidence.STATED,
    ),
    rule(
        *("no_capacity", "event_capacity", _RESOURCES, _ASK, Accused.SITE),
        "HyperPod event: capacity or quota",
        unless="hardware",
        confidence=Confidence.STATED,
    ),
)

GENERIC: tuple[CauseRule, ...] = (
    rule(
        *("first_collective_never_ended", "watchdog.first", _CONFIG, _RESTART, _JOB),
        "the process group never worked: set-up, not wear",
        confidence=Confidence.WEAK,
    ),
    rule(
        *("hangs_at_start", "hang_at_init|fresh_setup collective_hang|rendezvous_failed|nccl_system_error"),
        *(_CONFIG, _RESTART, _JOB),
        "hangs from the first collective on: set-up, not wear",
        unless="xid one_node_only",
        confidence=Confidence.WEAK,
    ),
    rule(
        *("never_connected", "ib.before_traffic", _NET, _ASK, Accused.FABRIC),
        "status 12 before any payload: the two NICs never could talk (nccl 426, 1664)",
        unless="ib.after_traffic recovered link_down",
        confidence=Confidence.WEAK,
    ),
    rule(
        *(
            "names_and_ports",
            "name_resolution|nccl_no_interface|ibv_modify_qp|address_in_use|nccl_connect_refused",
        ),
        *(_NET, _ASK, _IMAGE),
        "names, routes, interfaces or ports",
        confidence=Confidence.WEAK,
    ),
    rule(
        *(
            "pinned_versions",
            "nccl_version_mismatch|python_config|credentials|tls_or_proxy|slurm_config|clock_skew",
        ),
        *(_CONFIG, _ASK, _IMAGE),
        "versions, permissions or credentials",
        confidence=Confidence.WEAK,
    ),
    rule(
        *("image_or_pod", "image_or_pod_config|kubelet_trouble", _CONFIG, _ASK, _IMAGE),
        "image, pod or kubelet",
        confidence=Confidence.WEAK,
    ),
    rule(
        *(
            "host_setting",
            "host_setting|slurm_low_resource|gres_zero|no_devices|kernel_hang",
            _NODE_SW,
            _ASK,
            Accused.REPORTER,
        ),
        "a setting or a stuck driver of the host",
        confidence=Confidence.WEAK,
    ),
    rule(
        *("checker_hung", "checker_hung", _NODE_SW, _ASK, Accused.REPORTER),
        "a check that hangs says nothing about the node by itself (azurehpc 714)",
        confidence=Confidence.WEAK,
    ),
    rule(
        *(
            "wrong_access",
            "cuda_illegal_access|nccl_invalid_usage|cuda_fork|shape_mismatch",
            _USER,
            _RESTART,
            _JOB,
        ),
        "the program's own error",
        unless="one_node_only",
        confidence=Confidence.WEAK,
    ),
    rule(
        *("devices_in_use", "cuda_unavailable|after_relaunch", _CONFIG, _RESTART, _JOB),
        "wrong device list, or another process holds the devices",
        unless="one_node_only",
        confidence=Confidence.WEAK,
    ),
    rule(
        *("training_numbers", "nan_loss|data_error", _USER, _ASK, _JOB),
        "loss and data are the program's, until the same step fails on one node only",
        unless="one_node_only silent_corruption",
        confidence=Confidence.WEAK,
    ),
    rule(
        *("program_error", "python_error|segfault|cublas_failure", _USER, _RESTART, _JOB),
        "an exception of the program",
        unless=(
            "one_node_only nccl_watchdog_timeout nccl_remote_gone nccl_system_error xid silent_corruption "
            "ib_completion_error efa_request_error nccl_socket_timeout collective_hang"
        ),
        confidence=Confidence.WEAK,
    ),
)
