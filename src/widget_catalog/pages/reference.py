"""The API reference: the OpenAPI document prepared for its templates, with resolved references and
rendered texts, and its pages.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any
from urllib.parse import quote, urlencode

from markdown_it import MarkdownIt
from markupsafe import Markup, escape

from ..core.http.content import AnyContent
from ..core.http.public_page import PageRequest
from ..core.tracing import part
from .guide_search import Section
from .rendered_pages import RenderedPages

Object = dict[str, Any]

_ROOT = "/docs/api"
_SCHEMAS = "schemas"
# Fewer fields are repeated.
_MANY_FIELDS = 10
# A longer pattern is less helpful than the description next to it.
_READABLE_PATTERN = 40
# The only POST operation that does not write.
_RESOLVE = "resolveWidgets"
_LIMITS = {"format": "format", "default": "default", "minimum": "at least", "maximum": "at most"}
_KEY = re.compile(r"^( *)(&#34;[^&]*&#34;):", re.MULTILINE)


@dataclass
class ReferencePages:
    """The overview, one page per operation, and one of all schemas."""

    pages: RenderedPages
    document: Callable[[], Object]

    @cached_property
    def _reference(self) -> Object:
        with part("loading"):
            return ReferenceReader(self.document()).read()

    @cached_property
    def _operations(self) -> dict[str, Object]:
        return {it["id"]: it for group in self._reference["groups"] for it in group["operations"]}

    def list_paths(self) -> list[str]:
        return [_ROOT, *(f"{_ROOT}/{it}" for it in (_SCHEMAS, *self._operations))]

    def list_sections(self) -> list[Section]:
        """The operations, for the search of the docs."""
        return [
            Section(
                self.pages.address(f"{_ROOT}/{operation['id']}"),
                operation["summary"],
                "API reference",
                f"{operation['method']} {operation['path']} {operation['about'].striptags()}",
            )
            for operation in self._operations.values()
        ]

    async def page(self, request: PageRequest) -> AnyContent | None:
        """The page of this operation, `schemas`, or the overview."""
        page = request.params.get("page", "")
        operation = self._operations.get(page)
        if page in ("", _SCHEMAS):
            template = f"pages/reference/{page or 'overview'}.html"
        elif operation is not None:
            template = "pages/reference/operation.html"
        else:
            return None
        values = {"reference": self._reference, "page": page, "operation": operation}
        return self.pages.get(f"reference {page}", (), template, lambda: values)

    def find_address(self, operation_id: str, given: Mapping[str, str]) -> str | None:
        """The API URL for the values of an operation's form.

        The form's own URL if one is missing; None if there is no such form.
        """
        operation = self._operations.get(operation_id)
        if operation is None or not operation["can_be_tried"] or operation["body"] is not None:
            return None
        address, query = operation["path"], {}
        for parameter in operation["parameters"]:
            name, value = parameter["name"], given.get(parameter["name"], "").strip()
            if parameter["place"] == "query" and value:
                query[name] = value
            elif parameter["place"] == "path":
                if not value.strip("."):  # Browsers interpret dots as relative paths.
                    return f"{_ROOT}/{operation_id}#try"
                address = address.replace(f"{{{name}}}", quote(value, safe=""))
        return f"{address}?{urlencode(query)}" if query else str(address)


class ReferenceReader:
    """Its results have the names that the templates use."""

    def __init__(self, document: Object) -> None:
        self._document = document
        self._components: Object = document["components"]
        # Raw HTML in a description is escaped, so that the output is safe.
        self._markdown = MarkdownIt("commonmark", {"html": False, "typographer": True})
        self._markdown.enable("smartquotes")

    def read(self) -> Object:
        operations = [
            (path, method, {**stated, "parameters": _parameters(item, stated)})
            for path, item in self._document["paths"].items()
            for method, stated in item.items()
            if method != "parameters"
        ]
        everywhere = _common(operation["responses"] for _, _, operation in operations)
        groups = []
        for tag in self._document["tags"]:
            tagged = [it for it in operations if it[2]["tags"] == [tag["name"]]]
            described = [self._operation(*it, everywhere) for it in tagged]
            about = self._inline(tag["description"])
            groups.append({"name": tag["name"], "about": about, "operations": described})
        headers, schemas = self._components["headers"], self._components["schemas"]
        return {
            "title": self._document["info"]["title"],
            "about": self._block(self._document["info"]["description"]),
            "groups": groups,
            # Responses that every operation may return, described once.
            "everywhere": [
                self._response(status, response) for status, response in everywhere.items()
            ],
            "headers": [
                {
                    "name": name,
                    "about": self._inline(header["description"]),
                    "example": str(header["example"]),
                }
                for name, header in headers.items()
            ],
            "schemas": [
                {
                    "name": name,
                    "about": self._inline(schema["description"]),
                    "fields": list(self._fields(_without_inherited(schema, schemas))),
                }
                for name, schema in schemas.items()
            ],
        }

    def _operation(self, path: str, method: str, operation: Object, everywhere: Object) -> Object:
        responses = [
            self._response(status, response)
            for status, response in operation["responses"].items()
            if status not in everywhere
        ]
        # It changes nothing, and its response is readable for people.
        is_read = method == "get" or operation["operationId"] == _RESOLVE
        has_result = any(one["status"] == "200" and one["schema"] for one in responses)
        return {
            "id": operation["operationId"],
            "method": method.upper(),
            "path": path,
            "summary": operation["summary"],
            "about": self._block(operation["description"]),
            "curl": operation["x-codeSamples"][0]["source"],
            "parameters": [self._parameter(self._followed(one)) for one in operation["parameters"]],
            "body": _body(operation),
            "answers": responses,
            "can_be_tried": is_read and has_result,
        }

    def _parameter(self, parameter: Object) -> Object:
        return {
            "name": parameter["name"],
            "type": _type(parameter["schema"]),
            "about": self._inline(parameter["description"]),
            "rules": _rules({**parameter["schema"], "examples": [parameter["example"]]}),
            "is_optional": False,
            "place": parameter["in"],
            "example": _plain(parameter["example"]),
            # The allowed values, if there are few.
            "choices": ("true", "false") if parameter["schema"]["type"] == "boolean" else (),
        }

    def _response(self, status: str, response: Object) -> Object:
        response = self._followed(response)
        schema, examples = None, []
        for kind, media in response.get("content", {}).items():
            schema = schema or _schema_name(media.get("schema", {}))
            examples += [
                {"summary": example["summary"], "text": _shown(example["value"])}
                for example in media.get("examples", {}).values()
            ]
            if "example" in media:
                summary = f"Example response as {kind}" if examples else "Example response"
                examples.append({"summary": summary, "text": _shown(media["example"])})
        return {
            "status": status,
            "about": self._inline(response["description"]),
            "schema": schema,
            "headers": list(response.get("headers", {})),
            "examples": examples,
        }

    def _fields(self, schema: Object, inside: str = "") -> Iterable[Object]:
        """The fields of an object, including those of nested anonymous objects."""
        for name, field in schema.get("properties", {}).items():
            about = field.get("description") or self._followed(field)["description"]
            yield {
                "name": inside + name,
                "type": _type(field),
                "about": self._inline(about),
                "rules": _rules(field),
                "is_optional": name not in schema["required"],
                "place": None,
            }
            yield from self._fields(field, f"{inside}{name}.")

    def _followed(self, schema: Object) -> Object:
        """The target of a reference; other schemas unchanged."""
        target = schema.get("$ref")
        if target is None:
            return schema
        _, _, kind, name = target.split("/")
        found: Object = self._components[kind][name]
        return found

    def _inline(self, text: str) -> Markup:
        return Markup(self._markdown.renderInline(text))  # noqa: S704  Made from escaped text.

    def _block(self, text: str) -> Markup:
        return Markup(self._markdown.render(text))  # noqa: S704  Made from escaped text.


def _parameters(item: Object, operation: Object) -> list[Object]:
    return [*item.get("parameters", []), *operation.get("parameters", [])]


def _without_inherited(schema: Object, schemas: Object) -> Object:
    """Without the fields that make up another schema, which the description names."""
    fields = schema.get("properties", {}).items()
    for other in schemas.values():
        inherited = other.get("properties", {}).items()
        if len(inherited) > _MANY_FIELDS and inherited < fields:
            return {**schema, "properties": dict(it for it in fields if it not in inherited)}
    return schema


def _common(all_responses: Iterable[Object]) -> Object:
    """The responses that all of these have in common."""
    first, *others = all_responses
    return {
        status: response
        for status, response in first.items()
        if all(other.get(status) == response for other in others)
    }


def _type(schema: Object) -> list[tuple[str, str | None]]:
    """The parts of its name, each with the schema that it is a link to, if any."""
    if name := _schema_name(schema):
        return [(name, name)]
    if "anyOf" in schema:
        parts = [_type(choice) for choice in schema["anyOf"]]
        return [part for choice in parts for part in ((" or ", None), *choice)][1:]
    kinds = schema.get("type", "anything")
    if kinds == "array":
        return [("array of ", None), *_type(schema["items"])]
    return [(kinds if isinstance(kinds, str) else " or ".join(kinds), None)]


def _body(operation: Object) -> Object | None:
    """The JSON body of its requests."""
    media = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if media is None:
        return None
    example = json.dumps(media["example"], indent=2, ensure_ascii=False)
    return {"schema": _schema_name(media["schema"]), "example": example}


def _schema_name(schema: Object) -> str | None:
    reference_to: str | None = schema.get("$ref")
    return reference_to and reference_to.rpartition("/")[2]


def _rules(schema: Object) -> list[Markup]:
    """The JSON Schema constraints of a value, in words."""
    code = Markup("{} <code>{}</code>").format
    rules = []
    if "const" in schema:
        rules.append(code("always", json.dumps(schema["const"])))
    if "enum" in schema:
        rules.append(code("one of", ", ".join(map(json.dumps, schema["enum"]))))
    limits = [(key, schema[key]) for key in _LIMITS if key in schema]
    rules += [code(_LIMITS[key], value) for key, value in limits if (key, value) != ("minimum", 0)]
    if "maxLength" in schema:
        rules.append(Markup("at most {} characters").format(schema["maxLength"]))
    if len(schema.get("pattern", "")) in range(1, _READABLE_PATTERN):
        rules.append(code("pattern", schema["pattern"]))
    if "examples" in schema and "const" not in schema:
        example = schema["examples"][0]
        if not isinstance(example, bool):
            rules.append(code("e.g.", _plain(example)))
    return rules


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _shown(value: object) -> Markup:
    """An example, formatted: JSON with highlighted keys, other text unchanged."""
    if isinstance(value, str):
        return escape(value.rstrip())
    text = str(escape(json.dumps(value, indent=2, ensure_ascii=False)))
    return Markup(_KEY.sub(r'\1<span class="key">\2</span>:', text))  # noqa: S704  Escaped above.
