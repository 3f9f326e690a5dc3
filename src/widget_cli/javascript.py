"""Checks the module that is about to be published.

tree-sitter knows the grammar and says well where it is violated; a JavaScript engine knows the
further rules of the language (`early_errors`), such as a name that is declared twice.
"""

import functools
import re
import time
from collections.abc import Iterator
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len

from .early_errors import EarlyError, find_early_error, is_compiled

if TYPE_CHECKING:  # It is loaded where it is used: most commands parse nothing.
    from tree_sitter import Language, Node

MOUNT = "mount"
_MAX_PARSE_S = 10.0
_PIECE_BYTES = 4_096
_SHOWN_BEFORE, _SHOWN_AFTER = 50, 25  # Characters of a line; a minified module is one long line.
_JSX = "[(jsx_element) (jsx_self_closing_element)] @jsx"
_IMPORT_CALL = "(call_expression function: (import) arguments: (arguments . (string) @source))"
_COMMON_JS = "(assignment_expression left: (member_expression) @target)"
_TYPESCRIPT = re.compile(
    r"^\s*(?:export\s+)?(?:declare\s+)?(?:interface|type|enum|namespace|abstract\s+class)\s+\w"
    r"|\bimport\s+type\b|\b(?:private|public|protected|readonly)\s+\w|\bsatisfies\s+\w"
    r"|\bas\s+(?:any|const|unknown)\b"
    r"|[\w)\]]\??\s*:\s*(?:string|number|boolean|any|void|unknown|never|[A-Z]\w*)\b"
    r"|\bfunction\s+\w+\s*<"
)


class ModuleCheck(Enum):
    """How closely a module is looked at."""

    FULL = "it must parse and export mount"
    SYNTAX = "it must parse"
    NONE = "it may be anything"


class ModuleFindings(NamedTuple):
    """`faults` keep a module from being published, `warnings` do not."""

    faults: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


class _Exports(NamedTuple):
    names: frozenset[str]
    has_default: bool
    passes_others_on: bool


@functools.lru_cache(maxsize=2)  # `widget publish` reads the widget twice.
def check_module(name: str, content: bytes, check: ModuleCheck) -> ModuleFindings:
    """What is wrong with the module in the file of this name. It is UTF-8."""
    if check is ModuleCheck.NONE:
        return ModuleFindings()
    import tree_sitter_javascript
    from tree_sitter import Language

    # Strings may hold a NUL, which neither the parser nor the engine takes.
    content = content.replace(b"\0", b"\1")
    language = Language(tree_sitter_javascript.language())
    root = _parse(language, content)
    if root is None:
        return _refused(
            f"{name} could not be parsed within {_MAX_PARSE_S:.0f} seconds. "
            "If it is a JavaScript module all the same, pass --no-check."
        )
    if root.has_error:
        if is_compiled(content):
            return _check_unknown_syntax(name, content, check, root)
        return _refused(_syntax_fault(name, content, _first_error(root)))
    # A search of the tree costs as much as a third of the parsing, and most modules have neither.
    if (b"/>" in content or b"</" in content) and (found := _captured(language, _JSX, root)):
        where = _place(content, found[0].start_byte)
        return _refused(
            f"{name}, {where}: this is JSX. Compile it to JavaScript first.\n{where.excerpt}"
        )
    if fault := _early_fault(name, content, root):
        return _refused(fault)
    warnings = tuple(_lost_files(content, language, root))
    if check is ModuleCheck.FULL:
        of_exports = _check_exports(name, content, language, root)
        return ModuleFindings(of_exports.faults, of_exports.warnings + warnings)
    return ModuleFindings(warnings=warnings)


def _check_unknown_syntax(
    name: str, content: bytes, check: ModuleCheck, root: "Node"
) -> ModuleFindings:
    """The engine has the last word where the grammar lags behind the language."""
    if check is not ModuleCheck.FULL or MOUNT in _exports_of(content, root).names:
        return ModuleFindings()
    warning = f"{name} has syntax that is too new to check whether it exports {MOUNT}."
    return ModuleFindings(warnings=(warning,))


def _check_exports(name: str, content: bytes, language: "Language", root: "Node") -> ModuleFindings:
    exports = _exports_of(content, root)
    if MOUNT in exports.names:
        return ModuleFindings()
    if exports.passes_others_on:
        warning = (
            f'{name} has "export * from", so whether it exports {MOUNT} cannot be checked. '
            f"Export {MOUNT} by its name."
        )
        return ModuleFindings(warnings=(warning,))
    if exports.has_default:
        reason = f"A default export is not enough: write export {{ {MOUNT} }}."
    elif not exports.names and _is_common_js(content, language, root):
        reason = "It looks like CommonJS: build it as an ES module."
    else:
        reason = "If it is for a host that calls something else, pass --any-module."
    return _refused(
        f"{name} does not export {MOUNT}(element, context), which dashboards call. {reason}"
    )


def _parse(language: "Language", content: bytes) -> "Node | None":
    """The root of the tree; None if it took too long, as for most that is not JavaScript at all.

    Recovering from very many errors takes quadratic time. The parser asks for its text piece by
    piece, and a text that ends early ends it.
    """
    from tree_sitter import Parser

    deadline_s = time.process_time() + _MAX_PARSE_S  # Not the clock's: the machine may be busy.
    is_cut = False

    def read(offset: int, _: object) -> bytes:
        nonlocal is_cut
        is_cut = is_cut or time.process_time() > deadline_s
        return b"" if is_cut else content[offset : offset + _PIECE_BYTES]

    tree = Parser(language).parse(read)
    return None if is_cut else tree.root_node


def _first_error(root: "Node") -> "Node":
    """The first place that the grammar does not allow. Not recursive: modules nest deeply."""
    node = root
    while not (node.is_error or node.is_missing):
        node = next(it for it in node.children if it.has_error)
    return node


def _syntax_fault(name: str, content: bytes, node: "Node") -> str:
    where = _place(content, node.start_byte)
    if node.is_missing:
        what = "a name or value" if node.is_named else f'"{node.type}"'
        fault = f"{what} is missing."
    else:
        token = _unexpected(content, node)
        fault = f'unexpected "{token}".' if token else "unexpected end."
    if name.endswith((".ts", ".tsx", ".mts", ".cts")) or _TYPESCRIPT.search(where.near):
        fault += " This looks like TypeScript: compile it to JavaScript first."
    return f"{name}, {where}: {fault}\n{where.excerpt}"


def _unexpected(content: bytes, node: "Node") -> str:
    text = content[node.start_byte : node.start_byte + 80].decode(errors="ignore").strip()
    found = re.match(r"\w+|\S", text)
    return found[0] if found else ""


def _early_fault(name: str, content: bytes, root: "Node") -> str | None:
    error = _clash_with_import(content, root) or find_early_error(content)
    if error is None:
        return None
    message, offset = error
    subject = re.search(r"'(.+)'", message)
    if "redefinition" in message or "duplicate import" in message:
        declared = _name_before(root, content, offset)
        what = f'"{_text(content, declared)}"' if declared else "a name"
        fault, offset = f"{what} is declared twice", declared.start_byte if declared else offset
    elif "duplicate exported name" in message and subject:
        fault = f'"{subject[1]}" is exported twice'
    elif "exported variable" in message and subject:
        fault = f'"{subject[1]}" is exported, but not declared'
        offset = _find_export(content, root, subject[1])
    elif "'await' keyword" in message:
        fault = "await is allowed only in an async function and at the top level"
    elif message == "invalid keyword: with":
        fault = 'a module is strict code, which has no "with"'
    else:
        fault = message
    if offset is None:
        return f"{name}: {fault}."
    where = _place(content, offset)
    return f"{name}, {where}: {fault}.\n{where.excerpt}"


def _name_before(root: "Node", content: bytes, offset: int | None) -> "Node | None":
    """The name whose declaration ends at this place, blanks apart."""
    if offset is None:
        return None
    end = len(content[:offset].rstrip())
    node = root.descendant_for_byte_range(max(0, end - 1), end)
    if node is not None and node.type.endswith(("identifier", "identifier_pattern")):
        return node
    while node is not None and node.type != "class_declaration" and node.end_byte == end:
        node = node.parent
    return node.child_by_field_name("name") if node and node.type == "class_declaration" else None


def _find_export(content: bytes, root: "Node", name: str) -> int | None:
    for statement in root.named_children:
        for clause in statement.named_children:
            if statement.type == "export_statement" and clause.type == "export_clause":
                for specifier in clause.named_children:
                    named = specifier.child_by_field_name("name")
                    if named is not None and _text(content, named) == name:
                        return named.start_byte
    return None


def _clash_with_import(content: bytes, root: "Node") -> EarlyError | None:
    """A name that is both imported and declared, which the engine does not mind."""
    imported: set[str] = set()
    declared: list[Node] = []
    for statement in root.named_children:
        if statement.type == "import_statement":
            imported.update(_text(content, it) for it in _imported(statement))
        elif statement.type == "export_statement":
            declared += [it for child in statement.named_children for it in _declared(child)]
        else:
            declared += _declared(statement)
    for node in declared:
        if _text(content, node) in imported:
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
    """A warning for what the module imports from files that are not published with it."""
    sources = [it.child_by_field_name("source") for it in root.named_children]
    if b"import(" in content:
        sources += _captured(language, _IMPORT_CALL, root)
    texts = (_text(content, it).strip("\"'") for it in sources if it is not None)
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
        names.update(_text(content, it).strip("\"'") for it in _exported(statement))
    return _Exports(frozenset(names), has_default or "default" in names, passes_others_on)


def _exported(statement: "Node") -> Iterator["Node"]:
    """Every node that is the name of an export."""
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
    targets = (_text(content, it) for it in _captured(language, _COMMON_JS, root))
    return any(it.startswith(("module.exports", "exports.")) for it in targets)


def _captured(language: "Language", pattern: str, root: "Node") -> list["Node"]:
    from tree_sitter import Query, QueryCursor

    found = QueryCursor(Query(language, pattern)).captures(root)
    return [node for nodes in found.values() for node in nodes]


def _text(content: bytes, node: "Node") -> str:
    return content[node.start_byte : node.end_byte].decode()


class _Place(NamedTuple):
    """A place in the source. `near` is its line, or as much of it as matters; `excerpt` is for
    people, with a mark below the place."""

    row: int
    column: int
    near: str
    excerpt: str

    def __str__(self) -> str:
        return f"line {self.row:,}, column {self.column:,}"


def _place(content: bytes, offset: int) -> _Place:
    start = content.rfind(b"\n", 0, offset) + 1
    end = content.find(b"\n", offset)
    before = content[start:offset].decode()
    after = content[offset : end if end >= 0 else len(content)].decode().rstrip()
    lead = "…" if len(before) > _SHOWN_BEFORE else ""
    tail = "…" if len(after) > _SHOWN_AFTER else ""
    left = f"{lead}{before[-_SHOWN_BEFORE:]}".replace("\t", " ")
    right = f"{after[:_SHOWN_AFTER]}{tail}".replace("\t", " ")
    return _Place(
        row=content.count(b"\n", 0, offset) + 1,
        column=len(before) + 1,
        near=before[-200:] + after[:200],
        excerpt=f"{left}{right}\n{' ' * cell_len(left)}^",
    )


def _refused(sentence: str) -> ModuleFindings:
    return ModuleFindings((sentence,))
