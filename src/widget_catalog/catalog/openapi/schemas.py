"""The schemas of the OpenAPI document: every JSON object of the public API, field by field.

They are generated from the shapes in `widget_contract.wire`. Only the health checks are described
here, because their fields vary.
"""

from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import fields

from widget_contract import wire, wire_running

from .fields import Schema, object_of, ref, text

_TYPES: dict[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean"}


def schemas() -> dict[str, Schema]:
    """All of them by name; a schema refers to another as `#/components/schemas/{name}`."""
    shapes = (
        wire.SearchResults,
        wire.WidgetSummary,
        wire.WidgetDetail,
        wire.Widget,
        wire.VersionEntry,
        wire.Size,
        wire.Registry,
        wire.RegistryWidget,
        wire_running.VersionDetail,
        wire_running.PublishedFile,
        wire_running.RevokedState,
        wire_running.Capability,
        wire_running.Resolved,
        wire_running.ResolveResult,
        wire_running.Changes,
        wire_running.Change,
        wire_running.Revocations,
        wire_running.Revocation,
        wire.Counted,
        wire.Error,
    )
    operational = (
        wire.ServiceVersion,
        wire.CliVersion,
        wire.Stats,
        wire.Settings,
        wire.MirrorOf,
    )
    return {
        **{it.__name__: object_schema(it) for it in shapes},
        **{
            it.__name__: _request_schema(it)
            for it in (wire_running.ResolveRequest, wire_running.InstalledWidget)
        },
        "Health": _health(),
        "HealthFault": _health_fault(),
        **{it.__name__: object_schema(it) for it in operational},
    }


def object_schema(shape: type[Struct]) -> Schema:
    """An object with the fields of this shape."""
    optional = tuple(it.encode_name for it in fields(shape) if it.default is UNSET)
    properties = {it.encode_name: _schema(it.type) for it in fields(shape)}
    return object_of(" ".join((shape.__doc__ or "").split()), properties, optional)


def _request_schema(shape: type[Struct]) -> Schema:
    """The service rejects unknown keys in requests: a misspelled one would be ignored."""
    return {**object_schema(shape), "additionalProperties": False}


def _schema(annotation: Any) -> Schema:
    if get_origin(annotation) is not Annotated:
        return _type_schema(annotation)
    type_, meta = get_args(annotation)
    schema = _type_schema(type_) | (meta.extra_json_schema or {})
    described = {"description": meta.description, "examples": meta.examples}
    return schema | {key: value for key, value in described.items() if value is not None}


def _type_schema(type_: Any) -> Schema:
    origin, arguments = get_origin(type_), get_args(type_)
    if origin in (Union, UnionType):
        (one,) = (it for it in arguments if it not in (NoneType, UnsetType))
        return _or_null(_type_schema(one)) if NoneType in arguments else _type_schema(one)
    if origin is Literal:
        first = {"type": _TYPES[type(arguments[0])]}
        return first | ({"enum": list(arguments)} if arguments[1:] else {"const": arguments[0]})
    if origin is dict:
        return {"type": "object"}
    if origin is tuple:
        return {"type": "array", "items": _schema(arguments[0])}
    if type_ in _TYPES:
        return {"type": _TYPES[type_]}
    return {} if type_ is Any else ref(type_.__name__)


def _or_null(schema: Schema) -> Schema:
    if "$ref" in schema:
        return {"anyOf": [schema, {"type": "null"}]}
    return {**schema, "type": [schema["type"], "null"]}


def _health() -> Schema:
    ok = {"type": "string", "const": "ok", "examples": ["ok"]}
    return object_of(
        "The service is healthy.",
        {
            "status": {**ok, "description": "`ok`: the service works."},
            "checks": object_of(
                "The results of the checks.",
                {
                    "database": {**ok, "description": "The database is readable."},
                    "bundles": {**ok, "description": "Bundles are accessible."},
                    "workers": _missing_workers(),
                },
                optional=("workers",),
            ),
        },
    )


def _missing_workers() -> Schema:
    return text("Only present while workers are missing: how many are running.", "1 of 2 running")


def _health_fault() -> Schema:
    check = {"type": "string", "enum": ["ok", "failing"], "examples": ["failing"]}
    return object_of(
        "The service is not healthy.",
        {
            "status": {
                "type": "string",
                "const": "unavailable",
                "description": "`unavailable`: at least one check fails.",
                "examples": ["unavailable"],
            },
            "checks": object_of(
                "The results of the checks; a failed check is `failing`.",
                {
                    "database": {
                        **check,
                        "enum": ["ok", "failing", "damaged"],
                        "description": "Whether the database is readable and not damaged.",
                    },
                    "bundles": {**check, "description": "Whether bundles are accessible."},
                    "writing": {
                        "type": "string",
                        "const": "failing",
                        "description": "Only present while another process blocks all writes.",
                        "examples": ["failing"],
                    },
                    "replica": {
                        "type": "string",
                        "const": "behind",
                        "description": "Only present while changes are waiting to be applied.",
                        "examples": ["behind"],
                    },
                    "workers": _missing_workers(),
                },
                optional=("writing", "replica", "workers"),
            ),
            "error": text("A human-readable error message.", "The database cannot be read."),
        },
    )
