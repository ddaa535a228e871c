"""Updates of a cluster or an add-on: begun at once, done a while later."""

from __future__ import annotations

from twin.aws.context import Context
from twin.world import durations
from twin.world.simulation import Simulation, TimerAction
from twin.world.state import EksCluster, Spec


def timer_actions() -> dict[str, TimerAction]:
    return {"eks.updated": _updated}


def begin_update(ctx: Context, cluster: EksCluster, kind: str, addon: str) -> Spec:
    update: Spec = {
        "id": ctx.sim.uuid(),
        "status": "InProgress",
        "type": kind,
        "params": [],
        "createdAt": ctx.sim.now.timestamp(),
        "errors": [],
    }
    cluster.updates[update["id"]] = update
    delay = ctx.sim.between(durations.ADDON_CHANGE)
    ctx.sim.after(delay, "eks.updated", cluster=cluster.name, update=update["id"], addon=addon)
    return update


def _updated(sim: Simulation, args: dict[str, str]) -> None:
    cluster = sim.world.eks.get(args["cluster"])
    if cluster is None:
        return
    cluster.updates[args["update"]]["status"] = "Successful"
    if args["addon"]:
        sim.after(0, "eks.addon", cluster=args["cluster"], addon=args["addon"])
    elif cluster.status == "UPDATING":
        cluster.status = "ACTIVE"
