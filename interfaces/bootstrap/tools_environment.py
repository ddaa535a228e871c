"""For `aws` and `kubectl` beside Muster: the twin's environment and a kubeconfig with each of its EKS clusters."""

from __future__ import annotations

from collections.abc import Mapping

from interfaces.bootstrap.embedded import Processes
from interfaces.bootstrap.home import Home
from interfaces.bootstrap.world import World
from twin.kube.kubeconfig import write_kubeconfig


def tools_environment(processes: Processes, world: World) -> Mapping[str, str]:
    """Writes the kubeconfig anew and returns the variables that point there."""
    names = sorted(str(item.get("value")) for item in world.clients.aws.pages("eks", "ListClusters", {}, "clusters"))
    path = Home(processes.settings.home).root / "kubeconfig"
    write_kubeconfig(path, endpoint=processes.twin.endpoint, token=processes.twin.token, eks_names=names)
    shown = {name: value for name, value in processes.environment().items() if name.startswith("AWS_")}
    return shown | {"KUBECONFIG": str(path)}
