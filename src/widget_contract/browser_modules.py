"""What no browser can run in a module whose syntax is valid: names that only Node defines, and
imports that cannot be resolved.

The tool and the service use it. It needs tree-sitter, which they install.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:  # Loaded when needed.
    from tree_sitter import Node, Tree

FindingKind = Literal["name", "import"]

COMMON_JS_NAMES = ("require", "module", "exports")
NODE_NAMES = (
    *("process", "global", "__dirname", "__filename", "Buffer", "setImmediate", "clearImmediate"),
    *COMMON_JS_NAMES,
)
# A module with more occurrences of a name is not searched for it.
_MAX_OCCURRENCES = 5_000
_CALLED_IMPORT = re.compile(rb"""import\s*\(\s*["']""")
_PART_OF_NAME = re.compile(rb"[\w$#.]")
_GLOBALS = (b"globalThis", b"window", b"self")
_URL = re.compile(r"(?:https?|data|blob):")

_FUNCTIONS = frozenset(
    "function_declaration function_expression arrow_function method_definition "
    "generator_function generator_function_declaration class_static_block program".split()
)
_BLOCKS = _FUNCTIONS | {"statement_block", "for_statement", "for_in_statement", "switch_body"}
_PATTERNS = frozenset("object_pattern array_pattern rest_pattern pair_pattern".split())
_DEFAULTS = ("assignment_pattern", "object_assignment_pattern")
_NAMED = {
    "function_declaration": _BLOCKS,
    "generator_function_declaration": _BLOCKS,
    "class_declaration": _BLOCKS,
}
_NAMES_ITSELF = ("function_expression", "generator_function", "class")
_IMPORTS = ("import_specifier", "namespace_import", "import_clause")
_EITHER = ("&&", "||", "??")


_COMMON_JS = "Build the module as ES module, with everything bundled."
_REMEDIES = {
    "process": 'Replace it when building, such as process.env.NODE_ENV with "production".',
    "global": "Replace it with globalThis.",
    "__dirname": "A module in a browser has no folder: use import.meta.url.",
    "__filename": "A module in a browser has no folder: use import.meta.url.",
    "Buffer": "Use Uint8Array, or bundle a replacement.",
    "setImmediate": "Use queueMicrotask or setTimeout.",
    "clearImmediate": "Use setTimeout and clearTimeout.",
}


class Finding(NamedTuple):
    """Something that fails in a browser. `is_certain`: otherwise it may never run, or the module
    may expect it to fail."""

    kind: FindingKind
    subject: str
    offset: int
    uses: int
    is_certain: bool

    def __str__(self) -> str:
        """A sentence about the problem, and one about what to do."""
        uses = "" if self.uses == 1 else f" ({self.uses:,} times)"
        may_fail = "" if self.is_certain else " It may fail there."
        if self.kind == "name":
            what = f'"{self.subject}" is used{uses}, which browsers do not have.'
            return f"{what}{may_fail} {_REMEDIES.get(self.subject, _COMMON_JS)}"
        what = f'"{self.subject}" is imported{uses}, which browsers cannot resolve.'
        if self.subject.startswith("node:"):
            return f"{what}{may_fail} It exists only in Node: remove it."
        return f"{what}{may_fail} Bundle it into the module."


def find_unsupported(content: bytes, root: "Node") -> list[Finding]:
    """Everything in a module that browsers do not support, in the order of its first use."""
    found = [*_free_names(content, root), *_unresolved_imports(content, root)]
    return sorted(found, key=lambda it: it.offset)


def parse_module(content: bytes) -> "Tree":
    import tree_sitter_javascript
    from tree_sitter import Language, Parser

    return Parser(Language(tree_sitter_javascript.language())).parse(content)


def _free_names(content: bytes, root: "Node") -> Iterator[Finding]:
    """The names of Node that are neither declared around their use, nor expected to be missing:
    after a check with typeof, or inside try."""
    for name in NODE_NAMES:
        # Patterns begin with the name, which `re` then looks for ten times as fast.
        word = re.finditer(rb"%b(?![\w$])" % name.encode(), content)
        starts = [it.start() for it in word if _is_name_at(content, it.start())]
        if not starts or len(starts) > _MAX_OCCURRENCES or _is_provided(content, name):
            continue
        declared: set[int] = set()
        used: list[tuple[int, list[Node]]] = []
        is_checked = False
        for start in starts:
            path = _path_to(root, start)
            scope = _declared_in(path)
            if scope is not None:
                declared.add(scope)
            elif _is_checked_by_typeof(path):
                is_checked = True
            elif _is_use(path) and not _is_guarded(content, path, name):
                used.append((start, path))
        free = [at for at, path in used if not any(it.id in declared for it in path)]
        if free:
            yield Finding("name", name, free[0], len(free), not is_checked)


def _is_name_at(content: bytes, start: int) -> bool:
    """Not the end of another name, nor a property after a dot; after three dots, it is spread."""
    before = content[max(0, start - 3) : start]
    return before == b"..." or not _PART_OF_NAME.match(before[-1:])


def _is_provided(content: bytes, name: str) -> bool:
    """Whether the module defines it for all: `globalThis.process = …`."""
    assigned = re.finditer(rb"\.%b\s*(?:\?\?|\|\|)?=(?!=)" % name.encode(), content)
    return any(content.endswith(_GLOBALS, 0, it.start()) for it in assigned)


def _path_to(root: "Node", offset: int) -> "list[Node]":
    """The nodes around a position, from the root to the token."""
    cursor = root.walk()
    path = [root]
    while cursor.goto_first_child_for_byte(offset) is not None:
        node = cursor.node
        if node is None or node.start_byte > offset:
            break
        path.append(node)
    return path


def _is_use(path: "list[Node]") -> bool:
    is_name = path[-1].type in ("identifier", "shorthand_property_identifier")
    return is_name and path[-2].type not in _IMPORTS


def _declared_in(path: "list[Node]") -> int | None:
    """The scope that declares the name at the end of the path; None if it is no declaration."""
    leaf = path[-1]
    if leaf.type not in ("identifier", "shorthand_property_identifier_pattern"):
        return None
    at = len(path) - 2
    while at > 0 and (path[at].type in _PATTERNS or _is_left(path, at, _DEFAULTS)):
        at -= 1
    around, inner = path[at], path[at + 1]
    match around.type:
        case "variable_declarator" if around.child_by_field_name("name") == inner:
            is_var = path[at - 1].type == "variable_declaration"
            return _nearest(path[: at - 1], _FUNCTIONS if is_var else _BLOCKS)
        case "formal_parameters":
            return path[at - 1].id
        case "arrow_function" if around.child_by_field_name("parameter") == inner:
            return around.id
        case "catch_clause" if around.child_by_field_name("parameter") == inner:
            return around.id
        case "for_in_statement" if around.child_by_field_name(
            "left"
        ) == inner and around.child_by_field_name("kind"):
            return _nearest(path[: at + 1], _BLOCKS)
        case kind if kind in _IMPORTS:
            # Of `{ process as other }`, only the alias is declared.
            alias = around.child_by_field_name("alias")
            return path[0].id if alias is None or alias == inner else None
        case kind if kind in _NAMED and around.child_by_field_name("name") == inner:
            return _nearest(path[:at], _NAMED[kind])
        case kind if kind in _NAMES_ITSELF and around.child_by_field_name("name") == inner:
            return around.id
    return None


def _is_left(path: "list[Node]", at: int, kinds: tuple[str, ...]) -> bool:
    return path[at].type in kinds and path[at].child_by_field_name("left") == path[at + 1]


def _nearest(path: "list[Node]", kinds: frozenset[str]) -> int:
    return next(it.id for it in reversed(path) if it.type in kinds)


def _is_checked_by_typeof(path: "list[Node]") -> bool:
    outside = (it for it in reversed(path[:-1]) if it.type != "parenthesized_expression")
    around = next(outside)
    operator = around.child_by_field_name("operator")
    return around.type == "unary_expression" and operator is not None and operator.type == "typeof"


def _is_guarded(content: bytes, path: "list[Node]", name: str) -> bool:
    """Whether it is evaluated only after `typeof` has found it, or inside try."""
    check = re.compile(rb"\btypeof\s*\(?\s*%b(?![\w$])" % name.encode())
    for around, inner in pairwise(path):
        tested: Node | None = None
        match around.type:
            case "try_statement" if around.child_by_field_name("body") == inner:
                return True
            case "if_statement" | "ternary_expression":
                tested = around.child_by_field_name("condition")
            case "binary_expression":
                operator = around.child_by_field_name("operator")
                if operator is not None and operator.type in _EITHER:
                    tested = around.child_by_field_name("left")
        if tested is None or tested == inner:
            continue
        if check.search(content, tested.start_byte, tested.end_byte):
            return True
    return False


def _unresolved_imports(content: bytes, root: "Node") -> Iterator[Finding]:
    """Imports of packages: browsers resolve only URLs and paths. `import()` may never be called."""
    places: dict[tuple[str, bool], list[int]] = defaultdict(list)
    for statement in root.named_children:
        source = statement.child_by_field_name("source")
        if statement.type in ("import_statement", "export_statement") and source is not None:
            places[_text(content, source), True].append(source.start_byte)
    for call in _CALLED_IMPORT.finditer(content):
        literal = _path_to(root, call.end() - 1)
        string = next((it for it in literal if it.type == "string"), None)
        if string is not None and string.start_byte == call.end() - 1:
            places[_text(content, string), False].append(string.start_byte)
    for (specifier, is_static), starts in places.items():
        if not specifier.startswith(("./", "../", "/")) and not _URL.match(specifier):
            yield Finding("import", specifier, starts[0], len(starts), is_static)


def _text(content: bytes, string: "Node") -> str:
    return content[string.start_byte : string.end_byte].decode(errors="replace").strip("\"'")
