"""Translates templates when they are compiled: each language has its own compiled templates.

A sentence costs nothing when a page is rendered, in any language. `{% trans %}` and `_("…")` are
those of Jinja's extension, so that Babel extracts them; the text must be a literal.
"""

import re
from typing import TYPE_CHECKING

from jinja2 import nodes
from jinja2.exceptions import TemplateAssertionError
from jinja2.ext import InternationalizationExtension
from jinja2.visitor import NodeTransformer

from ..languages.language import Language

if TYPE_CHECKING:
    from .page_templates import PageEnvironment

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
