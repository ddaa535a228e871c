"""Which platform call each tool makes: to compare the ledger with the platform's own log."""

from __future__ import annotations

from collections.abc import Mapping

from tools import clusters, eks, groups, jobs, lifecycle, network, roles
from tools.contract import EffectTool

_MODULES = (clusters, eks, groups, jobs, lifecycle, network, roles)

CALLS: Mapping[str, str] = {
    value.name: value.call for module in _MODULES for value in vars(module).values() if isinstance(value, EffectTool)
}
"""Tool name -> `service:Operation`."""
