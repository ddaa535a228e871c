"""One twin, wired: clock, log, world, account and both halves."""

from __future__ import annotations

import ctypes
import gc
import logging
import threading
from collections import deque
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from random import Random

from core.ids import ZoneId
from twin import snapshot
from twin.auth import access_key_behind
from twin.aws import eks, fsx
from twin.aws.api import AwsApi
from twin.aws.building import build_world, populate_account, populate_clusters
from twin.aws.context import Context
from twin.aws.moto_host import MotoHost
from twin.clock import TwinClock
from twin.faults import Faults
from twin.holds import Holds
from twin.kubernetes_half import KubernetesSite, MakeKubernetes
from twin.quiet import movements
from twin.request_log import RequestLog
from twin.world import governance, plans
from twin.world.joining import HEALTH_LABEL
from twin.world.provisioning import Provisioning
from twin.world.recovery import Recovery
from twin.world.simulation import Simulation
from twin.world.specification import WorldSpec
from twin.world.state import Cluster, World
from twin.world.upkeep import Upkeep

_LOG = logging.getLogger(__name__)
IDLE_SECONDS = 0.2
"""The ticker looks at least this often: a client may have set a nearer timer meanwhile."""
SHORTEST_SLEEP_SECONDS = 0.01


class Twin:
    """What stands behind the gateway; `close()` ends the ticker and the Kubernetes half."""

    def __init__(
        self,
        *,
        folder: Path,
        token: str,
        endpoint: str,
        start: datetime,
        time_factor: float,
        seed: int,
        specification: WorldSpec,
        make_kubernetes: MakeKubernetes,
    ) -> None:
        """A folder that holds a world goes on with that one; `start`, `seed` and `specification` are for a new one."""
        folder.mkdir(parents=True, exist_ok=True)
        self._endpoint, self._snapshot_path = endpoint, folder / "world.json"
        self._lock, self._closing = threading.RLock(), threading.Event()
        self._heard: deque[Callable[[], None]] = deque()
        saved = snapshot.load(self._snapshot_path)
        self.clock = TwinClock(saved.time if saved is not None else start, time_factor)
        self.log = RequestLog(folder / "requests.jsonl", self.clock)
        self._account = MotoHost(folder / "account.jsonl")
        self._token = token
        self.holds = Holds()
        self.aws = AwsApi(self._context, self._lock, self.log, self._save, token)
        site = KubernetesSite(
            folder=folder / "kubernetes",
            clock=self.clock,
            seed=seed,
            user_of=self._user_of,
            log=self.log,
            agent=self,
            endpoint=endpoint,
            token=token,
        )
        self.kubernetes = make_kubernetes(site)
        if saved is None:
            self._begin(specification, seed, 0, None)
        else:
            self._begin(saved.specification, saved.seed, saved.restarts + 1, saved.world)
        self.log.attach(self)
        self._ticker = threading.Thread(target=self._tick, name="twin-ticker", daemon=True)
        self._ticker.start()

    @property
    def lock(self) -> threading.RLock:
        return self._lock

    def advance(self) -> None:
        """Let everything happen that is due by now. Called under `lock`."""
        while self._heard:
            self._heard.popleft()()
        if self.sim.advance() > 0:
            self._save()

    def movements(self) -> list[str]:
        """What still moves (twin.quiet). Called under `lock`."""
        standing = {job.name for cluster in self._spec.clusters for job in cluster.jobs}
        found = movements(self.sim.world, self.clock.now(), self.kubernetes.workloads, standing)
        return found + ["node agents' news"] * bool(self._heard)

    def zones_of(self, cluster: Cluster) -> set[ZoneId]:
        """Of its nodes; of its groups' subnets while it has none."""
        running = {node.zone for node in cluster.nodes.values() if node.zone is not None}
        groups = cluster.groups.values()
        return running or {zone for group in groups for zone in self._provisioning.zones_of(cluster, group)}

    def warm_up(self) -> None:
        """Import and read what the first AWS calls need, so that no call pays for it in twin time.

        Then give back what that took for a while: some 40 MB, where the C library can.
        """
        with self._lock:
            # Two threads that import modules which need each other can see half of one: whoever calls meanwhile waits.
            self._account.warm_up()
        self.aws.warm_up()
        gc.collect()
        library = ctypes.CDLL(None)
        if hasattr(library, "malloc_trim"):
            library.malloc_trim(0)

    def reset(self, specification: WorldSpec | None, seed: int | None) -> None:
        """A new world (the same as before without a `specification`); nothing of the old one stays."""
        with self._lock:
            self.kubernetes.reset()
            self.log.reset()
            self._account.forget()
            self._heard.clear()
            self._begin(specification or self._spec, self._seed if seed is None else seed, 0, None)

    def label_changed(self, eks_name: str, node_name: str, label: str, value: str | None) -> None:
        """`NodeAgent`: only noted here, as the caller may hold locks of its own; acted on at the next moment."""
        if label == HEALTH_LABEL:
            self._heard.append(lambda: self._recovery.label_changed(self.sim, eks_name, node_name, value))

    def job_running(self, eks_name: str, job: str) -> None:
        self._heard.append(lambda: self.faults.job_running(job))

    def mutation_arrived(self, call: str) -> None:
        """`Moments`: the log asks from whichever thread answers the call."""
        with self._lock:
            self.faults.mutation_arrived(call)

    def effect_done(self, call: str) -> bool:
        with self._lock:
            return self.faults.effect_done(call)

    def close(self) -> None:
        self._closing.set()
        self._ticker.join()
        self.kubernetes.close()
        with self._lock:
            self._save()
        self.log.close()

    def _begin(self, spec: WorldSpec, seed: int, restarts: int, world: World | None) -> None:
        self._spec, self._seed, self._restarts = spec, seed, restarts
        self._provisioning = Provisioning(self._account)
        recovery = Recovery(self._provisioning, self._account)
        self._upkeep = Upkeep(self._provisioning, self._account)
        actions = {
            **self._provisioning.actions(),
            **self._upkeep.actions(),
            **recovery.actions(),
            **plans.timer_actions(self._provisioning),
            **governance.timer_actions(),
            **eks.timer_actions(),
            **fsx.timer_actions(),
        }
        actions["fault.due"] = lambda sim, args: self.faults.due(args["number"])
        self.sim = Simulation(
            world or build_world(spec, self.clock.now()),
            self.clock,
            seed,
            Random(f"{seed}:{restarts}"),
            self.kubernetes.orchestration,
            self.kubernetes.workloads,
            actions,
        )
        self.faults = Faults(self.sim, recovery)
        self._recovery = recovery
        zones = self.sim.world.zones.values()
        parts = self._account.begin(spec.region, zones, seed, lambda: populate_account(self._account, spec))
        if world is None:
            populate_clusters(self._context(), spec, parts)
        else:
            self._provisioning.hold_addresses(world)
        self._save()

    def _context(self) -> Context:
        self.advance()
        return Context(
            sim=self.sim,
            provisioning=self._provisioning,
            upkeep=self._upkeep,
            account=self._account,
            endpoint=self._endpoint,
            seen=self.faults.seen(),
            is_on=self.faults.is_on,
        )

    def _user_of(self, token: str) -> str | None:
        key = access_key_behind(token)
        return "twin-admin" if key == self._token or key in self.sim.world.issued_keys else None

    def _save(self) -> None:
        snapshot.save(
            self._snapshot_path,
            snapshot.Snapshot(
                time=self.clock.now(),
                seed=self._seed,
                restarts=self._restarts,
                specification=self._spec,
                world=self.sim.world,
            ),
        )

    def _tick(self) -> None:
        """Timers fire by themselves: the Kubernetes half shows nodes that nobody asked AWS about."""
        while not self._closing.wait(self._pause()):
            with self._lock:
                try:
                    self.advance()
                except Exception:  # noqa: BLE001 - a fault in one timer must not stop the world
                    _LOG.exception("a timer of the twin failed")

    def _pause(self) -> float:
        with self._lock:
            due = self.sim.next_due()
            if due is None:
                return IDLE_SECONDS
            ahead = self.clock.real_seconds((due - self.clock.now()).total_seconds())
        return min(max(ahead, SHORTEST_SLEEP_SECONDS), IDLE_SECONDS)
