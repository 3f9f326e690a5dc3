"""The API reference: the OpenAPI document prepared for templates, with resolved references, and its
pages.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from typing import Any, NamedTuple
from urllib.parse import quote, urlencode

from markdown_it import MarkdownIt
from markupsafe import Markup, escape

from ...core.http.large_content import AnyContent
from .rendered_pages import PageRequest, RenderedPages

Object = dict[str, Any]

_ROOT = "/docs/api"
_SCHEMAS = "schemas"

# A longer pattern is less helpful than the description next to it.
_READABLE_PATTERN = 40
# The only POST operation that does not write.
_RESOLVE = "resolveWidgets"
_KEY = re.compile(r"^( *)(&#34;[^&]*&#34;):", re.MULTILINE)


class Part(NamedTuple):
    """A part of a type's name; `schema` is its link target."""

    text: str
    schema: str | None = None


class Field(NamedTuple):
    name: str
    type: list[Part]
    about: Markup
    rules: list[Markup]
    is_optional: bool
    place: str = ""
    example: str = ""
    choices: tuple[str, ...] = ()
    """The allowed values of a parameter, if there are few."""


class Example(NamedTuple):
    summary: str
    text: Markup


class Body(NamedTuple):
    """A JSON request body."""

    schema: str | None
    example: str


class Answer(NamedTuple):
    status: str
    about: Markup
    schema: str | None
    headers: list[str]
    examples: list[Example]


class Operation(NamedTuple):
    id: str
    method: str
    path: str
    summary: str
    about: Markup
    curl: str
    parameters: list[Field]
    body: Body | None
    answers: list[Answer]

    @property
    def can_be_tried(self) -> bool:
        """Whether it changes nothing, and its response is readable for people."""
        is_read = self.method == "GET" or self.id == _RESOLVE
        return is_read and any(it.status == "200" and it.schema for it in self.answers)


class Group(NamedTuple):
    name: str
    about: Markup
    operations: list[Operation]


class Described(NamedTuple):
    name: str
    about: Markup
    fields: list[Field]


class Header(NamedTuple):
    name: str
    about: Markup
    example: str


class Reference(NamedTuple):
    title: str
    about: Markup
    groups: list[Group]
    everywhere: list[Answer]
    """Responses that every operation may return, described once."""
    headers: list[Header]
    schemas: list[Described]

    def find(self, operation_id: str) -> Operation | None:
        operations = (it for group in self.groups for it in group.operations)
        return next((it for it in operations if it.id == operation_id), None)


class ReferenceReader:
    def __init__(self, document: Object) -> None:
        self._document = document
        self._components: Object = document["components"]
        # Raw HTML in a description is escaped, so that the output is safe.
        self._markdown = MarkdownIt("commonmark", {"html": False, "typographer": True})
        self._markdown.enable("smartquotes")

    def read(self) -> Reference:
        operations = [
            (path, method, {**operation, "parameters": self._parameters(item, operation)})
            for path, item in self._document["paths"].items()
            for method, operation in item.items()
            if method != "parameters"
        ]
        everywhere = _common(operation["responses"] for _, _, operation in operations)
        groups = []
        for tag in self._document["tags"]:
            tagged = [it for it in operations if it[2]["tags"] == [tag["name"]]]
            described = [self._operation(*it, everywhere) for it in tagged]
            groups.append(Group(tag["name"], self._inline(tag["description"]), described))
        return Reference(
            self._document["info"]["title"],
            self._block(self._document["info"]["description"]),
            groups,
            [self._answer(status, answer) for status, answer in everywhere.items()],
            [
                Header(name, self._inline(it["description"]), str(it["example"]))
                for name, it in self._components["headers"].items()
            ],
            [
                Described(name, self._inline(schema["description"]), list(self._fields(schema)))
                for name, schema in self._components["schemas"].items()
            ],
        )

    def _parameters(self, item: Object, operation: Object) -> list[Object]:
        return [*item.get("parameters", []), *operation.get("parameters", [])]

    def _operation(self, path: str, method: str, it: Object, everywhere: Object) -> Operation:
        return Operation(
            it["operationId"],
            method.upper(),
            path,
            it["summary"],
            self._block(it["description"]),
            it["x-codeSamples"][0]["source"],
            [self._parameter(self._followed(parameter)) for parameter in it["parameters"]],
            _body(it),
            [
                self._answer(status, answer)
                for status, answer in it["responses"].items()
                if status not in everywhere
            ],
        )

    def _parameter(self, it: Object) -> Field:
        return Field(
            it["name"],
            _type(it["schema"]),
            self._inline(it["description"]),
            _rules({**it["schema"], "examples": [it["example"]]}),
            is_optional=False,
            place=it["in"],
            example=_plain(it["example"]),
            choices=("true", "false") if it["schema"]["type"] == "boolean" else (),
        )

    def _answer(self, status: str, it: Object) -> Answer:
        it = self._followed(it)
        schema, examples = None, []
        for kind, media in it.get("content", {}).items():
            schema = schema or _schema_name(media["schema"])
            examples += [
                Example(example["summary"], _shown(example["value"]))
                for example in media.get("examples", {}).values()
            ]
            if "example" in media:
                summary = f"Example response as {kind}" if examples else "Example response"
                examples.append(Example(summary, _shown(media["example"])))
        headers = list(it.get("headers", {}))
        return Answer(status, self._inline(it["description"]), schema, headers, examples)

    def _fields(self, schema: Object, inside: str = "") -> Iterable[Field]:
        """The fields of an object, including those of nested anonymous objects."""
        for name, it in schema.get("properties", {}).items():
            is_optional = name not in schema["required"]
            about = it.get("description") or self._followed(it)["description"]
            yield Field(inside + name, _type(it), self._inline(about), _rules(it), is_optional)
            yield from self._fields(it, f"{inside}{name}.")

    def _followed(self, it: Object) -> Object:
        """The target of a reference; other schemas unchanged."""
        target = it.get("$ref")
        if target is None:
            return it
        _, _, kind, name = target.split("/")
        found: Object = self._components[kind][name]
        return found

    def _inline(self, text: str) -> Markup:
        return Markup(self._markdown.renderInline(text))  # noqa: S704  Made from escaped text.

    def _block(self, text: str) -> Markup:
        return Markup(self._markdown.render(text))  # noqa: S704  Made from escaped text.


class ReferencePages:
    def __init__(self, pages: RenderedPages, document: Callable[[], dict[str, Any]]) -> None:
        self._pages = pages
        self._document = document

    @cached_property
    def _reference(self) -> Reference:
        return ReferenceReader(self._document()).read()

    def list_paths(self) -> list[str]:
        """The paths of all pages of the reference."""
        operations = [it.id for group in self._reference.groups for it in group.operations]
        return [_ROOT, *(f"{_ROOT}/{it}" for it in (_SCHEMAS, *operations))]

    async def page(self, request: PageRequest) -> AnyContent | None:
        """The page of this operation, `schemas`, or the overview."""
        page = request.params.get("page", "")
        operation = self._reference.find(page)
        if page in ("", _SCHEMAS):
            template = f"catalog/reference/{page or 'overview'}.html"
        elif operation is not None:
            template = "catalog/reference/operation.html"
        else:
            return None
        return self._pages.get(
            f"reference {page}",
            (),
            template,
            lambda: {"reference": self._reference, "page": page, "operation": operation},
        )

    def find_address(self, operation_id: str, given: Mapping[str, str]) -> str | None:
        """The API URL for the values of an operation's form.

        The form's own URL if one is missing; None if there is no such form.
        """
        operation = self._reference.find(operation_id)
        if operation is None or not operation.can_be_tried or operation.body is not None:
            return None
        address, query = operation.path, {}
        for it in operation.parameters:
            value = given.get(it.name, "").strip()
            if it.place == "query" and value:
                query[it.name] = value
            elif it.place == "path":
                if not value.strip("."):  # Browsers interpret dots as relative paths.
                    return f"{_ROOT}/{operation_id}#try"
                address = address.replace(f"{{{it.name}}}", quote(value, safe=""))
        return f"{address}?{urlencode(query)}" if query else str(address)


def _common(all_responses: Iterable[Object]) -> Object:
    """The responses that all of these have in common."""
    first, *others = all_responses
    return {
        status: answer
        for status, answer in first.items()
        if all(other.get(status) == answer for other in others)
    }


def _type(schema: Object) -> list[Part]:
    if "$ref" in schema:
        name = _schema_name(schema)
        return [Part(name or "", name)]
    if "anyOf" in schema:
        parts = [_type(choice) for choice in schema["anyOf"]]
        return [part for choice in parts for part in (Part(" or "), *choice)][1:]
    kinds = schema.get("type", "anything")
    if kinds == "array":
        return [Part("array of "), *_type(schema["items"])]
    return [Part(kinds if isinstance(kinds, str) else " or ".join(kinds))]


def _body(operation: Object) -> Body | None:
    media = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if media is None:
        return None
    example = json.dumps(media["example"], indent=2, ensure_ascii=False)
    return Body(_schema_name(media["schema"]), example)


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
    if "format" in schema:
        rules.append(code("format", schema["format"]))
    if "default" in schema:
        rules.append(code("default", schema["default"]))
    if schema.get("minimum"):
        rules.append(code("at least", schema["minimum"]))
    if "maximum" in schema:
        rules.append(code("at most", schema["maximum"]))
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
