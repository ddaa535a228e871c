"""Our top-level package names are plain words: no other distribution may own one of them here."""

from __future__ import annotations

from importlib.metadata import packages_distributions

import pytest

PACKAGES = ("agent", "core", "evals", "interfaces", "state", "tools", "twin", "workflows")


@pytest.mark.parametrize("package", PACKAGES)
def test_no_foreign_distribution_owns_our_package_name(package: str) -> None:
    owners = set(packages_distributions().get(package, ["muster"]))

    assert owners == {"muster"}
