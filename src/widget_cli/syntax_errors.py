"""Syntax errors as messages, with line, column and an excerpt.

Early errors are what an engine rejects in a module whose grammar is valid. QuickJS compiles the
module without running it: an unresolvable import is appended, so that it stops after compiling.
"""

import codecs
import itertools
import re
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from rich.cells import cell_len

from .errors import Lines

if TYPE_CHECKING:
    from tree_sitter import Node

_MAX_COMPILE_S = 10.0
_STACK_BYTES = 16 * 1024 * 1024  # The engine takes up to 1 MiB, more than some systems' default.
_NEVER = "widget-cli:never"
_UNRESOLVABLE = f"\nimport '{_NEVER}';"
_REPORT = re.compile(r"SyntaxError: (?P<message>.+)(?:\s+at <input>:(?P<row>\d+):(?P<column>\d+))?")
_LINE_BREAK = re.compile(rb"\r\n|\r|\n")
# "too many closure variables" and the like: limits of this engine, not errors of the module.
_OWN_LIMIT = "too many "
_MAX_REGEXES = 1_000
# The engine's errors for unterminated constructs; the position is their start.
_UNCLOSED = {
    "unexpected end of string": "this string",
    "unexpected end of comment": "this comment",
    "unexpected line terminator in regexp": "this regular expression",
    "unexpected end of regexp": "this regular expression",
}
# Errors about the token at the reported position, not before it.
_NAMES_TOKEN = ("unexpected token in expression: ", "variable name expected")
_TYPESCRIPT = re.compile(
    r"^\s*(?:export\s+)?(?:declare\s+)?(?:interface|type|enum|namespace|abstract\s+class)\s+\w"
    r"|\bimport\s+type\b|\b(?:private|public|protected|readonly)\s+\w|\bsatisfies\s+\w"
    r"|\bas\s+(?:any|const|unknown)\b"
    r"|[\w)\]]\??\s*:\s*(?:string|number|boolean|any|void|unknown|never|[A-Z]\w*)\b"
    r"|\bfunction\s+\w+\s*<"
)


class EarlyError(NamedTuple):
    """`offset` is in bytes, often that of the token after the wrong one."""

    message: str
    offset: int | None


def find_early_error(content: bytes) -> EarlyError | None:
    """The first early error of a module; None also if the engine is not available."""
    source = content.removeprefix(codecs.BOM_UTF8)  # As browsers do.
    found = _REPORT.match(_compile(source.decode() + _UNRESOLVABLE))
    if not found or found["message"].startswith(_OWN_LIMIT):
        return None
    if not found["row"]:
        return EarlyError(found["message"], None)
    offset = len(content) - len(source) + _offset(source, int(found["row"]), int(found["column"]))
    return EarlyError(found["message"], offset)


def is_compiled(content: bytes) -> bool:
    """Whether the engine compiles the module; False also if it is not available."""
    source = content.removeprefix(codecs.BOM_UTF8).decode()
    return _NEVER in _compile(source + _UNRESOLVABLE).partition("\n")[0]


def _compile(source: str) -> str:
    """The engine's report; empty if it is not installed or takes too long."""
    try:
        import quickjs
    except ImportError:  # There is no wheel for some platforms, such as macOS on Intel.
        return ""
    reports: list[str] = []

    def work() -> None:
        try:
            quickjs.Context().module(source)
        except (quickjs.JSException, quickjs.StackOverflow) as error:
            reports.append(str(error))

    # A thread, because compiling cannot be interrupted. A daemon does not keep the process alive.
    before = threading.stack_size(_STACK_BYTES)
    try:
        thread = threading.Thread(target=work, daemon=True)
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join(_MAX_COMPILE_S)
    return reports[0] if reports else ""


def _offset(content: bytes, row: int, column: int) -> int:
    starts = [0, *(it.end() for it in _LINE_BREAK.finditer(content))]
    start = starts[row - 1] if row <= len(starts) else len(content)  # In the import that was added.
    return min(start + column - 1, len(content))


_SHOWN_BEFORE, _SHOWN_AFTER = 50, 25  # Characters of a line; a minified module is one long line.


def _first_error(root: "Node") -> "Node":
    """The first syntax error. Not recursive, because modules may be nested deeply."""
    node = root
    while not (node.is_error or node.is_missing):
        node = next(it for it in node.children if it.has_error)
    return node


def syntax_error(name: str, content: bytes, root: "Node", engine: EarlyError | None) -> str:
    """The message for a syntax error; `engine` is the engine's error."""
    node = _first_error(root)
    offset = node.start_byte
    if engine is not None and engine.message in _UNCLOSED and engine.offset is not None:
        offset, error = engine.offset, f"{_UNCLOSED[engine.message]} is not closed."
    elif node.is_missing:
        what = "a name or value" if node.is_named else f'"{node.type}"'
        error = f"{what} is missing."
    else:
        # An error node that starts before the actual error.
        if (
            engine is not None
            and engine.offset is not None
            and (node.child_count > 1 or _follows(content, node, engine))
        ):
            offset = max(offset, engine.offset)
        token = _unexpected(content, offset)
        error = f'unexpected "{token}".' if token else "unexpected end."
    where = place_of(content, offset)
    if name.endswith((".ts", ".tsx", ".mts", ".cts")) or _TYPESCRIPT.search(where.near):
        error += " This looks like TypeScript: compile it to JavaScript first."
    return Lines(f"{name}, {where}: {error}", *where.excerpt)


def _follows(content: bytes, node: "Node", engine: EarlyError) -> bool:
    """Whether the engine reports the token after this node, as in `const x = ;`: the grammar
    reports the "=", because no value follows it."""
    if engine.offset is None or not engine.message.startswith(_NAMES_TOKEN):
        return False
    return not content[node.end_byte : engine.offset].strip()


def _unexpected(content: bytes, offset: int) -> str:
    text = content[offset : offset + 80].decode(errors="ignore").strip()
    found = re.match(r"\w+|\S", text)
    return found[0] if found else ""


def early_error(name: str, content: bytes, root: "Node", error: EarlyError) -> str:
    """The message for an early error."""
    message, offset = error
    subject = re.search(r"'(.+)'", message)
    if "redefinition" in message or "duplicate import" in message:
        declared = _name_before(root, content, offset)
        what = f'"{text_of(content, declared)}"' if declared else "a name"
        problem, offset = f"{what} is declared twice", declared.start_byte if declared else offset
    elif "duplicate exported name" in message and subject:
        problem = f'"{subject[1]}" is exported twice'
    elif "exported variable" in message and subject:
        problem = f'"{subject[1]}" is exported, but not declared'
        offset = _find_export(content, root, subject[1])
    elif "undefined private field" in message and subject:
        problem = f"the private name {subject[1]} is declared in no class around it"
        offset = _find_private(content, root, subject[1])
    elif offset is None and (regex := _find_wrong_regex(content, root)):
        problem, offset = f"this regular expression is not valid: {message}", regex.start_byte
    elif "'await' keyword" in message:
        problem = "await is allowed only in an async function and at the top level"
    elif message == "invalid keyword: with":
        problem = 'a module is strict code, which has no "with"'
    else:
        problem = message
    if offset is None:
        return f"{name}: {problem}."
    where = place_of(content, offset)
    return Lines(f"{name}, {where}: {problem}.", *where.excerpt)


def _name_before(root: "Node", content: bytes, offset: int | None) -> "Node | None":
    """The name whose declaration ends at this position, ignoring white space."""
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
                    if named is not None and text_of(content, named) == name:
                        return named.start_byte
    return None


def _find_private(content: bytes, root: "Node", name: str) -> int | None:
    """The position where a private name is used outside all classes that declare it."""
    for node in _all_of(root, "private_property_identifier"):
        if text_of(content, node) == name and not _is_declared_around(content, node, name):
            return node.start_byte
    return None


def _is_declared_around(content: bytes, node: "Node", name: str) -> bool:
    around = node.parent
    while around is not None:
        if around.type == "class_body":
            members = (it.named_children for it in around.named_children)
            declared = (it for children in members for it in children)
            if any(
                member.type == "private_property_identifier" and text_of(content, member) == name
                for member in declared
            ):
                return True
        around = around.parent
    return False


def _find_wrong_regex(content: bytes, root: "Node") -> "Node | None":
    """The first regular expression that the engine rejects; it does not report the position."""
    for node in itertools.islice(_all_of(root, "regex"), _MAX_REGEXES):
        if find_early_error(content[node.start_byte : node.end_byte]) is not None:
            return node
    return None


def _all_of(root: "Node", kind: str) -> Iterator["Node"]:
    """Every node of a kind, in source order."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        if node.type == kind:
            yield node
        waiting += reversed(node.named_children)


def text_of(content: bytes, node: "Node") -> str:
    return content[node.start_byte : node.end_byte].decode()


class Place(NamedTuple):
    """A position in the source. `near` is its line, or a part of it; `excerpt` has a marker below
    the position."""

    row: int
    column: int
    near: str
    excerpt: tuple[str, str]

    def __str__(self) -> str:
        return f"line {self.row:,}, column {self.column:,}"


def place_of(content: bytes, offset: int) -> Place:
    start = content.rfind(b"\n", 0, offset) + 1
    end = content.find(b"\n", offset)
    before = content[start:offset].decode()
    after = content[offset : end if end >= 0 else len(content)].decode().rstrip()
    lead = "…" if len(before) > _SHOWN_BEFORE else ""
    tail = "…" if len(after) > _SHOWN_AFTER else ""
    left = f"{lead}{before[-_SHOWN_BEFORE:]}".replace("\t", " ")
    right = f"{after[:_SHOWN_AFTER]}{tail}".replace("\t", " ")
    return Place(
        row=content.count(b"\n", 0, offset) + 1,
        column=len(before) + 1,
        near=before[-200:] + after[:200],
        excerpt=(f"{left}{right}", f"{' ' * cell_len(left)}^"),
    )
