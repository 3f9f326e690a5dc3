"""Checks the module to be published.

tree-sitter checks the grammar, with good error positions; a JavaScript engine checks the other
rules of the language (`find_early_error`), such as duplicate declarations.
"""

import functools
import threading
import time
from collections.abc import Iterator
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from widget_contract.browser_modules import COMMON_JS_NAMES, find_unsupported

from .errors import Lines
from .syntax_errors import (
    EarlyError,
    early_error,
    find_early_error,
    is_compiled,
    place_of,
    syntax_error,
    text_of,
)

if TYPE_CHECKING:  # Loaded when needed: most commands parse nothing.
    from tree_sitter import Language, Node

MOUNT = "mount"
_MAX_PARSE_S = 10.0
_PIECE_BYTES = 4_096
# On Windows, Ctrl-C does not interrupt a longer wait.
_LOOK_EVERY_S = 0.2
_LIKE_COMMON_JS = "It looks like CommonJS"
_JSX = "[(jsx_element) (jsx_self_closing_element)] @jsx"
_IMPORT_CALL = "(call_expression function: (import) arguments: (arguments . (string) @source))"
_COMMON_JS = "(assignment_expression left: (member_expression) @target)"


class ModuleCheck(Enum):
    """How strictly a module is checked."""

    FULL = "it must parse and export mount"
    SYNTAX = "it must parse"
    NONE = "it may be anything"


class ModuleFindings(NamedTuple):
    """`errors` prevent publishing, `warnings` do not."""

    errors: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    def with_more(self, other: "ModuleFindings") -> "ModuleFindings":
        return ModuleFindings(self.errors + other.errors, self.warnings + other.warnings)


class _Exports(NamedTuple):
    names: frozenset[str]
    has_default: bool
    passes_others_on: bool


@functools.lru_cache(maxsize=2)  # `widget publish` reads the widget twice.
def check_module(name: str, content: bytes, check: ModuleCheck) -> ModuleFindings:
    """Check the module in the file of this name, which is UTF-8."""
    if check is ModuleCheck.NONE:
        return ModuleFindings()
    import tree_sitter_javascript
    from tree_sitter import Language

    # Strings may contain NUL, which neither the parser nor the engine accepts.
    content = content.replace(b"\0", b"\1")
    language = Language(tree_sitter_javascript.language())
    root = _parse(language, content)
    if root is None:
        return _refused(
            f"{name} could not be parsed within {_MAX_PARSE_S:.0f} seconds. "
            "If it is a valid JavaScript module, pass --no-check."
        )
    if root.has_error:
        if is_compiled(content):
            return _check_unknown_syntax(name, content, check, root)
        return _refused(syntax_error(name, content, root, find_early_error(content)))
    # Searching the tree takes a third of the parsing time, and most modules have neither.
    if (b"/>" in content or b"</" in content) and (found := _captured(language, _JSX, root)):
        where = place_of(content, found[0].start_byte)
        return _refused(
            Lines(f"{name}, {where}: this is JSX. Compile it to JavaScript first.", *where.excerpt)
        )
    if error := _clash_with_import(content, root) or find_early_error(content):
        return _refused(early_error(name, content, root, error))
    of_exports = ModuleFindings()
    if check is ModuleCheck.FULL:
        of_exports = _check_exports(name, content, language, root)
    for_browsers = _check_for_browsers(name, content, root, check, of_exports)
    lost = ModuleFindings((), tuple(_lost_files(content, language, root)))
    return of_exports.with_more(for_browsers).with_more(lost)


def _check_for_browsers(
    name: str, content: bytes, root: "Node", check: ModuleCheck, known: ModuleFindings
) -> ModuleFindings:
    """What no browser runs is an error, if it certainly fails. A host with another contract may
    resolve packages, and provide what CommonJS needs."""
    is_common_js = any(_LIKE_COMMON_JS in it for it in known.errors)
    errors, warnings = [], []
    for finding in find_unsupported(content, root):
        is_of_common_js = finding.subject in COMMON_JS_NAMES
        if is_common_js and is_of_common_js:
            continue
        where = place_of(content, finding.offset)
        is_package = finding.kind == "import" and not finding.subject.startswith("node:")
        is_allowed = check is not ModuleCheck.FULL and (is_package or is_of_common_js)
        if finding.is_certain and not is_allowed:
            errors.append(Lines(f"{name}, {where}: {finding}", *where.excerpt))
        else:
            warnings.append(f"{name}, {where}: {finding}")
    return ModuleFindings(tuple(errors), tuple(warnings))


def _check_unknown_syntax(
    name: str, content: bytes, check: ModuleCheck, root: "Node"
) -> ModuleFindings:
    """The engine decides if the grammar does not support newer syntax."""
    if check is not ModuleCheck.FULL or MOUNT in _exports_of(content, root).names:
        return ModuleFindings()
    warning = f"{name} uses syntax that is too new to check whether it exports {MOUNT}."
    return ModuleFindings(warnings=(warning,))


def _check_exports(name: str, content: bytes, language: "Language", root: "Node") -> ModuleFindings:
    exports = _exports_of(content, root)
    if MOUNT in exports.names:
        return ModuleFindings()
    if exports.passes_others_on:
        warning = (
            f'{name} has "export * from", so whether it exports {MOUNT} cannot be checked. '
            f"Export {MOUNT} by name."
        )
        return ModuleFindings(warnings=(warning,))
    if exports.has_default:
        reason = f"A default export is not enough: write export {{ {MOUNT} }}."
    elif not exports.names and _is_common_js(content, language, root):
        reason = f"{_LIKE_COMMON_JS}: build it as an ES module."
    else:
        reason = "If your host calls a different export, pass --any-module."
    return _refused(
        f"{name} does not export {MOUNT}(element, context), which dashboards call. {reason}"
    )


def _parse(language: "Language", content: bytes) -> "Node | None":
    """The root of the tree; None on timeout, as for most files that are not JavaScript.

    Recovering from very many errors takes quadratic time. The parser reads its text in chunks;
    ending the text early stops it.
    """
    from concurrent.futures import ThreadPoolExecutor, wait

    from tree_sitter import Parser

    is_cut = threading.Event()

    def read(offset: int, _: object) -> bytes:
        if time.thread_time() > _MAX_PARSE_S:  # CPU time, as the machine may be busy.
            is_cut.set()
        return b"" if is_cut.is_set() else content[offset : offset + _PIECE_BYTES]

    # The parser cannot pass on an exception that is raised in `read`. Ctrl-C and signal handlers
    # raise in the main thread only, so parse in another one.
    with ThreadPoolExecutor(1) as thread:
        parsed = thread.submit(Parser(language).parse, read)
        try:
            while not parsed.done():
                wait([parsed], _LOOK_EVERY_S)
        except BaseException:
            is_cut.set()
            raise
    return None if is_cut.is_set() else parsed.result().root_node


def _clash_with_import(content: bytes, root: "Node") -> EarlyError | None:
    """Finds a name that is both imported and declared, which the engine does not report."""
    imported: set[str] = set()
    declared: list[Node] = []
    for statement in root.named_children:
        if statement.type == "import_statement":
            imported.update(text_of(content, it) for it in _imported(statement))
        elif statement.type == "export_statement":
            declared += [it for child in statement.named_children for it in _declared(child)]
        else:
            declared += _declared(statement)
    for node in declared:
        if text_of(content, node) in imported:
            return EarlyError("redefinition of an import", node.end_byte)
    return None


def _imported(statement: "Node") -> Iterator["Node"]:
    for clause in statement.named_children:
        for child in clause.named_children if clause.type == "import_clause" else ():
            if child.type == "identifier":
                yield child
            elif child.type == "namespace_import":
                yield child.named_children[-1]
            elif child.type == "named_imports":
                for specifier in child.named_children:
                    alias = specifier.child_by_field_name("alias")
                    named = alias or specifier.child_by_field_name("name")
                    if named is not None:
                        yield named


def _lost_files(content: bytes, language: "Language", root: "Node") -> Iterator[str]:
    """A warning about imports of files that are not published with the module."""
    sources = [it.child_by_field_name("source") for it in root.named_children]
    if b"import(" in content:
        sources += _captured(language, _IMPORT_CALL, root)
    texts = (text_of(content, it).strip("\"'") for it in sources if it is not None)
    lost = sorted({it for it in texts if it.startswith(("./", "../"))})
    if lost:
        yield (
            f"The module imports {', '.join(lost)}, but only this one file is published. "
            "Bundle everything into it."
        )


def _exports_of(content: bytes, root: "Node") -> _Exports:
    names: set[str] = set()
    has_default = passes_others_on = False
    for statement in root.named_children:
        if statement.type != "export_statement":
            continue
        has_default = has_default or any(it.type == "default" for it in statement.children)
        passes_others_on = passes_others_on or any(it.type == "*" for it in statement.children)
        names.update(text_of(content, it).strip("\"'") for it in _exported(statement))
    return _Exports(frozenset(names), has_default or "default" in names, passes_others_on)


def _exported(statement: "Node") -> Iterator["Node"]:
    """Every node that names an export."""
    for child in statement.named_children:
        match child.type:
            case "export_clause":
                for specifier in child.named_children:
                    alias = specifier.child_by_field_name("alias")
                    named = alias or specifier.child_by_field_name("name")
                    if named is not None:  # A comment has neither.
                        yield named
            case "namespace_export":
                yield child.named_children[-1]
            case _ if not any(it.type == "default" for it in statement.children):
                yield from _declared(child)


def _declared(declaration: "Node") -> Iterator["Node"]:
    """The names that a declaration declares; none for any other statement."""
    match declaration.type:
        case "lexical_declaration" | "variable_declaration":
            for declarator in declaration.named_children:
                if declarator.type == "variable_declarator":
                    yield from _bound(declarator.named_children[0])
        case "function_declaration" | "generator_function_declaration" | "class_declaration":
            yield from declaration.children_by_field_name("name")


def _bound(pattern: "Node") -> Iterator["Node"]:
    """The names that a declaration binds: `{ a, b: [c = 1], ...d }` binds a, c and d."""
    waiting = [pattern]
    while waiting:
        node = waiting.pop()
        match node.type:
            case "identifier" | "shorthand_property_identifier_pattern":
                yield node
            case "pair_pattern":
                waiting += node.children_by_field_name("value")
            case "assignment_pattern" | "object_assignment_pattern":
                waiting += node.children_by_field_name("left")
            case "object_pattern" | "array_pattern" | "rest_pattern":
                waiting += node.named_children


def _is_common_js(content: bytes, language: "Language", root: "Node") -> bool:
    targets = (text_of(content, it) for it in _captured(language, _COMMON_JS, root))
    return any(it.startswith(("module.exports", "exports.")) for it in targets)


def _captured(language: "Language", pattern: str, root: "Node") -> list["Node"]:
    from tree_sitter import Query, QueryCursor

    found = QueryCursor(Query(language, pattern)).captures(root)
    return [node for nodes in found.values() for node in nodes]


def _refused(sentence: str) -> ModuleFindings:
    return ModuleFindings((sentence,))
