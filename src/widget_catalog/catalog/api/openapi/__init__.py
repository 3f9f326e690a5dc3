"""The OpenAPI 3.1 document of the public API, for `/openapi.json` and `/docs/api`.

`public_api.toml` describes the API in words, `examples.json` has an example for each body, and
the schemas of health checks; the others are generated from the types on the wire.
`docs/openapi.json` is the committed copy; `python -m widget_catalog.catalog.api.openapi` prints it.
"""

import json
import re
import tomllib
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec
from msgspec import UNSET, Struct, UnsetType
from msgspec.structs import fields

from widget_contract import manifest_details, wire, wire_running
from widget_contract.described import COMPAT_SDK, NAME, NAME_MAX_LENGTH, SEMVER, SEMVER_MAX_LENGTH
from widget_contract.manifest_details import DeclaredDetails
from widget_contract.version_files import PICTURE_FILE
from widget_contract.wire import CliVersion, ServiceVersion

from ....core import release
from ...model.settings import CatalogSettings

Object = dict[str, Any]

_WORDS = Path(__file__).with_name("public_api.toml")
_EXAMPLES = Path(__file__).with_name("examples.json")
_JSON = "application/json"
# A line break inside a paragraph, but not before an item of a list.
_LINE_BREAK = re.compile(r"(?<!\n)\n(?!\n|\d\. )")
_EVERYWHERE = {
    "405": "MethodNotAllowed",
    "414": "AddressTooLong",
    "429": "TooManyRequests",
    "500": "InternalFault",
    "503": "Unreadable",
}
_PARAMETER_SCHEMAS = {
    "name": {"type": "string", "pattern": NAME, "maxLength": NAME_MAX_LENGTH},
    "version": {"type": "string", "pattern": SEMVER, "maxLength": SEMVER_MAX_LENGTH},
    "picture": {"type": "string", "pattern": PICTURE_FILE},
    "sdk": {"type": "string", "pattern": COMPAT_SDK, "maxLength": SEMVER_MAX_LENGTH},
}
_TYPES: dict[Any, str] = {str: "string", int: "integer", float: "number", bool: "boolean"}
_IN_PATH = ("scope", "name", "version", "picture")


def openapi(service_name: str, base_url: str) -> Object:
    """The whole document, for a service with this name and base URL."""
    words = tomllib.loads(_WORDS.read_text(encoding="utf-8"))
    return {
        "openapi": "3.1.0",
        "info": {
            "title": f"{service_name} API",
            "summary": "The public HTTP API of a catalog of dashboard widgets.",
            "description": words["about"],
            "version": release.VERSION,
            "contact": {"name": service_name, "url": base_url},
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": base_url, "description": "This service."}],
        "security": [],
        "tags": [{"name": tag, "description": _text(it)} for tag, it in words["tags"].items()],
        "paths": _paths(words["operations"], base_url),
        "components": {
            "schemas": _schemas(_bodies(base_url)["schemas"]),
            "responses": {name: _error(it) for name, it in words["errors"].items()},
            "parameters": {name: _parameter(name, it) for name, it in words["parameters"].items()},
            "headers": {name: _header(it) for name, it in words["headers"].items()},
        },
    }


def printed(document: Object) -> str:
    """As JSON, as in the committed copy."""
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _paths(operations: Object, base_url: str) -> Object:
    paths: Object = {}
    shown = _examples(base_url)
    for operation_id, operation in operations.items():
        method = "get" if "get" in operation else "post"
        path = operation[method]
        in_path = [_refer("parameters", name) for name in re.findall(r"{(\w+)}", path)]
        item = paths.setdefault(path, {"parameters": in_path} if in_path else {})
        item[method] = _operation(operation_id, method, operation, base_url, shown)
    return paths


def _bodies(base_url: str) -> Object:
    found: Object = json.loads(
        _EXAMPLES.read_text(encoding="utf-8").replace("{base_url}", base_url)
    )
    return found


def _examples(base_url: str) -> Object:
    """By the name of their schema. Those of responses have a summary each; that of a request is the
    value alone.
    """
    found = _bodies(base_url)
    version = ServiceVersion(release.VERSION, release.RELEASED_AT, release.API_VERSIONS)
    cli_version = CliVersion(CatalogSettings.min_cli_version, release.CLI_LATEST)
    parts = {
        **found["parts"],
        "service_version": json.loads(msgspec.json.encode(version)),
        "cli_version": json.loads(msgspec.json.encode(cli_version)),
        "api_versions": list(release.API_VERSIONS),
    }

    def filled(value: Any) -> Any:
        """With the parts that it names as `@part`."""
        if isinstance(value, dict):
            return {key: filled(it) for key, it in value.items()}
        if isinstance(value, list):
            return [filled(it) for it in value]
        return parts[value[1:]] if isinstance(value, str) and value.startswith("@") else value

    found["responses"]["VersionDetail"] |= {
        field.encode_name: example
        for field in msgspec.structs.fields(DeclaredDetails)
        for meta in field.type.__metadata__
        for example in meta.examples or ()
    }
    shown = {
        name: {"answer": {"summary": "Example response", "value": response}}
        for name, response in found["responses"].items()
    }
    examples: Object = filled({**found["requests"], "SearchResults": found["searches"], **shown})
    return examples


def _operation(
    operation_id: str, method: str, operation: Object, base_url: str, shown: Object
) -> Object:
    """With its own responses, and those that every operation may return."""
    errors = {**_EVERYWHERE, **({"304": "NotModified"} if method == "get" else {})}
    responses = {
        key: _refer("responses", it) for key, it in (errors | operation.get("errors", {})).items()
    }
    responses |= {key: _response(own, shown) for key, own in operation["responses"].items()}
    made: Object = {
        "tags": [operation.get("tag", "Integrators")],
        "operationId": operation_id,
        "summary": operation["summary"],
        "description": _text(operation["description"]),
    }
    if "parameters" in operation:
        made["parameters"] = [_refer("parameters", name) for name in operation["parameters"]]
    if body := operation.get("body"):
        content = {_JSON: {"schema": _ref(body), "example": shown[body]}}
        made["requestBody"] = {"required": True, "content": content}
    made["responses"] = dict(sorted(responses.items()))
    curl = _text(operation["curl"]).replace("{base_url}", base_url)
    made["x-codeSamples"] = [{"lang": "Shell", "label": "curl", "source": curl}]
    return made


def _response(response: Object, shown: Object) -> Object:
    content = {}
    if schema := response.get("schema"):
        content[_JSON] = {"schema": _ref(schema), "examples": shown[schema]}
    for media_type, example in response.get("examples", {}).items():
        content[media_type] = {"schema": {"type": "string"}, "example": example}
    # In OpenAPI 3.1, a media type without a schema is binary.
    content |= {media_type: {} for media_type in response.get("binary", ())}
    return {
        "description": response["description"],
        "headers": _headers(response),
        "content": content,
    }


def _error(error: Object) -> Object:
    """All except "not modified" have the same body."""
    made: Object = {"description": _text(error["description"])}
    if "headers" in error:
        made["headers"] = _headers(error)
    if "example" in error:
        made["content"] = {_JSON: {"schema": _ref("Error"), "example": {"error": error["example"]}}}
    return made


def _parameter(name: str, parameter: Object) -> Object:
    schema = parameter["schema"]
    made = {
        "name": parameter.get("name", name),
        "in": "query",
        "description": _text(parameter["description"]),
        "schema": _PARAMETER_SCHEMAS[schema] if isinstance(schema, str) else schema,
        "example": parameter["example"],
    }
    return {**made, "in": "path", "required": True} if name in _IN_PATH else made


def _header(header: Object) -> Object:
    is_text = isinstance(header["example"], str)
    schema = {"type": "string"} if is_text else {"type": "integer", "minimum": 0}
    return {
        "description": _text(header["description"]),
        "required": True,
        "schema": schema,
        "example": header["example"],
    }


def _headers(response: Object) -> Object:
    return {name: _refer("headers", name) for name in response["headers"]}


def _refer(kind: str, name: str) -> Object:
    return {"$ref": f"#/components/{kind}/{name}"}


def _text(prose: str) -> str:
    return _LINE_BREAK.sub(" ", prose)


def _schemas(described: Object) -> dict[str, Object]:
    """Every JSON object of the public API by name: those in `widget_contract.wire`; and `described`
    ones, whose fields vary.
    """
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
        wire_running.ConfigVersionChange,
        wire_running.Capability,
        manifest_details.Author,
        wire_running.Resolved,
        wire_running.OfferedVersion,
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
        **{it.__name__: _object_schema(it) for it in shapes},
        **{it.__name__: _request_schema(it) for it in requests},
        **described,
        **{it.__name__: _object_schema(it) for it in operational},
    }


def _object_schema(shape: type[Struct]) -> Object:
    optional = tuple(it.encode_name for it in fields(shape) if it.default is UNSET)
    properties = {it.encode_name: _schema(it.type) for it in fields(shape)}
    return _object(" ".join((shape.__doc__ or "").split()), properties, optional)


def _request_schema(shape: type[Struct]) -> Object:
    """The service rejects unknown keys in requests: a misspelled one would be ignored."""
    return {**_object_schema(shape), "additionalProperties": False}


def _schema(annotation: Any) -> Object:
    if get_origin(annotation) is not Annotated:
        return _type_schema(annotation)
    type_, meta = get_args(annotation)
    schema = _type_schema(type_) | (meta.extra_json_schema or {})
    described = {"description": meta.description, "examples": meta.examples}
    return schema | {key: value for key, value in described.items() if value is not None}


def _type_schema(type_: Any) -> Object:
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
    return {} if type_ is Any else _ref(type_.__name__)


def _or_null(schema: Object) -> Object:
    if "$ref" in schema:
        return {"anyOf": [schema, {"type": "null"}]}
    if "anyOf" in schema:
        return {"anyOf": [*schema["anyOf"], {"type": "null"}]}
    return {**schema, "type": [schema["type"], "null"]}


def _ref(name: str) -> Object:
    return {"$ref": f"#/components/schemas/{name}"}


def _object(about: str, properties: dict[str, Object], optional: tuple[str, ...] = ()) -> Object:
    """An object with these properties. A later release may add others: generated clients must
    accept them, so `additionalProperties` is not `false`.
    """
    required = [name for name in properties if name not in optional]
    return {"type": "object", "description": about, "properties": properties, "required": required}
