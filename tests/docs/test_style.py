"""Rules of style that linters do not have."""

import ast
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeGuard

ROOT = Path(__file__).parents[2]
FOLDERS = ("src", "tests", "bench", "clients", "release", "requirements")
_SHORT = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.Lambda)


def test_it_is_bound_and_used_in_one_line_and_docstrings_can_be_read_alone() -> None:
    files = [file for folder in FOLDERS for file in (ROOT / folder).rglob("*.py")]
    assert len(files) > 900
    found = []
    for file in files:
        name = file.relative_to(ROOT).as_posix()
        if "node_modules" not in file.parts:
            nodes = list(ast.walk(ast.parse(file.read_text(encoding="utf-8"))))
            found += [f"{name}:{line}" for line in {*_long_its(nodes), *_continued(nodes)}]
    assert not found


def test_the_rules_find_what_breaks_them() -> None:
    code = [
        "def of(it): return it",
        "x = [it for it in y]",
        "for it in x: pass",
        "x = [\n    it\n    for it in y\n]",
        "x = sorted(y, key=lambda it: it[0])",
        'def f():\n    """The same, but later."""',
        'x = 1\n"""Also this."""',
        'def f():\n    """This is the same."""',
    ]

    trees = [list(ast.walk(ast.parse(it))) for it in code]

    assert [any(_long_its(it)) for it in trees] == [True, False, True, True, *[False] * 4]
    assert [any(_continued(it)) for it in trees] == [*[False] * 5, True, True, False]


def _long_its(nodes: Sequence[ast.AST]) -> Iterator[int]:
    """The lines that bind `it` for more than themselves."""
    short: set[ast.AST] = set()
    for node in nodes:
        if isinstance(node, _SHORT):
            inside = [part for part in ast.walk(node) if _is_it(part)]
            if len({part.lineno for part in inside}) == 1:
                short.update(inside)
    for node in nodes:
        if _is_it(node) and node not in short and _is_binding(node):
            yield node.lineno


def _is_it(node: ast.AST) -> TypeGuard[ast.arg | ast.Name]:
    if isinstance(node, ast.Name):
        return node.id == "it"
    return isinstance(node, ast.arg) and node.arg == "it"


def _is_binding(node: ast.arg | ast.Name) -> bool:
    return isinstance(node, ast.arg) or isinstance(node.ctx, ast.Store)


def _continued(nodes: Sequence[ast.AST]) -> Iterator[int]:
    """The lines of docstrings that continue another one."""
    for node in nodes:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            text = node.value.value
            if isinstance(text, str) and text.startswith(("The same", "Also ")):
                yield node.lineno
