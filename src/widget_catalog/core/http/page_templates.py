"""Templates of pages: their environment in each language, its filters, and how it escapes.

Templates are translated when they are compiled: each language has its own. A sentence costs nothing
when a page is rendered, in any language. `{% trans %}` and `_("…")` are those of Jinja's extension,
so that Babel extracts them; the text must be a literal.
"""

import re
from collections.abc import Callable, Mapping, MutableMapping
from functools import lru_cache, partial
from pathlib import Path
from types import CodeType
from typing import Any

import markupsafe
from jinja2 import (
    BytecodeCache,
    ChoiceLoader,
    Environment,
    FileSystemLoader,
    PrefixLoader,
    StrictUndefined,
    nodes,
)
from jinja2.bccache import Bucket
from jinja2.exceptions import TemplateAssertionError
from jinja2.ext import InternationalizationExtension
from jinja2.filters import do_urlencode
from jinja2.utils import htmlsafe_json_dumps
from jinja2.visitor import NodeTransformer
from markupsafe import Markup, escape

from widget_contract.capabilities import in_words

from ..clock import from_ms
from ..languages.language import ENGLISH, Language
from ..tracing import current
from .contributions import Contributions

_TEMPLATES = Path(__file__).parent / "templates"


class CompiledTemplates(BytecodeCache):
    """A cache of compiled templates, shared by all renderers of a process.

    Compiling a template takes a hundred times as long as rendering it.
    """

    def __init__(self) -> None:
        self._code: dict[tuple[str, str, str], CodeType] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        bucket.code = self._code.get(_key_of(bucket))

    def dump_bytecode(self, bucket: Bucket) -> None:
        if bucket.code is not None:
            self._code[_key_of(bucket)] = bucket.code


def _key_of(bucket: Bucket) -> tuple[str, str, str]:
    environment = bucket.environment
    language = environment.language if isinstance(environment, PageEnvironment) else ENGLISH
    return language.tag, bucket.key, bucket.checksum


_COMPILED = CompiledTemplates()
# The part of `markupsafe.escape` that is written in C, as far as it is there.
_escape_text: Callable[[str], str] = getattr(markupsafe, "_escape_inner", escape)


def escape_output(value: object) -> str:
    """Escapes as `markupsafe.escape` does, for output: without an object of its own for every
    text, which takes most of the time of a page with hundreds of them."""
    if type(value) is str:
        return _escape_text(value)
    return value if type(value) is Markup else escape(value)


class PageEnvironment(Environment):
    """The templates in one language."""

    language = ENGLISH

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        parsed = super()._parse(source, name, filename)
        TranslatedCalls(self.language).visit(parsed)
        return parsed

    def make_globals(self, d: MutableMapping[str, Any] | None) -> MutableMapping[str, Any]:
        """All templates share the globals of the environment: a map over them for each template,
        as Jinja makes it, is copied entry by entry for every page."""
        return super().make_globals(d) if d else self.globals


def page_environment(contributions: Contributions, language: Language = ENGLISH) -> PageEnvironment:
    rooms = {name: FileSystemLoader(it) for name, it in contributions.templates.items()}
    environment = PageEnvironment(
        loader=ChoiceLoader([FileSystemLoader(_TEMPLATES), PrefixLoader(rooms)]),
        autoescape=True,
        undefined=StrictUndefined,
        auto_reload=False,
        bytecode_cache=_COMPILED,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=[Translating],
    )
    environment.language = language
    environment.policies["ext.i18n.trimmed"] = True
    # The settings of a widget are shown in the order in which the author describes them.
    environment.policies["json.dumps_kwargs"] = {"sort_keys": False}
    environment.globals["chosen_theme"] = _chosen_theme
    environment.globals["menus"] = contributions.menus
    environment.globals["texts"] = contributions.texts
    environment.filters["grouped"] = language.number
    environment.filters["plural_form"] = language.plural_form
    environment.filters["noun"] = lambda word, count: word if count == 1 else f"{word}s"
    environment.filters["grouped_by_four"] = lambda text: " ".join(re.findall(".{1,4}", text))
    words_of = in_words if language is ENGLISH else partial(in_words, gettext=language.gettext)
    environment.filters["in_words"] = words_of
    environment.filters["bytes"] = language.bytes
    environment.filters["details_in_words"] = details_in_words
    environment.filters["short"] = short
    # Mostly of versions, a dozen on a page, and everywhere the same ones.
    environment.filters["urlencode"] = _url_encoded
    environment.filters["day"] = language.day
    environment.filters["script_texts"] = partial(_script_texts, language)
    environment.filters["moment"] = lambda ms: f"{from_ms(ms):%-d %B %Y, %H:%M} UTC"
    return environment


def compile_public_templates(contributions: Contributions) -> None:
    """Before workers are forked. Otherwise each compiles a template for the first page that needs
    it, and serves nothing else for a quarter of a second.
    """
    environment = page_environment(contributions)
    for name in environment.list_templates():
        if name.startswith("pages/") or "/public/" in name or "/" not in name:
            environment.get_template(name)


_url_encoded = lru_cache(2_000)(do_urlencode)


def _script_texts(language: Language, scripts: tuple[str, ...]) -> Markup:
    """What these scripts say in this language; nothing for English. Jinja calls it when a template
    is compiled."""
    said = language.script_texts(*scripts)
    script = Markup('<script type="application/json" data-texts>{}</script>')
    return script.format(htmlsafe_json_dumps(said, sort_keys=False)) if said else Markup("")


def _chosen_theme() -> str:
    """Of the visitor of a personal page. Public pages, the same for everybody, have a script."""
    return "" if (trace := current.get()) is None else trace.theme


def short(text: str, most: int) -> str:
    """Truncates a long text, at a word boundary if possible."""
    if len(text) <= most:
        return text
    kept = text[:most]
    return (kept.rpartition(" ")[0] or kept).rstrip(" ,;:.") + "…"


_LABELS = {
    "way": "method",
    "isOperator": "operator",
    "sha256Hash": "SHA-256",
    "cssSha256Hash": "SHA-256 of the style sheet",
    "cssSize": "size of the style sheet",
    "url": "URL",
}


def details_in_words(details: Mapping[str, object]) -> list[tuple[str, str]]:
    """Labels and values."""
    return [
        (_LABELS.get(key) or re.sub("[A-Z]", lambda it: f" {it[0].lower()}", key), _value(value))
        for key, value in details.items()
    ]


def _value(value: object) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case list():
            return ", ".join(map(str, value)) or "none"
        case _:
            return str(value)


_PLACEHOLDER = re.compile(r"%\((\w+)\)s")


class Translating(InternationalizationExtension):
    """The tag `trans`, replaced by the translated text with its values."""

    environment: "PageEnvironment"

    def _make_node(  # type: ignore[override]
        self,
        singular: str,
        plural: str | None,
        context: str | None,
        variables: dict[str, nodes.Expr],
        plural_expr: nodes.Expr | None,
        vars_referenced: bool,  # noqa: ARG002
        num_called_num: bool,  # noqa: ARG002
    ) -> nodes.Stmt:
        if context is not None:
            raise TemplateAssertionError("Contexts are not supported.", 0)
        language = self.environment.language
        if plural is None or plural_expr is None:
            return _output(language.gettext(singular), variables)
        *forms, last = language.forms(singular, plural)
        node: nodes.Stmt = _output(last, variables)
        for number, text in reversed(list(enumerate(forms))):
            form = nodes.Filter(plural_expr, "plural_form", [], [], None, None)
            is_it = nodes.Compare(form, [nodes.Operand("eq", nodes.Const(number))])
            node = nodes.If(is_it, [_output(text, variables)], [], [node])
        return node


def _output(text: str, variables: dict[str, nodes.Expr]) -> nodes.Output:
    """The text is HTML, as the template around it; values are escaped."""
    parts: list[nodes.Expr] = []
    for number, part in enumerate(_PLACEHOLDER.split(text)):
        if number % 2:
            parts.append(variables[part])
        elif part:
            parts.append(nodes.TemplateData(part.replace("%%", "%")))
    return nodes.Output(parts)


class TranslatedCalls(NodeTransformer):
    """Replaces `_("text")`, and `_("text %(name)s", name=value)`: plain text, escaped as usual."""

    def __init__(self, language: Language) -> None:
        self._language = language

    def visit_Call(self, node: nodes.Call) -> nodes.Node:  # noqa: N802
        self.generic_visit(node)
        if not isinstance(node.node, nodes.Name) or node.node.name != "_":
            return node
        match node.args:
            case [nodes.Const(value=str(message))]:
                text = nodes.Const(self._language.gettext(message), lineno=node.lineno)
            case _:
                raise TemplateAssertionError("_() needs one literal text.", node.lineno)
        if not node.kwargs:
            return text
        values = [nodes.Pair(nodes.Const(it.key), it.value) for it in node.kwargs]
        return nodes.Mod(text, nodes.Dict(values)).set_lineno(node.lineno)
