"""botocore's own service models, cut down to what the twin serves so that they cost little memory."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from botocore.loaders import Loader
from botocore.model import OperationModel, ServiceModel

from twin.aws.params import Json


@dataclass(frozen=True, slots=True)
class Service:
    """A service as boto3 names it, with the operations that the real one has."""

    name: str
    protocol: str
    model: ServiceModel
    """Shapes of the operations asked for only."""
    known_operations: Mapping[str, tuple[str, str]]
    """Every operation of the real service -> HTTP method and request URI."""

    def operation(self, name: str) -> OperationModel:
        return self.model.operation_model(name)


def load_service(name: str, operations: Collection[str]) -> Service:
    """Read botocore's model of `name`, keeping the shapes that `operations` reach. KeyError names a misspelling."""
    full = Loader().load_service_model(name, "service-2")
    known = {op: (spec["http"]["method"], spec["http"]["requestUri"]) for op, spec in full["operations"].items()}
    kept = {op: _without_documentation(full["operations"][op]) for op in operations}
    shapes: dict[str, Json] = {}
    pending = [_shape_name(spec[end]) for spec in kept.values() for end in ("input", "output") if end in spec]
    while pending:
        shape_name = pending.pop()
        if shape_name in shapes:
            continue
        shapes[shape_name] = shape = _without_documentation(full["shapes"][shape_name])
        pending += _references(shape)
    model = ServiceModel({"metadata": full["metadata"], "operations": kept, "shapes": shapes}, service_name=name)
    return Service(name, full["metadata"]["protocol"], model, known)


def _without_documentation(value: Mapping[str, Json]) -> dict[str, Json]:
    return {
        key: _without_documentation(item) if isinstance(item, dict) else item
        for key, item in value.items()
        if not (key == "documentation" and isinstance(item, str))
    }


def _references(shape: Mapping[str, Json]) -> list[str]:
    members = shape.get("members")
    found = list(members.values()) if isinstance(members, dict) else []
    found += [shape[part] for part in ("member", "key", "value") if part in shape]
    return [_shape_name(item) for item in found]


def _shape_name(reference: Json) -> str:
    if not isinstance(reference, dict) or not isinstance(reference.get("shape"), str):
        raise TypeError(f"not a shape reference: {reference!r}")
    return str(reference["shape"])
