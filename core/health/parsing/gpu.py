"""GPU lines of the kernel log, nvidia-smi, DCGM and their paraphrases: Xid, SXid, off-bus, ECC, heat, links.

Formats: NVIDIA's Xid catalogue and Fabric Manager guide; a GPU that is off the bus also shows without any
Xid (NVSentinel issue 155).
"""

from __future__ import annotations

from core.health.parsing.line_pattern import LinePattern, pattern, sentence
from core.health.signals import SignalFamily

_K, _G = SignalFamily.KERNEL, SignalFamily.GPU

_XID_LINE = (
    r"Xid \((?:PCI:)?(?P<device>[0-9a-fx:.]{4,20})\): (?P<code>\d{1,4})\b"
    r"(?:, pid='?(?P<pid>\d+|<unknown>)'?)?(?:, name=(?P<process>[^,]{1,80}))?(?:, (?P<rest>.{0,300}))?"
)
_SXID_LINE = (
    r"(?:nvidia-nvswitch(?P<switch>\d+): )?SXid \((?:PCI:)?(?P<device>[0-9a-fx:.]{4,20})\): (?P<code>\d{4,6})"
    r"(?:, (?P<fatality>Fatal|Non-fatal))?(?:, Link (?P<link>\d+))?"
)

PATTERNS: tuple[LinePattern, ...] = (
    pattern(_K, "xid", "xid", r"(?<!S)" + _XID_LINE),
    pattern(_K, "sxid", "sxid", _SXID_LINE),
    pattern(
        _G,
        "xid_mention",
        "xid",
        r"(?:(?<![a-z])|(?<=nvidia))Xids?(?:CriticalError)?(?! \((?:PCI:)?[0-9a-fx]{4}:)"
        r"[^0-9\n]{0,30}?(?P<code>\d{1,3})(?![\d:.])(?P<more>.{0,300})",
    ),
    pattern(_G, "sxid_mention", "sxid", r"SXids?(?! \(PCI)[^0-9\n]{0,20}(?P<code>\d{5})"),
    pattern(
        _K,
        "gpu_off_bus",
        ("fallen off the bus", "fell off the bus", "falls off the bus", "off the pci", "rev ff"),
        r"(?:GPU (?P<device>[0-9a-f]{4,8}:[0-9a-f:.]{5,12}).{0,200}?)?(?:f[ae]ll(?:en"
        r"|s)? off the (?:bus|pci)|rev ff\b)",
    ),
    pattern(_K, "gpu_named", "nvrm: the nvidia gpu", r"The NVIDIA GPU (?P<device>[0-9a-f]{4,8}:[0-9a-f:.]{5,12})"),
    pattern(
        _G,
        "gpu_lost",
        ("gpu is lost", "gpu_is_lost", "unable to determine the device handle", "lost gpu", "gpu lost"),
        r"GPU[ _]IS[ _]LOST|Unable to determine the device handle for (?:gpu"
        r" ?)?(?P<device>[0-9a-f:.]{5,20})?|lost gpu|gpu lost",
    ),
    pattern(
        _K,
        "gpu_init_failed",
        ("rminitadapter failed", "rm_init_adapter failed"),
        r"rm_?init_?adapter failed.{0,40}",
    ),
    pattern(
        _K,
        "pcie_uncorrected",
        (
            "severity=uncorrected",
            "uncorrectable (fatal)",
            "uncorrected (fatal)",
            "uncorrected (non-fatal)",
            "surprise down",
        ),
    ),
    pattern(
        _K,
        "pcie_corrected",
        ("severity=corrected", "corrected error received", "corrected error message", "aer corrected"),
    ),
    sentence(
        _G,
        "pcie_degraded",
        r"negotiat\w+ .{0,30}(?:gen ?\d|x\d+)|PCIe Gen ?[12]\b|(?:link width|link speed|pcie (?:link|width"
        r"|gen)).{0,80}(?:downgrad|degrad|lower than|below|instead of"
        r"|expected|x\d+ (?:of|vs))|(?:Speed|Width) \S{1,12} \(downgraded\)",
    ),
    pattern(
        _G,
        "gpu_count_zero",
        ("0 gpus", "zero gpus", "0 devices", "found 0", "got 0"),
        r"expected \d+,? (?:but )?(?:found|got|saw) 0\b|(?:got|found|saw) 0 of (?:4|8|16)\b|(?:reports?"
        r"|found|detected|sees?|saw|count"
        r"|return(?:s|ed)?|shows?).{0,30}\b(?:0|zero) (?:GPUs"
        r"|devices)(?:.{0,60}expect\w* (?P<expected>\d+))?",
    ),
    sentence(
        _G,
        "gpu_count_short",
        r"(?:(?:found|detected|reports?|sees|only|has) (?P<found>[1-9]\d?) (?:of (?:8|4|16) )?(?:GPUs?"
        r"|devices?).{0,60}(?:expect\w*|instead of|should be|missing)|expect\w* \d+ (?:GPUs?"
        r"|devices?).{0,40}(?:got|found|but|only|saw) (?P<got>[1-9]\d?)\b"
        r"|[1-7] (?:out )?of 8 GPUs.{0,40}(?:visible|detected|found|left)"
        r"|gres/gpu count reported lower than configured \((?P<low>[1-9]\d?) ?<|GPU count mismatch|(?:one|a"
        r"|1) GPU (?:is )?(?:missing|less)|(?:lost|short) (?:a|one|1) GPU|only 7 GPUs"
        r"|nvidia\.com/gpu(?:\.count)?\W{1,4}[1-7]\b.{0,60}\b(?:sibling|others?|instead|expect\w*)\b.{0,20}\b8\b)",
    ),
    pattern(_G, "gres_zero", "lower than configured", r"gres/gpu count reported lower than configured \(0 ?<"),
    pattern(
        _G,
        "driver_starting",
        ("loading nvidia unix", "nvlink core is being"),
        r"loading NVIDIA UNIX.{0,80}|Nvlink Core is being initiali[sz]ed",
    ),
    pattern(_G, "no_devices", "no devices were found"),
    pattern(
        _G,
        "ecc_uncorrectable",
        ("uncorrectable", "double bit", "double-bit", "dbe", "ecc"),
        r"uncorrect(?:able|ed).{0,20}\bECC\b|\bECC\b.{0,30}uncorrect(?:able|ed)|double[- ]bit(?: ecc)?"
        r"|\bDBE\b|"
        r"uncorrectable (?:memory|dram|sram|hbm)|SRAM uncorrect",
    ),
    pattern(
        _G,
        "row_remap_failed",
        ("remap", "retire"),
        r"remap\w*[ _.]?(?:rows?)?[^\n]{0,30}(?:fail\w*)[ \w]{0,12}[:=]? ?(?:yes|true|1\b"
        r"|occurred(?! ?[:=] ?(?:no|0|none|false)))"
        r"|(?<!no )(?<!without )(?<!zero )(?<!any )row[- ]remap\w* fail\w*(?!\w*(?: occurred)? ?[:=]"
        r" ?(?:no|0|none|false))"
        r"|(?<!no )(?<!any )remapping failure(?!(?: occurred)? ?[:=] ?(?:no|0|none|false))"
        r"|fail\w* to (?:mark row for )?(?:remap|retire)"
        r"|remap failure (?:flag )?(?:set|=1)",
    ),
    pattern(
        _G,
        "row_remap_pending",
        ("pending", "remap"),
        r"(?:remap|retire)\w*.{0,90}pending.{0,4}(?!\W*no\b)(?:yes|true|1\b|each|still|after)"
        r"|pending (?:row )?remap|"
        r"row remap pending|pending page retirement|pending retirement|retirement pending",
    ),
    pattern(
        _G,
        "row_remap_clean",
        ("pending", "remap", "recover"),
        r"pending ?[=:] ?(?:no|0|false).{0,60}fail\w* ?\w* ?[=:] ?(?:no|0|false)|already remapped"
        r"|remapped successfully|no (?:row )?remap\w* failures?|"
        r"(?:ecc|page|row).{0,40}(?:already )?recovered",
    ),
    sentence(_G, "ecc_mentioned", r"\bECC errors?\b"),
    pattern(
        _G,
        "ecc_correctable_low",
        ("correctable", "single-bit", "single bit"),
        r"(?<!un)correct(?:able|ed) (?:ecc )?(?:error|memory)|single[- ]bit (?:ecc )?error",
    ),
    pattern(
        _G,
        "gpu_thermal",
        ("thermal", "overheat", "temperature", "too hot"),
        r"hw[ _]?thermal[ _]?slowdown\W{0,5}active|thermal (?:shutdown|violation|slowdown|throttl)|overheat|"
        r"(?:gpu|memory|hbm).{0,20}temp\w*.{0,20}\b(?:8[6-9]|9\d|1\d\d) ?(?:°|deg|c\b)"
        r"|THERMAL_VIOLATION|fan fail",
    ),
    pattern(
        _G,
        "gpu_power_brake",
        ("power brake", "power_brake", "hw slowdown", "hw_slowdown", "insufficient power"),
        r"(?:hw )?power[ _]?brake(?:[ _]slowdown)?\W{0,5}active|hw[ _]slowdown\W{0,5}active|power brake"
        r"|hw slowdown (?:at|with|while|despite)"
        r"|insufficient power",
    ),
    pattern(_G, "gpu_power_cap", ("power cap", "power_cap", "powercap"), r"sw[ _]?power[ _]?cap"),
    sentence(
        _G,
        "gpu_clock_stuck",
        r"(?:clock|frequency)s?.{0,60}(?:stuck|locked|drops?|dropped|capped|only) (?:at |to )?\d+ ?MHz",
    ),
    pattern(
        _G,
        "nvlink_down",
        ("nvlink", "nvl link"),
        r"CUDA_ERROR_NVLINK_UNCORRECTABLE|uncorrectable nvlink|nvlink.{0,60}(?:inactive|is down"
        r"|\bdown\b|fatal error|crc error|replay error|training fail|flapp)|"
        r"(?:inactive|down|broken|failed) nvlinks?",
    ),
    pattern(
        _G,
        "nvlink_peer_error",
        ("cuda_error_contained", "peer gpu memory over nvlink"),
        r"CUDA_ERROR_CONTAINED|invalid access of peer gpu memory over nvlink",
    ),
    pattern(
        _G,
        "nvswitch_fault",
        ("nvswitch", "nvlink switch"),
        r"(?:nvswitch|nvlink switch).{0,60}(?:fatal|failed|failure|fault|degraded|reset|dead|error detected)",
    ),
    pattern(
        _G,
        "gsp_timeout",
        ("gsp",),
        r"timeout.{0,20}(?:waiting for )?RPC from GSP|GSP (?:RPC )?(?:timeout|error|crash|heartbeat)"
        r"|_kgspRpc|GSP firmware.{0,30}(?:halt|fail|crash)",
    ),
    pattern(
        _G,
        "gpu_requires_reset",
        ("requires reset", "requires a reset", "reset required"),
        r"gpu.{0,20}(?:requires a? ?reset|reset required)",
    ),
    sentence(
        _G,
        "gpu_bandwidth_low",
        r"(?:bandwidth|busbw|output bw).{0,60}(?:below|less than|under|lower than|< ?\d|expected minimum)",
    ),
    sentence(
        _G,
        "diag_failed",
        r"fail\w* .{0,20}(?:dcgmi? diag|EUD|field ?diag|gpu[-_ ]?burn|memtest|memory test|burn-?in|stress test)",
    ),
    sentence(
        _G,
        "gpu_gone",
        r"GPUs? .{0,20}(?:disappear|vanish|drop(?:s|ped)? (?:off|out)|went missing|not detected"
        r"|no longer (?:visible|listed|detected))"
        r"|lspci.{0,80}nvidia-smi.{0,20}(?:only|fewer|less|one)|nvidia-smi (?:only |shows only "
        r"|lists only )(?:three|seven|[1-7])\b",
    ),
    pattern(
        _G,
        "diag_failed",
        ("dcgmi diag", "dcgm diag", "eud", "field diag", "fielddiag", "nvvs", "burn", "dcgm_fr_"),
        r"(?:dcgmi? diag\w*|EUD|field ?diag\w*|nvvs|gpu[-_ ]?burn).{0,80}(?:fail|fault|error)"
        r"|(?P<code>DCGM_FR_[A-Z0-9_]+)",
    ),
    pattern(
        _K,
        "disk_error",
        ("i/o error", "nvme", "ext4-fs error", "xfs", "read-only file system", "smartctl"),
        r"(?:blk_update_request|print_req_error|Buffer I/O error|I/O error, dev)\b.{0,60}"
        r"|nvme\d?\S{0,8}:? .{0,40}"
        r"(?:controller is down|timeout|reset|abort|failed)|EXT4-fs error"
        r"|XFS \(\S{1,20}\): .{0,40}(?:corruption|I/O error|shutdown)|"
        r"(?:re)?mount(?:ed|ing)? .{0,20}read-only|SMART.{0,40}(?:fail|critical)",
    ),
    pattern(
        _K,
        "machine_check",
        ("mce:", "machine check", "hardware error", "edac", "memory failure"),
        r"\bmce:.{0,40}(?:hardware error|cpu)|machine check|\[Hardware Error\]|EDAC.{0,80}\bUE\b"
        r"|Memory failure: 0x",
    ),
    pattern(
        _K,
        "kernel_hang",
        (
            "soft lockup",
            "hard lockup",
            "blocked for more than",
            "rcu_sched",
            "kernel panic",
            "kerneldeadlock",
        ),
        r"(?:soft|hard) lockup|task \S{1,40} blocked for more than"
        r"|rcu_\w{1,12} (?:self-)?detected stall|Kernel panic",
    ),
)
