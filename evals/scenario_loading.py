"""Reads scenario files: several documents a file, every fault named with its file and its path in it."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from pathlib import Path

import yaml
from pydantic import ValidationError

from core.json_value import JsonValue
from evals.scenario_format import Scenario

SHIPPED = Path(__file__).parent / "scenarios"
_SUFFIXES = frozenset({".yaml", ".yml"})


class ScenarioInvalid(ValueError):
    """A file can't be read as scenarios. The text names file, document and key."""


def load_scenarios(folder: Path) -> tuple[Scenario, ...]:
    """All of the folder, in the order of file names. Raises `ScenarioInvalid`, also for a folder without any."""
    if not folder.is_dir():
        raise ScenarioInvalid(f"{folder}: no such folder")
    found: list[Scenario] = []
    sources: dict[str, Path] = {}
    for path in sorted(path for path in folder.iterdir() if path.suffix in _SUFFIXES and path.is_file()):
        for scenario in load_file(path):
            if (other := sources.get(scenario.id)) is not None:
                raise ScenarioInvalid(f"{path}: id: {scenario.id!r} is already taken in {other}")
            sources[scenario.id] = path
            found.append(scenario)
    if not found:
        raise ScenarioInvalid(f"{folder}: holds no scenario")
    return tuple(found)


def load_file(path: Path) -> Iterator[Scenario]:
    """Raises `ScenarioInvalid`."""
    try:
        text = path.read_text(encoding="utf-8")
        documents = list(yaml.load_all(text, Loader=_Loader))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise ScenarioInvalid(f"{path}: {' '.join(str(error).split())}") from None
    for number, document in enumerate(documents, start=1):
        if document is not None:  # what stands between two `---`, or after the last
            yield _scenario(path, number, document)


def _scenario(path: Path, number: int, document: JsonValue) -> Scenario:
    try:
        return Scenario.model_validate(document)
    except ValidationError as error:
        name = document.get("id") if isinstance(document, dict) else None
        where = f"{path}: document {number}" + (f" ({name})" if name else "")
        faults = [f"{_shown(item['loc'])}: {item['msg']}" for item in error.errors()]
        raise ScenarioInvalid("\n".join(f"{where}: {fault}" for fault in faults)) from None


def _shown(location: tuple[int | str, ...]) -> str:
    return ".".join(str(part) for part in location) or "document"


class _Loader(yaml.SafeLoader):
    """The safe loader, which would let the second of two equal keys win; here it is an error."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, object]:
        seen: set[Hashable] = set()
        for key_node, _ in node.value:
            key = self.construct_object(key_node, deep=True)
            if isinstance(key, Hashable) and key in seen:
                raise yaml.constructor.ConstructorError(None, None, f"key {key!r} stands twice", key_node.start_mark)
            if isinstance(key, Hashable):
                seen.add(key)
        return super().construct_mapping(node, deep)
