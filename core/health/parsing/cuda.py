"""CUDA, driver and fabric-manager lines, as PyTorch, NCCL and nvidia-smi print them."""

from __future__ import annotations

from core.health.parsing.line_pattern import LinePattern, pattern, sentence
from core.health.signals import SignalFamily

_C, _F, _A = SignalFamily.CUDA, SignalFamily.FABRIC_MANAGER, SignalFamily.APPLICATION

PATTERNS: tuple[LinePattern, ...] = (
    pattern(
        _F,
        "cuda_802",
        (
            "error 802",
            "error: 802",
            "error code 802",
            "802 (",
            "code 802",
            "cuda 802",
            "system not yet initialized",
            "systemnotready",
            "system_not_ready",
            "fm_not_initialized",
        ),
        r"(?:cuda\w*|error|cudaError\w*).{0,30}\b802\b|system not yet initialized"
        r"|cudaErrorSystemNotReady|CUDA_ERROR_SYSTEM_NOT_READY|CUDA_FM_NOT_INITIALIZED",
    ),
    pattern(
        _F,
        "fabric_manager_down",
        ("fabricmanager", "fabric manager", "fabric-manager"),
        r"fabric[- ]?manager.{0,80}(?:not (?:running|installed|started|found|active)|fail|inactive"
        r"|stopped|dead|mismatch|exited|crash|missing)|"
        r"(?:start|install)\w* .{0,20}fabric[- ]?manager|FabricManagerNotRunning",
    ),
    pattern(_F, "fabric_manager_not_needed", "nv_warn_nothing_to_do"),
    pattern(
        _F,
        "nvls_failure",
        ("nvls", "multicast"),
        r"nvls\.cc.{0,60}Cuda failure|NVLS.{0,60}(?:multicast|error|fail)"
        r"|multicast memory.{0,60}(?:error|fail)",
    ),
    pattern(_F, "imex_missing", "imex", r"imex.{0,60}(?:not |fail|missing|unhealthy|no such)|IMEX_UNHEALTHY"),
    pattern(
        _F,
        "fabric_state_pending",
        ("fabric state", "fabric  ", "fabric status"),
        r"Fabric\W+State\W{1,20}(?:In Progress|Not Supported\W)|fabric state.{0,20}not complete",
    ),
    pattern(
        _C,
        "driver_mismatch",
        ("version mismatch", "api mismatch", "driver/library"),
        r"Driver/library version mismatch|API mismatch.{0,100}|kernel module.{0,40}version.{0,40}mismatch",
    ),
    pattern(
        _C,
        "driver_too_old",
        (
            "driver version is insufficient",
            "forward compatibility",
            "error 804",
            "error 803",
            "driver is too old",
            "driver on your system is too old",
            "unsupported display driver",
            "no kernel image is available",
            "unsupported ptx",
            "named symbol not found",
            "not compatible with the current pytorch",
        ),
    ),
    pattern(
        _C,
        "driver_not_loaded",
        (
            "couldn't communicate with the nvidia driver",
            "nvidia-smi has failed",
            "nvml: driver not loaded",
            "could not load nvml",
            "libnvidia-ml.so",
            "nouveau",
            "module nvidia not found",
            "dkms",
        ),
        r"communicate with the NVIDIA driver|NVIDIA-SMI has failed|Driver Not Loaded"
        r"|could not load nvml|libnvidia-ml\.so.{0,60}|"
        r"nouveau|module nvidia not found|dkms.{0,60}(?:fail|error|bad)",
    ),
    pattern(_C, "nvml_unknown", ("nvml: unknown error", "systemctl daemon-reload")),
    pattern(
        _C,
        "nvidia_container",
        ("nvidia-container-cli", "nvidia-container-runtime", "could not select device driver"),
    ),
    pattern(
        _C,
        "cuda_unavailable",
        (
            "all cuda-capable devices are busy",
            "cuda-capable device",
            "invalid device ordinal",
            "no cuda gpus are available",
            "peer mapping resources exhausted",
            "peer access is not supported",
            "invalid device context",
            "cudagetdevicecount",
            "cuda_visible_devices",
            "might not have a cuda gpu",
            "cuda_error_no_device",
            "cuinit",
        ),
    ),
    pattern(
        _C,
        "cuda_unknown_999",
        ("error 999", "(999)", "error: 999", "cuda_error_unknown"),
        r"(?:cuda|error):? ?(?:error )?\(?999\b|\(999\)|CUDA_ERROR_UNKNOWN",
    ),
    pattern(
        _C,
        "cuda_oom",
        ("out of memory", "outofmemory", "alloc_failed", "resource_exhausted"),
        r"RESOURCE_EXHAUSTED|CUDA(?: error:)?.{0,20}out of memory|OutOfMemoryError|CUDA_ERROR_OUT_OF_MEMORY"
        r"|Cuda failure.{0,12}out of memory|STATUS_ALLOC_FAILED",
    ),
    pattern(
        _C,
        "cuda_illegal_access",
        (
            "illegal memory access",
            "illegaladdress",
            "illegal_address",
            "device-side assert",
            "misaligned address",
            "illegal instruction",
            "unspecified launch failure",
            "launch_failed",
            "launch failure",
            "mmu fault",
            "invalid configuration argument",
        ),
    ),
    pattern(_C, "cuda_ecc", "uncorrectable ecc error encountered"),
    pattern(_C, "cublas_failure", ("cublas_status", "cudnn_status"), r"(?P<code>CU(?:BLAS|DNN)_STATUS_[A-Z_]+)"),
    pattern(_C, "cuda_hw_error", ("hardware stack error", "cudaerrorhardwarestackerror", "a hardware error")),
    pattern(
        _A,
        "python_config",
        (
            "modulenotfounderror",
            "importerror",
            "undefined symbol",
            "cannot open shared object file",
            "no module named",
            "glibc",
            "glibcxx",
            "filenotfounderror",
            "no such file or directory",
            "command not found",
            "unrecognized arguments",
            "nvcc fatal",
            "unsupported gpu architecture",
            "no gpus found",
            "permissionerror",
            "permission denied",
            "version conflict",
            "incompatible version",
            "not installed",
        ),
    ),
    pattern(
        _A,
        "python_logic_error",
        (
            "valueerror",
            "typeerror",
            "keyerror",
            "indexerror",
            "attributeerror",
            "assertionerror",
            "nameerror",
            "syntaxerror",
        ),
        r"(?<![\w.])(?P<code>(?:Value|Type|Key|Index|Attribute|Assertion|Name|Syntax|ZeroDivision"
        r"|NotImplemented)Error)\b",
    ),
    pattern(
        _A,
        "python_error",
        ("error:", "exception:", "assertion"),
        r"(?<![\w.])(?P<code>(?:Value|Type|Key|Index|Attribute|Assertion|Runtime|NotImplemented"
        r"|ZeroDivision|Unicode|Recursion|Name|Syntax|OS|EOF|JSONDecode|Pickling)Error)\b(?!: CUDA (?:driver )?error)",
    ),
    pattern(
        _A,
        "shape_mismatch",
        (
            "size mismatch",
            "shapes cannot be multiplied",
            "must match the size",
            "expected all tensors",
            "unused parameters",
            "mark a variable ready",
        ),
    ),
    pattern(_A, "segfault", ("segmentation fault", "segfault", "signal 11", "sigsegv", "core dumped")),
    pattern(
        _A,
        "cuda_fork",
        (
            "just got forked",
            "re-initialize cuda in forked",
            "too many open files",
            "can't start new thread",
        ),
    ),
    pattern(
        _A,
        "nan_loss",
        ("nan", "loss spike", "loss explo", "loss diverg", ": inf", "=inf"),
        r"(?:loss|grad\w*|norm|weights?|output\w*)[^\n]{0,40}\b(?:nan|inf)\b"
        r"|\bnans?\b[^\n]{0,40}(?:loss|grad|norm|weight|node|output|training)|loss (?:spike|explo|diverg)",
    ),
    sentence(
        _A,
        "wrong_results",
        r"(?:different|wrong|inconsistent|non-?deterministic) (?:gradients?|results?|outputs?|loss|values|answers)",
    ),
    pattern(
        _A,
        "silent_corruption",
        ("silent data corruption", "sdc", "bit flip", "checksum mismatch", "miscompare"),
        r"silent data corruption|\bSDC\b|bit[- ]flip|checksum mismatch|miscompare",
    ),
)
