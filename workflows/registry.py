"""The workflows that this process has, by name and version."""

from __future__ import annotations

from collections.abc import Iterable

from core.messages.message import message
from workflows.definition import AnyWorkflow
from workflows.errors import UnknownWorkflow


class Registry:
    """Raises `ValueError` when two workflows share name and version."""

    def __init__(self, workflows: Iterable[AnyWorkflow]) -> None:
        self._workflows: dict[tuple[str, int], AnyWorkflow] = {}
        for workflow in workflows:
            if (workflow.name, workflow.version) in self._workflows:
                raise ValueError(f"version {workflow.version} of {workflow.name!r} is there twice")
            self._workflows[workflow.name, workflow.version] = workflow

    def get(self, name: str, version: int) -> AnyWorkflow:
        """Raises `UnknownWorkflow`, saying which versions there are."""
        if (found := self._workflows.get((name, version))) is not None:
            return found
        known = [str(have) for known_name, have in sorted(self._workflows) if known_name == name]
        why = (
            message("workflows.unknown_version", workflow=name, version=version, known=", ".join(known))
            if known
            else message("workflows.unknown", workflow=name)
        )
        raise UnknownWorkflow(why, workflow=name, version=version)

    def newest(self, name: str) -> AnyWorkflow:
        """What new runs are given. Raises `UnknownWorkflow`."""
        versions = [version for known, version in self._workflows if known == name]
        return self.get(name, max(versions, default=0))

    @property
    def sharing(self) -> frozenset[str]:
        """Names of the workflows whose runs may work on one cluster beside each other."""
        return frozenset(
            name
            for name, _ in self._workflows
            if all(workflow.shares_cluster for workflow in self._workflows.values() if workflow.name == name)
        )
