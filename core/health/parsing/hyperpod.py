"""HyperPod labels, node conditions and cluster events, DCGM health, and Neuron.

Vocabulary: SageMaker HyperPod resiliency pages (labels, health-monitoring agent, cluster events) and the
Neuron runtime's troubleshooting page. No closed list of fault types is published: they are read openly.
"""

from __future__ import annotations

from core.health.parsing.line_pattern import LinePattern, pattern, sentence
from core.health.signals import SignalFamily

_H, _N = SignalFamily.HYPERPOD, SignalFamily.NEURON

PATTERNS: tuple[LinePattern, ...] = (
    pattern(
        _H,
        "node_condition",
        ("condition", "conditions"),
        r"Node condition (?P<code>\w{3,60}) is now: (?P<state>True|False"
        r"|Unknown)(?:, reason: (?P<reason>\w{1,60}))?",
    ),
    pattern(
        _H,
        "health_label",
        ("unschedulablepending", "node-health-status"),
        r"(?P<code>UnschedulablePending(?:Reboot|Replacement))"
        r"|node-health-status[=: \"]{1,4}(?P<state>\w{3,40})",
    ),
    pattern(
        _H,
        "deep_check",
        "deep-health-check-status",
        r"deep-health-check-status[=: \"]{1,4}(?P<code>InProgress|Passed|Failed)",
    ),
    pattern(
        _H,
        "fault_type",
        (
            "fault-type",
            "fault-reason",
            "nvidiaerror",
            "networkfaulttype",
            "softwareerror",
            "nvidiagpuunhealthy",
            "kerneldeadlock",
        ),
        r"(?P<code>NvidiaError(?:Reboot|Terminate)|NvidiaGPUUnhealthy|NetworkFaultType|SoftwareError"
        r"|KernelDeadLock)",
    ),
    pattern(_H, "event_efa_check", "efa health checks did not run successfully"),
    pattern(
        _H,
        "event_lifecycle",
        ("lifecycle script", "lifecycleconfig", "on_create.sh"),
        r"lifecycle ?(?:script|config)\w*.{0,60}(?:did not run|fail|error|timed out|exit)"
        r"|on_create\.sh.{0,60}(?:fail|error|not found|exit)",
    ),
    pattern(
        _H,
        "event_capacity",
        (
            "insufficient capacity",
            "insufficientinstancecapacity",
            "capacity error",
            "insufficient_capacity",
            "resourcelimitexceeded",
            "service quota",
            "vcpulimitexceeded",
        ),
        r"Insufficient ?_?(?:Instance)?Capacity|ResourceLimitExceeded|VcpuLimitExceeded|service quota",
    ),
    pattern(
        _H,
        "event_hardware",
        ("likely experienced a hardware failure", "hardware failure", "impaired", "status check"),
        r"likely experienced a hardware failure|(?:instance|system) status check\w*.{0,20}(?:fail"
        r"|impaired)|hardware (?:failure|fault|malfunction)",
    ),
    sentence(_H, "deep_check_failed", r"deep health checks? .{0,30}fail\w*"),
    pattern(
        _H,
        "eks_hardware_condition",
        ("acceleratedhardwareready", "nvidiaxid"),
        r"AcceleratedHardwareReady\W{0,12}(?:is )?False(?:.{0,40}reason:? ?(?P<code>\w{3,40}))?",
    ),
    pattern(_H, "faulty_instance", "faultyinstance"),
    pattern(_H, "event_provision", "failed to provision ec2 instance"),
    pattern(
        _N,
        "neuron_hw_error",
        "neuron_hw_err",
        r"NEURON_HW_ERR=(?P<code>[A-Z_]{3,60}).{0,200}?(?:action=(?P<action>\w{3,40}))?$",
    ),
    pattern(
        _N,
        "neuron_exit",
        ("nrt_exec", "nrt_timeout", "nerr_", "nrt_", "neuron"),
        r"(?P<code>NRT_EXEC_HW_ERR_[A-Z_]+|NRT_EXEC_COMPLETED_WITH\w+|NRT_TIMEOUT|NERR_HW_ERROR"
        r"|NRT_EXEC_BAD_INPUT|NRT_EXEC_COMPLETED_WITH_NUM_ERR|NERR_RESOURCE_NC|NERR_RESOURCE|NRT_RESOURCE)|"
        r"(?:nrt\w*|neuron\w*).{0,40}(?:exit|status|error) ?(?:code)?[ =:]{0,2}\b(?P<exit>100[2-6]"
        r"|120[0-6])\b",
    ),
    pattern(
        _N,
        "neuron_device_busy",
        (
            "no neuron device available",
            "number of available neuroncores",
            "neuroncores are busy",
            "already in use",
            "neuron device",
        ),
        r"No neuron device available|determine the number of available NeuronCores"
        r"|NeuronCores? .{0,30}(?:in use|busy)|neuron device.{0,40}already in use",
    ),
    pattern(
        _N,
        "neuron_software",
        (
            "neuronx-cc",
            "nrt::load",
            "nrt_load",
            "neff",
            "neuron compiler",
            "compilation failed",
            "nrt_init",
            "neuronx",
            "neuron driver",
            "aws-neuronx",
            "neuronxcc",
            "internal compiler error",
            "[nrtd:",
            "num_devices > 0",
        ),
        r"neuronxcc|Internal Compiler Error|\[NRTD:|num_devices > 0|neuronx?-cc.{0,80}(?:fail|error"
        r"|terminated|status)|Nrt::Load failed"
        r"|nrt_load status=(?P<code>\d+)|nrt_init.{0,40}(?:fail|error)|NEFF.{0,60}(?:version|incompat"
        r"|fail|not)|"
        r"(?:neuron (?:driver|runtime)|aws-neuronx?\S{0,30}).{0,60}(?:version|incompat|mismatch"
        r"|not (?:loaded|installed)|upgrade)",
    ),
    pattern(
        _N,
        "neuron_memory_error",
        ("mem_ecc", "sram_ecc", "hbm", "uncorrectable"),
        r"mem_ecc_(?:repairable_)?uncorrected|sram_ecc_uncorrected|HBM (?:uncorrectable|unrepairable|UE)",
    ),
    pattern(
        _N,
        "neuron_count_short",
        "neuron",
        r"neuron ?(?:device|core)s?.{0,40}(?:count mismatch|missing|expected \d+)",
    ),
)
