"""Modules with valid grammar that no browser loads, and their imports."""

import time
from pathlib import Path

import pytest

from tool.tool import Tool
from widget_cli import syntax_errors
from widget_cli.javascript import ModuleCheck, ModuleFindings, check_module


def findings(source: str, check: ModuleCheck = ModuleCheck.FULL) -> ModuleFindings:
    return check_module("index.js", source.encode(), check)


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("export {mount};", 'line 1, column 9: "mount" is exported, but not declared.'),
        (
            "const ä = 1;\nconst a = 1; const a = 2; export function mount() {}",
            'line 2, column 20: "a" is declared twice.',
        ),
        (
            "/* äöü😀 */ let b = 1; let b = 2; export function mount() {}",
            'line 1, column 27: "b" is declared twice.',
        ),
        (
            "\ufefflet b;\r\nlet b\r\nexport function mount() {}",
            'line 2, column 5: "b" is declared twice.',
        ),
        (
            "export function mount() {}\nclass A {}\nclass A { b() {} }\n",
            'line 3, column 7: "A" is declared twice.',
        ),
        ("\ufefflet b; let b; export let mount;", 'line 1, column 13: "b" is declared twice.'),
        (
            "export function mount() {}\nlet { c, d: c } = {}",
            'line 2, column 13: "c" is declared twice.',
        ),
        ("export const mount = 1; { let e; { var e; } }", '"e" is declared twice.'),
        (
            'import { mount } from "a"; import { mount } from "b"; export { mount };',
            '"mount" is declared twice.',
        ),
        ('import mount from "a"; export function mount() {}', '"mount" is declared twice.'),
        ('import * as a from "a"; let a; export { a as mount };', '"a" is declared twice.'),
        (
            "export function mount() {}\nexport function mount() {}",
            'line 2, column 17: "mount" is declared twice.',
        ),
        ("let mount; export { mount, mount };", '"mount" is exported twice.'),
        (
            "export function mount() { await x; }",
            "column 27: await is allowed only in an async function and at the top level.",
        ),
        (
            "with (a) {} export function mount() {}",
            'line 1, column 1: a module is strict code, which has no "with".',
        ),
        ("return 1; export function mount() {}", "line 1, column 1: return not in a function."),
        (
            "export function mount() { a.#b; }",
            "line 1, column 29: the private name #b is declared in no class around it.",
        ),
        (
            "class A { #x; #y; f(o) { return o.#y } }\nclass B { #x; f(o) { return o.#y } }",
            "line 2, column 31: the private name #y is declared in no class around it.",
        ),
        (
            "/a/;\nexport function mount() { return /(/; }",
            "line 2, column 34: this regular expression is not valid: expecting ')'.",
        ),
        ("\nexport const mount = /a/gg;", "not valid: invalid regular expression flags."),
        ("export const mount = 010;", "Octal literals are not allowed in strict mode."),
    ],
)
def test_what_no_browser_loads_is_refused(source: str, told: str) -> None:
    for check in (ModuleCheck.FULL, ModuleCheck.SYNTAX):
        (error,) = findings(source, check).errors
        assert error.startswith("index.js")
        assert error.splitlines()[0].endswith(told)


@pytest.mark.parametrize(
    "source",
    [
        "var a; var a; function f() { var a; let b; { let b; } } export function mount(a) {}",
        "export async function mount() { await x; for await (const a of b); }",
        "await x; export const mount = 1; label: for (;;) break label;",
        "export let mount; try {} catch (e) { var e; } { function f() {} function g() {} }",
        "export { mount }; function mount() {}",
        'import { mount } from "/a.js"; export { mount }; function f() { let mount; }',
        'import mount, * as b from "/a.js"; export { mount, b as c, mount as d };',
        "export class mount { static #a = 1; static { this.#a; } get b() {} set b(c) {} }",
        "export const mount = /[\\p{L}--[a-z]]/v, b = /(?<a>x)|(?<a>y)/, c = /(?i:a)/;",
        "switch (1) { case 1: { let a; } case 2: { let a; } } export let mount;",
        "export const mount = '\0';",
        "for (let a of b) { let a; } for (let a;;) {} export let mount;",
    ],
)
def test_what_browsers_load_is_not(source: str) -> None:
    assert findings(source) == ((), ())


def test_nothing_of_the_module_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "other.js").write_text("throw new Error('other ran');")
    begun = time.process_time()
    for start in ("", 'import "./other.js";', 'import "/other.js";'):
        assert findings(f"{start} for (;;) {{}} export let mount;").errors == ()
    assert time.process_time() - begun < 4


@pytest.mark.slow
def test_what_only_the_engine_cannot_take_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    many = ",".join(f"v{i}" for i in range(66_000))
    monkeypatch.setattr(syntax_errors, "_MAX_COMPILE_S", 30.0)
    assert findings(f"var {many}; export let mount;").errors == ()
    assert findings("x=" + "[" * 50_000 + "]" * 50_000 + "; export let mount;").errors == ()
    monkeypatch.setattr(syntax_errors, "_MAX_COMPILE_S", 0.0)
    assert findings(f"var {many}; let a; let a; export let mount;").errors == ()


@pytest.mark.parametrize(
    "line",
    [
        'import a from "./other.js";',
        "import './other.js';",
        'export * from "./other.js";',
        'export { a } from "./other.js";',
        'const a = () => import("./other.js");',
    ],
)
def test_a_file_that_is_not_published_is_a_warning(line: str) -> None:
    found = findings(f"{line} export function mount() {{}}")
    assert found.errors == ()
    (warning,) = found.warnings
    assert warning.startswith("The module imports ./other.js, but only this one file is published.")


def test_imports_from_elsewhere_are_the_hosts_matter() -> None:
    source = 'import "https://a.example/a.js"; import "/b.js"; // import "./c.js"'
    source += "\nexport let mount;"
    assert findings(source) == ((), ())


def test_validate_refuses_it(tool: Tool, widget: Path) -> None:
    (widget / "index.js").write_text("const a = 1;\nconst a = 2;\nexport function mount() {}\n")
    said = tool.run("validate", widget)
    assert said.code == 5
    assert '  - main: index.js, line 2, column 7: "a" is declared twice.\n' in said.err
    assert tool.run("validate", widget, "--no-check").code == 0


def test_what_the_engine_compiles_is_right_even_if_the_grammar_does_not_know_it() -> None:
    names = "const f = 1; export { f as enum, f as function };"
    assert findings(f"export function mount() {{}} {names}") == ModuleFindings()
    assert findings(names, ModuleCheck.SYNTAX) == ModuleFindings()
    found = findings(names)
    assert found.errors == ()
    assert "whether it exports mount" in found.warnings[0]
