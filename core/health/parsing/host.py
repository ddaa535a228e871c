"""Memory, storage and the host's own software: OOM (cgroup aware), Lustre, NFS, disks that are full,
kubelet."""

from __future__ import annotations

from core.health.parsing.line_pattern import LinePattern, pattern, sentence
from core.health.signals import SignalFamily

_M, _S, _L = SignalFamily.MEMORY, SignalFamily.STORAGE, SignalFamily.LAUNCHER

PATTERNS: tuple[LinePattern, ...] = (
    pattern(
        _M,
        "oom_cgroup",
        (
            "oom-kill",
            "oom_kill",
            "oomkilled",
            "memory cgroup out of memory",
            "cgroup out-of-memory",
            "out_of_memory",
            "exceeded memory limit",
            "memory limit",
        ),
        r"Detected (?P<count>\d+) oom[-_]kill event|oom_kill \d|oom-kill:constraint=CONSTRAINT_MEMCG"
        r"|OOMKilled|"
        r"Memory cgroup out of memory|cgroup out-of-memory|State=OUT_OF_MEMORY|OUT_OF_MEMORY"
        r"|exceeded (?:\w+ )?memory limit",
    ),
    pattern(
        _M,
        "oom_global",
        (
            "out of memory: kill",
            "invoked oom-killer",
            "constraint_none",
            "killed process",
            "system oom",
            "systemoom",
        ),
        r"Out of memory: Kill(?:ed)? process (?P<code>\d+)(?: \((?P<process>[^)]{1,40})\))?"
        r"|invoked oom-killer|CONSTRAINT_NONE|System ?OOM",
    ),
    pattern(
        _M,
        "host_memory_short",
        (
            "cannot allocate memory",
            "memoryerror",
            "dataloader worker",
            "std::bad_alloc",
            "defaultcpuallocator",
            "numpy.core._exceptions",
            "not enough memory",
        ),
        r"Cannot allocate memory|MemoryError|DataLoader worker.{0,60}(?:killed|exited unexpectedly)"
        r"|std::bad_alloc|DefaultCPUAllocator|not enough memory|Unable to allocate .{0,20}iB",
    ),
    pattern(_M, "bus_error", ("bus error", "sigbus"), r"(?<!pcie )Bus error|SIGBUS"),
    pattern(
        _S,
        "lustre_evicted",
        ("was evicted by", "evicting client", "evicted from"),
        r"(?:client was evicted by|evicting client|evicted from) ?(?P<peer>\S{1,64})?",
    ),
    pattern(
        _S,
        "lustre_error",
        ("lustreerror", "ptlrpc", "obd_ping", "slow reply", "lnet", "lustre:", "mds_", "ost_", "lustre"),
        r"LustreError: .{0,80}|ptlrpc_\w+|obd_ping.{0,60}|Request sent has (?:timed out|failed)"
        r"|LNet(?:Error)?: .{0,80}|"
        r"Connection (?:to|restored to) \S{1,40} \(at .{1,40}\) was lost|Lustre.{0,60}(?:unresponsive"
        r"|unreachable|timed? ?out|hang|slow|down|overload|saturat|reconnect|disconnect|error)",
    ),
    pattern(
        _S,
        "mount_failed",
        (
            "mount.",
            "mount failed",
            "mount fail",
            "mounting",
            "failedmount",
            "mountvolume",
            "mgs running",
            "unable to mount",
            "cannot mount",
            "failed to mount",
            "could not mount",
            "mount: ",
            "failed processing log",
            "failed from mgs",
        ),
        r"failed processing log, type 1|failed from MGS -?\d|(?:unable to|cannot|could not"
        r"|failed to) mount|mount(?:\.lustre|\.nfs\d?"
        r"|ing)?:? .{0,80}(?:fail|timed out|timeout|Input/output error|unable"
        r"|refused|No such device|cannot)|Is the MGS running|FailedMount|MountVolume\.\w+ failed",
    ),
    sentence(
        _S,
        "version_clash",
        r"not compatible|incompatib\w+|unsupported version|version (?:mismatch|conflict|skew)|(?:version|client"
        r"|driver|library) .{0,30}too old|built for (?:another|a different|cuda)",
    ),
    pattern(
        _S,
        "nfs_error",
        ("nfs", "stale file handle", "estale", "stale nfs"),
        r"nfs: server .{1,60}(?:not responding|timed out)|Stale (?:NFS )?file handle|ESTALE"
        r"|NFS.{0,60}(?:hang|timeout|overload|saturat|unresponsive|slow)",
    ),
    sentence(
        _S,
        "storage_slow",
        r"(?:\bgpfs|\bfsx|\befs\b|weka|beegfs|ceph|\bOST\d*|\bMDT\d*|\bMDS\b|metadata server|file ?system"
        r"|storage (?:server|backend|array))\b.{0,80}(?:overload|saturat|unresponsive|unreachable|outage|evict"
        r"|unavailable|hung|hang|timed? ?out|degraded|slow(?:down|ly)?\b|fail(?:ing|s|ed)?[- ]?over"
        r"|went down|is down|stall)",
    ),
    pattern(
        _S,
        "io_error",
        ("input/output error", "errno 5", "transport endpoint", "remote i/o error", "errno 107", "errno 116"),
        r"\[?Errno 5\]?|Input/output error|Transport endpoint is not connected"
        r"|(?:shutdown )?transport endpoint|Remote I/O error",
    ),
    pattern(
        _S,
        "s3_slow",
        ("slowdown", "reduce your request rate", "503 slow", "requesttimeout", "internalerror", "serviceunavailable"),
        r"(?-i:\bSlowDown\b)|503 Slow ?Down|An error occurred \((?:RequestTimeout|InternalError"
        r"|ServiceUnavailable)\)",
    ),
    pattern(
        _S,
        "disk_full",
        (
            "no space left",
            "disk quota exceeded",
            "enospc",
            "quota exceeded",
            "diskpressure",
            "disk pressure",
            "ephemeral-storage",
            "disk full",
            "disk is full",
            "inodes",
        ),
        r"No space left on device|Disk quota exceeded|ENOSPC|quota exceeded|DiskPressure|disk pressure"
        r"|ephemeral[- ]storage|disk (?:is )?full|out of inodes",
    ),
    pattern(
        _S,
        "credentials",
        (
            "accessdenied",
            "access denied",
            "expiredtoken",
            "expired token",
            "unauthorized",
            "403 forbidden",
            "401 client",
            "invalidaccesskey",
            "gated repo",
            "not authorized to perform",
        ),
        r"AccessDenied\w*|Access Denied|ExpiredToken\w*|token.{0,20}expired|Unauthorized\w*"
        r"|403 Forbidden|401 Client|InvalidAccessKey|gated repo|not authorized to perform",
    ),
    pattern(
        _S,
        "data_error",
        (
            "corrupt",
            "truncated",
            "unpickling",
            "headertoolarge",
            "invalidheader",
            "metadataincompletebuffer",
            "pytorchstreamreader",
            "invalid load key",
            "malformed",
        ),
        r"(?:corrupt\w*|truncated|malformed|invalid).{0,40}(?:shard|tar|parquet|archive|image|record"
        r"|checkpoint|file|header)|UnpicklingError|PytorchStreamReader failed|invalid load key"
        r"|HeaderTooLarge|InvalidHeader|MetadataIncompleteBuffer",
    ),
    pattern(
        _L,
        "kubelet_trouble",
        (
            "pleg is not healthy",
            "runtime is down",
            "containerd",
            "plugin not ready",
            "plugin not initialized",
            "failed to create pod sandbox",
            "unexpectedadmissionerror",
            "device plugin",
            "kubelet stopped",
            "kubelet was not",
        ),
        r"PLEG is not healthy|container runtime is down|containerd.{0,60}(?:fail|timeout"
        r"|not responding)|network plugin not ready|cni plugin not initialized|"
        r"Failed to create pod sandbox|UnexpectedAdmissionError|device plugin.{0,60}(?:unregister|fail"
        r"|restart|not)|kubelet (?:stopped|was not)",
    ),
    pattern(
        _L,
        "image_or_pod_config",
        (
            "imagepullbackoff",
            "errimagepull",
            "crashloopbackoff",
            "createcontainerconfigerror",
            "manifest unknown",
            "exec format error",
            "insufficient nvidia.com/gpu",
            "insufficient cpu",
            "failedscheduling",
            "didn't match pod",
            "toomanyrequests",
            "pull rate limit",
            "pyxis",
            "enroot",
        ),
        r"ImagePullBackOff|ErrImagePull|CrashLoopBackOff|CreateContainer\w*Error|manifest unknown"
        r"|exec format error|Insufficient (?:nvidia\.com/gpu|cpu|memory|vpc\.amazonaws\.com/efa)"
        r"|FailedScheduling|"
        r"didn't match Pod|toomanyrequests|pull rate limit|(?:pyxis|enroot)\b.{0,120}(?:error|fail"
        r"|denied|couldn't|cannot|unbound|not found)",
    ),
    sentence(
        _L,
        "cpu_binding",
        r"cpu[- _](?:affinity|bind\w*|pin\w*)|affinity|cpus[-_]per[-_]task|OMP_NUM_THREADS|taskset|numactl"
        r"|wrong numa|suggested max number of worker|cpuset",
    ),
    pattern(
        _L,
        "clock_skew",
        (
            "clock skew",
            "time skew",
            "munge",
            "expired credential",
            "credential expired",
            "rewound credential",
            "chronyd",
            "ntpd",
            "ntp ",
        ),
        r"clock skew|time skew|munge.{0,80}(?:fail|expired|rewound|invalid|decode|error)|(?:Expired"
        r"|Rewound) credential|credential expired|time is .{0,20}(?:ahead|behind)|(?:chrony"
        r"|ntp)\w*.{0,40}(?:not sync|offset|unsync)",
    ),
    sentence(
        _L,
        "host_setting",
        r"ulimit|sysctl|BIOS.{0,60}|(?:cpu|scaling) governor|powersave|persistence mode.{0,20}(?:off|disabled)"
        r"|c-states?|MIG mode|Exclusive[_ ]Process|compute mode|selinux|apparmor|RemoveIPC|cgroup ?v2",
    ),
)
