"""CustomResourceDefinitions: each served version becomes a row of the registry."""

from __future__ import annotations

from core.json_value import JsonValue
from twin.kube.kinds import Column, Kind, ScalePaths
from twin.kube.objects import Obj, array, mapping, number, objects, put, text
from twin.kube.schema_notation import object_schema


def kind_of_definition(definition: Obj) -> list[Kind]:
    """The kinds that a CRD (apiextensions.k8s.io/v1) defines, one per served version."""
    spec = mapping(definition, "spec")
    return [_row(spec, version) for version in objects(spec, "versions") if version.get("served") is True]


def _row(spec: Obj, version: Obj) -> Kind:
    sub = mapping(version, "subresources")
    scale = mapping(sub, "scale")
    return Kind(
        group=text(spec, "group"),
        version=text(version, "name"),
        kind=text(spec, "names", "kind"),
        plural=text(spec, "names", "plural"),
        namespaced=text(spec, "scope") != "Cluster",
        short_names=tuple(name for name in array(spec, "names", "shortNames") if isinstance(name, str)),
        schema=_schema(version),
        columns=tuple(
            Column(
                name=text(column, "name"),
                path=text(column, "jsonPath").lstrip("."),
                type=text(column, "type"),
                priority=number(column, "priority") or 0,
            )
            for column in objects(version, "additionalPrinterColumns")
            if text(column, "name") != "Age"
        ),
        has_status="status" in sub,
        scale=_scale(scale) if scale else None,
        custom=True,
    )


def _scale(scale: Obj) -> ScalePaths:
    return ScalePaths(
        spec=text(scale, "specReplicasPath").lstrip("."),
        status=text(scale, "statusReplicasPath").lstrip("."),
        selector=text(scale, "labelSelectorPath").lstrip("."),
    )


def _schema(version: Obj) -> dict[str, JsonValue]:
    declared = mapping(version, "schema", "openAPIV3Schema")
    base = object_schema("apiVersion:str kind:str metadata:ObjectMeta")
    properties = {**mapping(declared, "properties"), **mapping(base, "properties")}
    return put({**declared, "type": "object"}, properties, "properties")
