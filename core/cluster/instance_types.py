"""What an instance of each type brings: the figures that planning, quotas and the scheduler count in.

Sources: AWS's public accelerated-computing instance pages (GPU, vCPU, memory, EFA figures) and the
`ClusterInstanceType` enum of botocore 1.44.8 (spelling). Only types that carry accelerators, and the
few general ones that clusters use for controllers, are listed; any other type of the enum is legal and
its figures come from `ec2:DescribeInstanceTypes` at run time.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from core.ids import InstanceTypeName


class AcceleratorKind(StrEnum):
    """The Kubernetes resource name under which the accelerator is requested."""

    NVIDIA_GPU = "nvidia.com/gpu"
    NEURON = "aws.amazon.com/neurondevice"
    NONE = "none"


@dataclass(frozen=True, slots=True, kw_only=True)
class InstanceType:
    """Per instance: accelerators (count), vCPUs (at two threads per core), memory (GiB), EFA interfaces."""

    name: InstanceTypeName
    accelerator: AcceleratorKind
    accelerators: int
    gpu_model: str
    """As people call it (`H100`); empty without accelerators. Several types may share one."""
    vcpus: int
    memory_gib: int
    efa_interfaces: int

    @property
    def family(self) -> str:
        """`p5` of `ml.p5.48xlarge`."""
        return self.name.split(".")[1]

    @property
    def ec2_name(self) -> str:
        """EC2's spelling: without HyperPod's `ml.`."""
        return self.name.removeprefix("ml.")


_GPU, _NEURON, _NONE = AcceleratorKind.NVIDIA_GPU, AcceleratorKind.NEURON, AcceleratorKind.NONE

_ROWS: Final[tuple[tuple[str, AcceleratorKind, int, str, int, int, int], ...]] = (
    # name, accelerator, count, model, vCPUs, memory GiB, EFA interfaces
    ("ml.p4d.24xlarge", _GPU, 8, "A100", 96, 1152, 4),
    ("ml.p4de.24xlarge", _GPU, 8, "A100", 96, 1152, 4),
    ("ml.p5.4xlarge", _GPU, 1, "H100", 16, 256, 1),
    ("ml.p5.48xlarge", _GPU, 8, "H100", 192, 2048, 32),
    ("ml.p5e.48xlarge", _GPU, 8, "H200", 192, 2048, 32),
    ("ml.p5en.48xlarge", _GPU, 8, "H200", 192, 2048, 16),
    ("ml.p6-b200.48xlarge", _GPU, 8, "B200", 192, 2048, 8),
    ("ml.p6-b300.48xlarge", _GPU, 8, "B300", 192, 4096, 16),
    ("ml.p6e-gb200.36xlarge", _GPU, 4, "GB200", 144, 960, 17),
    ("ml.g4dn.xlarge", _GPU, 1, "T4", 4, 16, 0),
    ("ml.g4dn.2xlarge", _GPU, 1, "T4", 8, 32, 0),
    ("ml.g4dn.4xlarge", _GPU, 1, "T4", 16, 64, 0),
    ("ml.g4dn.8xlarge", _GPU, 1, "T4", 32, 128, 1),
    ("ml.g4dn.12xlarge", _GPU, 4, "T4", 48, 192, 1),
    ("ml.g4dn.16xlarge", _GPU, 1, "T4", 64, 256, 1),
    ("ml.g5.xlarge", _GPU, 1, "A10G", 4, 16, 0),
    ("ml.g5.2xlarge", _GPU, 1, "A10G", 8, 32, 0),
    ("ml.g5.4xlarge", _GPU, 1, "A10G", 16, 64, 0),
    ("ml.g5.8xlarge", _GPU, 1, "A10G", 32, 128, 1),
    ("ml.g5.12xlarge", _GPU, 4, "A10G", 48, 192, 1),
    ("ml.g5.16xlarge", _GPU, 1, "A10G", 64, 256, 1),
    ("ml.g5.24xlarge", _GPU, 4, "A10G", 96, 384, 1),
    ("ml.g5.48xlarge", _GPU, 8, "A10G", 192, 768, 1),
    ("ml.g6.xlarge", _GPU, 1, "L4", 4, 16, 0),
    ("ml.g6.2xlarge", _GPU, 1, "L4", 8, 32, 0),
    ("ml.g6.4xlarge", _GPU, 1, "L4", 16, 64, 0),
    ("ml.g6.8xlarge", _GPU, 1, "L4", 32, 128, 1),
    ("ml.g6.12xlarge", _GPU, 4, "L4", 48, 192, 1),
    ("ml.g6.16xlarge", _GPU, 1, "L4", 64, 256, 1),
    ("ml.g6.24xlarge", _GPU, 4, "L4", 96, 384, 1),
    ("ml.g6.48xlarge", _GPU, 8, "L4", 192, 768, 1),
    ("ml.g6e.xlarge", _GPU, 1, "L40S", 4, 32, 0),
    ("ml.g6e.2xlarge", _GPU, 1, "L40S", 8, 64, 0),
    ("ml.g6e.4xlarge", _GPU, 1, "L40S", 16, 128, 0),
    ("ml.g6e.8xlarge", _GPU, 1, "L40S", 32, 256, 1),
    ("ml.g6e.12xlarge", _GPU, 4, "L40S", 48, 384, 1),
    ("ml.g6e.16xlarge", _GPU, 1, "L40S", 64, 512, 1),
    ("ml.g6e.24xlarge", _GPU, 4, "L40S", 96, 768, 2),
    ("ml.g6e.48xlarge", _GPU, 8, "L40S", 192, 1536, 4),
    ("ml.trn1.32xlarge", _NEURON, 16, "Trainium", 128, 512, 8),
    ("ml.trn1n.32xlarge", _NEURON, 16, "Trainium", 128, 512, 16),
    ("ml.trn2.3xlarge", _NEURON, 1, "Trainium2", 12, 128, 1),
    ("ml.trn2.48xlarge", _NEURON, 16, "Trainium2", 192, 2048, 16),
    ("ml.t3.medium", _NONE, 0, "", 2, 4, 0),
    ("ml.t3.large", _NONE, 0, "", 2, 8, 0),
    ("ml.t3.xlarge", _NONE, 0, "", 4, 16, 0),
    ("ml.t3.2xlarge", _NONE, 0, "", 8, 32, 0),
    ("ml.m5.large", _NONE, 0, "", 2, 8, 0),
    ("ml.m5.xlarge", _NONE, 0, "", 4, 16, 0),
    ("ml.m5.2xlarge", _NONE, 0, "", 8, 32, 0),
    ("ml.m5.4xlarge", _NONE, 0, "", 16, 64, 0),
    ("ml.m5.8xlarge", _NONE, 0, "", 32, 128, 0),
    ("ml.m5.12xlarge", _NONE, 0, "", 48, 192, 0),
    ("ml.c5.xlarge", _NONE, 0, "", 4, 8, 0),
    ("ml.c5.2xlarge", _NONE, 0, "", 8, 16, 0),
    ("ml.c5.4xlarge", _NONE, 0, "", 16, 32, 0),
    ("ml.c5.9xlarge", _NONE, 0, "", 36, 72, 0),
    ("ml.c5.18xlarge", _NONE, 0, "", 72, 144, 0),
    ("ml.c5n.18xlarge", _NONE, 0, "", 72, 192, 1),
)

INSTANCE_TYPES: Final[dict[InstanceTypeName, InstanceType]] = {
    InstanceTypeName(name): InstanceType(
        name=InstanceTypeName(name),
        accelerator=accelerator,
        accelerators=count,
        gpu_model=model,
        vcpus=vcpus,
        memory_gib=memory_gib,
        efa_interfaces=efa,
    )
    for name, accelerator, count, model, vcpus, memory_gib, efa in _ROWS
}
"""HyperPod name -> figures."""


def find_instance_type(name: str) -> InstanceType | None:
    """Accepts HyperPod's (`ml.p5.48xlarge`) and EC2's (`p5.48xlarge`) spelling."""
    return INSTANCE_TYPES.get(InstanceTypeName(name if name.startswith("ml.") else f"ml.{name}"))
