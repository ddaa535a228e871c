"""The life of a training plan: Pending until paid, Scheduled until it starts, Active until it ends.

What the real service does with running nodes at the end of a plan is not documented beyond "capacity ends": the
twin shuts them down, and their replacements find no capacity.
"""

from __future__ import annotations

from twin.world import capacity
from twin.world.provisioning import Provisioning
from twin.world.simulation import Simulation, TimerAction


def timer_actions(provisioning: Provisioning) -> dict[str, TimerAction]:
    def paid(sim: Simulation, args: dict[str, str]) -> None:
        plan = sim.world.plans[args["plan"]]
        plan.status = "Scheduled"
        sim.after(max(0.0, (plan.start - sim.now).total_seconds()), "plan.starts", plan=plan.name)

    def starts(sim: Simulation, args: dict[str, str]) -> None:
        plan = sim.world.plans[args["plan"]]
        plan.status = "Active"
        sim.after((plan.end - sim.now).total_seconds(), "plan.ends", plan=plan.name)

    def ends(sim: Simulation, args: dict[str, str]) -> None:
        plan = sim.world.plans[args["plan"]]
        if sim.now < plan.end:  # extended meanwhile
            return
        plan.status = "Expired"
        for cluster in sim.world.clusters.values():
            for node in list(cluster.nodes.values()):
                if capacity.plan_of(sim.world, cluster.groups[node.group]) is plan and node.instance_id:
                    provisioning.replace(sim, cluster, node)

    return {"plan.paid": paid, "plan.starts": starts, "plan.ends": ends}
