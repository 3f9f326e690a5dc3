"""The schemas of the OpenAPI document: every JSON object of the public API, field by field.

They are generated from the shapes in `widget_contract.wire`. Only the health checks are described
here, because their fields vary.
"""

from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import fields

from widget_contract import manifest_details, wire, wire_running

Schema = dict[str, Any]

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
        manifest_details.Author,
        wire_running.Resolved,
        wire_running.ResolveResult,
        wire_running.Changes,
        wire_running.Change,
        wire_running.Revocations,
        wire_running.Revocation,
        wire.Counted,
        wire.Error,
    )
    requests = (wire_running.ResolveRequest, wire_running.InstalledWidget)
    operational = (wire.ServiceVersion, wire.CliVersion, wire.Stats, wire.Settings, wire.MirrorOf)
    return {
        **{it.__name__: object_schema(it) for it in shapes},
        **{it.__name__: _request_schema(it) for it in requests},
        "Health": _health(),
        "HealthFault": _health_error(),
        **{it.__name__: object_schema(it) for it in operational},
    }


def object_schema(shape: type[Struct]) -> Schema:
    optional = tuple(it.encode_name for it in fields(shape) if it.default is UNSET)
    properties = {it.encode_name: _schema(it.type) for it in fields(shape)}
    return _object(" ".join((shape.__doc__ or "").split()), properties, optional)


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
        some = [_type_schema(it) for it in arguments if it not in (NoneType, UnsetType)]
        one = some[0] if len(some) == 1 else {"anyOf": some}
        return _or_null(one) if NoneType in arguments else one
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
    if "anyOf" in schema:
        return {"anyOf": [*schema["anyOf"], {"type": "null"}]}
    return {**schema, "type": [schema["type"], "null"]}


def ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def _object(about: str, properties: dict[str, Schema], optional: tuple[str, ...] = ()) -> Schema:
    """An object with these properties. A later release may add others: generated clients must
    accept them, so `additionalProperties` is not `false`.
    """
    required = [name for name in properties if name not in optional]
    return {"type": "object", "description": about, "properties": properties, "required": required}


def _text(about: str, example: str) -> Schema:
    return {"type": "string", "description": about, "examples": [example]}


def _check(about: str, example: str, **rule: object) -> Schema:
    return {"type": "string", **rule, "examples": [example], "description": about}


def _only(about: str, value: str) -> Schema:
    return {"type": "string", "const": value, "description": about, "examples": [value]}


_WORKERS = _text("Only present while workers are missing: how many are running.", "1 of 2 running")


def _health() -> Schema:
    checks = {
        "database": _check("The database is readable.", "ok", const="ok"),
        "bundles": _check("Bundles are accessible.", "ok", const="ok"),
        "workers": _WORKERS,
    }
    properties = {
        "status": _check("`ok`: the service works.", "ok", const="ok"),
        "checks": _object("The results of the checks.", checks, optional=("workers",)),
    }
    return _object("The service is healthy.", properties)


def _health_error() -> Schema:
    about = "Whether the database is readable and not damaged."
    checks = {
        "database": _check(about, "failing", enum=["ok", "failing", "damaged"]),
        "bundles": _check("Whether bundles are accessible.", "failing", enum=["ok", "failing"]),
        "writing": _only("Only present while another process blocks all writes.", "failing"),
        "replica": _only("Only present while changes are waiting to be applied.", "behind"),
        "workers": _WORKERS,
    }
    about = "The results of the checks; a failed check is `failing`."
    properties = {
        "status": _only("`unavailable`: at least one check fails.", "unavailable"),
        "checks": _object(about, checks, optional=("writing", "replica", "workers")),
        "error": _text("A human-readable error message.", "The database cannot be read."),
    }
    return _object("The service is not healthy.", properties)
