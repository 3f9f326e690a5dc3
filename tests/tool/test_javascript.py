"""The module is parsed before it is published: syntax, TypeScript, JSX, and the export `mount`."""

import gc
import json
import os
import signal
import threading
import time
from pathlib import Path

import pytest

from support.commands import Said
from support.scripted import ScriptedServer
from tool.publishing import PUBLISH
from tool.tool import Tool
from widget_cli.javascript import ModuleCheck, check_module

pytestmark = pytest.mark.slow

MODULE = """export function mount(element, context = {}) {
  const a = 1;
  %s
  return { unmount() { element.replaceChildren(); } };
}
"""


def errors_of(source: str, check: ModuleCheck = ModuleCheck.FULL) -> list[str]:
    return list(check_module("index.js", source.encode(), check).errors)


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("if (a { b(); }", 'index.js, line 3, column 8: ")" is missing.'),
        ("foo(1, 2;", 'index.js, line 3, column 11: ")" is missing.'),
        ("const s = 'abc;", "index.js, line 3, column 13: this string is not closed."),
        ("const x = ;", 'index.js, line 3, column 13: unexpected ";".'),
        ("let b = 1,;", 'index.js, line 3, column 13: unexpected ";".'),
        ("const = 3;", 'index.js, line 3, column 9: unexpected "=".'),
        ("let y = { b: };", "index.js, line 3, column 15: a name or value is missing."),
        ("foo();)", 'index.js, line 3, column 9: unexpected ")".'),
        ("/* ends nowhere", "index.js, line 3, column 3: this comment is not closed."),
        ("func mount() {}", 'index.js, line 3, column 8: unexpected "mount".'),
        ("a(/[/);", "index.js, line 3, column 5: this regular expression is not closed."),
    ],
)
def test_a_syntax_error_is_reported_with_its_line_and_column(line: str, told: str) -> None:
    (error,) = errors_of(MODULE % line)
    assert error.splitlines()[0] == told


def test_an_error_is_where_the_text_stops_making_sense() -> None:
    assert errors_of("export function mount( {")[0].splitlines() == [
        "index.js, line 1, column 25: unexpected end.",
        "export function mount( {",
        "                        ^",
    ]
    assert 'line 2, column 10: unexpected "(".' in errors_of("let a;\nfunction (")[0]


@pytest.mark.parametrize(
    "line",
    [
        "let n: number = 1;",
        "function f(a: string): void {}",
        "const p = a as any;",
        "interface Size { w: number }",
        "type Size = { w: number };",
        "enum Color { Red }",
        "class A { private x = 1; }",
        "function f<T>(a) {}",
    ],
)
def test_typescript_is_named(line: str) -> None:
    (error,) = errors_of(MODULE % line)
    assert "This looks like TypeScript: compile it to JavaScript first." in error


@pytest.mark.parametrize("tag", ["<b>hi</b>", "<Clock />", "<></>", "<a.b c={1} {...d}/>"])
def test_jsx_is_refused_although_the_grammar_knows_it(tag: str) -> None:
    (error,) = errors_of(MODULE % f"element.append({tag});")
    assert error == (
        "index.js, line 3, column 18: this is JSX. Compile it to JavaScript first.\n"
        f"  element.append({tag});\n"
        "                 ^"
    )


@pytest.mark.parametrize(
    "source",
    [
        "export function mount() {}",
        "export async function mount() {}",
        "export function* mount() {}",
        "export class mount {}",
        "export const mount = () => {}",
        "export var a, mount;",
        "export let { mount } = api;",
        "export let { a: [b, ...mount] = [] } = api;",
        "export const { mount = 1, ...rest } = api;",
        "function a() {}export{a as mount}",
        "const mount = 1, a = 2; export { /* this */ a, mount, };",
        "const a = 1; export { a as 'mount' };",
        'export { mount } from "/mount.js"',
        'export { default as mount } from "/mount.js"',
        'export * as mount from "/mount.js"',
        'export default 1; export * from "/a.js"; export { x as mount } from "/b.js"',
        "\ufeff#!/usr/bin/env node\nexport function mount() {}",
        "export const mount = () => `<b>${'</b>'}` + /<a>/.source // <a></a>",
        "export const mount = a => a?.b ?? (c ||= 1_000n) ** 2, d = import.meta.url;",
        "export class mount { static #a = 1; static { this.#a; } get [b]() {} async *c() {} }",
        "import a from '/a.json' with { type: 'json' };\nexport const mount = await a",
    ],
)
def test_every_way_to_export_mount_is_known(source: str) -> None:
    assert check_module("index.js", source.encode(), ModuleCheck.FULL) == ((), ())


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("// export function mount() {}", "pass --any-module"),
        ("/* export { mount } */ export const a = 'export const mount = 1'", "pass --any-module"),
        ("export const a = `export function mount() {}`", "pass --any-module"),
        ("function mount() {}", "pass --any-module"),
        ("export const { mount: a } = b", "pass --any-module"),
        ("export { mount as a }; const mount = 1", "pass --any-module"),
        ("export const unmount = 1, mounted = 2", "pass --any-module"),
        (
            "export default { mount() {} }",
            "A default export is not enough: write export { mount }.",
        ),
        ("export default function mount() {}", "A default export is not enough"),
        ("const mount = 1; export { mount as default }", "A default export is not enough"),
        ("module.exports = { mount() {} }", "It looks like CommonJS: build it as an ES module."),
        ("!function(e){e.exports={}}(module); exports.mount = 1", "It looks like CommonJS"),
        ("const a = 'module.exports = 1' // exports.b = 1", "pass --any-module"),
    ],
)
def test_what_does_not_export_mount_is_refused_with_the_reason(source: str, reason: str) -> None:
    (error,) = errors_of(source)
    assert error.startswith("index.js does not export mount(element, context), which dashboards")
    assert reason in error
    assert errors_of(source, ModuleCheck.SYNTAX) == []


def test_exports_that_are_passed_on_cannot_be_known_and_are_a_warning() -> None:
    found = check_module("index.js", b"export * from './widget.js'", ModuleCheck.FULL)
    assert found.errors == ()
    assert (
        'index.js has "export * from", so whether it exports mount cannot be checked'
        in found.warnings[0]
    )


def test_of_a_long_line_only_the_place_is_shown() -> None:
    source = "let a=1;" * 10_000 + "ä`ö`;let b=;" + "let c=1;" * 10_000
    first, line, mark = errors_of(source)[0].splitlines()
    assert first == 'index.js, line 1, column 80,011: unexpected "=".'
    assert line == "…" + ("let a=1;" * 10 + "ä`ö`;let b")[-50:] + ("=;" + "let c=1;" * 5)[:25] + "…"
    assert line[mark.index("^")] == "="


@pytest.mark.parametrize(
    ("source", "is_fine"),
    [
        ("[" * 200_000 + "]" * 200_000, True),
        ("(" * 200_000, False),
        ("{" * 400_000, False),
        ("a=>" * 200_000 + "1", True),
        ("if(a)" * 100_000 + ";", True),
        ("`${" * 200_000, False),
        ("<a>" * 200_000, False),
        ("x = " + "<a>" * 50_000 + "</a>" * 50_000, False),
    ],
)
def test_deep_nesting_is_no_trouble(source: str, is_fine: bool) -> None:
    assert (errors_of(source, ModuleCheck.SYNTAX) == []) is is_fine


def test_a_large_module_is_parsed_in_a_moment() -> None:
    piece = "function f{0}(a,b){{return a&&b.c[{0}]?`<b>${{a}}</b>`:{{d:a=>a+{0},'e':/x{0}/g}}}}"
    source = "".join(piece.format(i) for i in range(12_000)) + "export{f1 as mount}"
    assert len(source) > 800_000
    begun = time.process_time()
    assert errors_of(source) == []
    assert time.process_time() - begun < 4  # Takes half a second on an idle machine.


def test_what_is_no_javascript_at_all_does_not_keep_the_parser_busy(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("widget_cli.javascript._MAX_PARSE_S", 1.0)
    begun = time.process_time()
    (error,) = errors_of("'" * 1_000_000)
    assert error.startswith("index.js could not be parsed within 1 seconds.")
    assert "pass --no-check" in error
    assert time.process_time() - begun < 10


class Interrupted(Exception):
    pass


def test_a_signal_may_interrupt_it_at_any_time() -> None:
    """Ctrl-C while a widget is checked is no internal error."""

    def interrupt(*_: object) -> None:
        raise Interrupted

    source = "a(1);\n" * 400_000

    def check_interrupted(after_s: float) -> None:
        later = threading.Timer(after_s, os.kill, (os.getpid(), signal.SIGUSR1))
        later.start()
        try:
            errors_of(source)
        finally:
            later.join()

    errors_of("a(1);")  # Loads the parser.
    before = signal.signal(signal.SIGUSR1, interrupt)
    gc.disable()  # Hypothesis is called back by the collector, which ignores what that raises.
    try:
        for number in range(10):
            with pytest.raises(Interrupted):
                check_interrupted(0.02 + number * 0.003)
    finally:
        gc.enable()
        signal.signal(signal.SIGUSR1, before)


def test_validate_and_publish_refuse_it_and_show_the_place(
    signed_in: Tool, widget: Path, catalog: ScriptedServer
) -> None:
    (widget / "index.js").write_text("export function mount(element) {\n\telement.append(1;\n}\n")
    refused = (
        f"Error: The widget in {widget} has an error.\n"
        '  - main: index.js, line 2, column 18: ")" is missing.\n'
        "       element.append(1;\n"
        "                       ^\n"
        f"       Correct widget.json or the files it names, then run: widget validate {widget}\n"
    )
    for arguments in (("validate",), ("publish", "--yes"), ("publish", "--dry-run")):
        assert signed_in.run(*arguments, widget) == Said(5, "", refused)
    told = json.loads(signed_in.run("validate", widget, "--json").out)
    assert told["details"] == [
        'main: index.js, line 2, column 18: ")" is missing.\n element.append(1;\n                 ^'
    ]
    assert catalog.of("POST", PUBLISH) == []


def test_no_check_and_any_module_go_on(
    signed_in: Tool, widget: Path, catalog: ScriptedServer
) -> None:
    module = widget / "index.js"
    module.write_text("export const setup = 1;")
    assert signed_in.run("validate", widget).code == 5
    assert signed_in.run("validate", widget, "--any-module").code == 0
    module.write_text("let x: number = 1;")
    assert signed_in.run("validate", widget, "--any-module").code == 5
    assert signed_in.run("validate", widget, "--no-check").code == 0
    assert signed_in.run("publish", widget, "--yes", "--no-check").code == 0
    assert catalog.of("PUT", "/put")[0].body == b"let x: number = 1;"


def test_the_description_of_the_template_is_refused_at_publish(
    signed_in: Tool, catalog: ScriptedServer
) -> None:
    assert signed_in.run("init", "clock", "--template", "plain").code == 0
    for how in ("--yes", "--dry-run"):
        assert signed_in.run("publish", "clock", how) == Said(
            5,
            "",
            "Error: The widget in clock has an error.\n"
            "  - description: it is still the placeholder that widget init wrote. "
            "Describe in a sentence what the widget shows, or remove it.\n"
            "       Correct that, then run: widget publish clock\n",
        )
    assert catalog.asked == []


def test_the_description_in_the_readme_of_the_template_is_refused_too(signed_in: Tool) -> None:
    assert signed_in.run("init", "clock", "--template", "ts").code == 0
    folder = signed_in.home / "clock"
    (folder / "dist").mkdir()
    (folder / "dist" / "index.js").write_text("export function mount() {}")
    placeholder = "README.md: its description is still the placeholder that widget init wrote."
    checked = signed_in.run("validate", folder)
    assert f"Note: {placeholder} widget publish rejects it.\n" in checked.err

    said = signed_in.run("publish", "clock", "--yes")

    advice = 'Replace the line "Says in one sentence what the widget shows."'
    assert (said.code, f"  - {placeholder} {advice}\n" in said.err) == (5, True)
    assert said.err.startswith("Error: The widget in clock has 2 errors.\n")


def test_the_template_passes_once_it_is_described(
    signed_in: Tool, widget: Path, catalog: ScriptedServer
) -> None:
    assert signed_in.run("validate", widget) == Said(0, "Valid: clock 0.1.0, 1.6 KiB.\n", "")
    assert signed_in.run("publish", widget, "--yes").code == 0
