"""Rules for the network, the storage and the site."""

from __future__ import annotations

from core.health.diagnosis.rule import CauseRule, rule
from core.health.faults import Accused, Confidence, FaultClass, Remediation

_NONE, _RESTART, _ASK = Remediation.NONE, Remediation.RESTART_WORKLOAD, Remediation.ESCALATE
_FABRIC, _STORAGE, _SITE = Accused.FABRIC, Accused.STORAGE, Accused.SITE

SITE: tuple[CauseRule, ...] = (
    rule(
        "whole_site",
        "site_power|maintenance many_nodes|slurm_unexpected_reboot",
        (FaultClass.SITE_EVENT, _NONE, _SITE),
        "many nodes in one window are one cause of the site: resume, do not replace",
    ),
    rule(
        "rebooted_together",
        "many_nodes slurm_unexpected_reboot|node_not_ready",
        (FaultClass.SITE_EVENT, _NONE, _SITE),
        "many nodes in one window are one cause of the site: resume, do not replace",
    ),
    rule(
        "power_or_cooling",
        "site_power|capacity_reclaimed",
        (FaultClass.SITE_EVENT, _NONE, _SITE),
        "power or cooling of the site",
        unless="xid gpu_power_brake hw_confirmed hardware",
    ),
)

NETWORK: tuple[CauseRule, ...] = (
    rule(
        "link_or_port",
        "port_error|link_down|nic_hardware|nic_kernel_error",
        (FaultClass.NETWORK_HW, _ASK, _FABRIC),
        "a flapping link, a port error or a bad cable (nccl 905)",
        unless="hardware nvlink_down",
        repeat=Remediation.ISOLATE,
    ),
    rule(
        "peer_stopped_answering",
        "efa_unresponsive_remote",
        (FaultClass.NETWORK_PEER, _RESTART, Accused.PEER),
        "EFA accuses the other end (aws-ofi-nccl 346)",
        unless="hardware",
        confidence=Confidence.STATED,
    ),
    rule(
        "hyperpod_network",
        "fault_type:NetworkFaultType",
        (FaultClass.NETWORK_HW, _ASK, _FABRIC),
        "HyperPod fault type",
        confidence=Confidence.STATED,
    ),
    rule(
        "transport_timeout",
        "ib.after_traffic|ib_retry_exceeded",
        (FaultClass.NETWORK_HW_SUSPECT, _ASK, _FABRIC),
        "status 12 after traffic: the first pair in time is the suspect link (nccl 1698)",
        unless="hardware",
    ),
)

STORAGE: tuple[CauseRule, ...] = (
    rule(
        "file_system",
        "lustre_evicted|lustre_error|nfs_error|storage_slow|s3_slow",
        (FaultClass.FILESYSTEM, _NONE, _STORAGE),
        "the server side of the file system; the client is healthy",
        unless="hardware",
    ),
)

GENERIC: tuple[CauseRule, ...] = (
    rule(
        "slurm_path",
        "slurm_not_responding many_nodes|link_down|fresh_setup|flaps",
        (FaultClass.NETWORK_CONFIG, _ASK, Accused.IMAGE),
        "the same part of a cluster goes down each time: the path between slurmctld and slurmd (elasticluster 272)",
    ),
    rule(
        "controller_down",
        "controller_unreachable",
        (FaultClass.SITE_EVENT, _NONE, _SITE),
        "the controller, not the nodes",
        confidence=Confidence.WEAK,
    ),
    rule(
        "io_error",
        "io_error",
        (FaultClass.FILESYSTEM, _NONE, _STORAGE),
        "an I/O error of a mounted file system",
        unless="hardware",
        confidence=Confidence.WEAK,
    ),
    rule(
        "congestion",
        "efa_retransmit|ib.flush",
        (FaultClass.NETWORK, _ASK, _FABRIC),
        "transport errors without a named end",
        confidence=Confidence.WEAK,
    ),
)
