"""What no browser can run in a module: free names of Node, and imports that are not resolved."""

import pytest

from widget_contract.browser_modules import find_unsupported, parse_module

Found = list[tuple[str, int, bool]]


def found_in(text: str) -> Found:
    content = text.encode()
    root = parse_module(content).root_node
    assert not root.has_error
    return [(it.subject, it.uses, it.is_certain) for it in find_unsupported(content, root)]


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("console.log(process.env.NODE_ENV)", [("process", 1, True)]),
        ("({ process }); [...process.argv]", [("process", 2, True)]),
        ("{ let process = 1; process } process.x", [("process", 1, True)]),
        ("const { a = process.x } = {}", [("process", 1, True)]),
        ("(function process() { process })(); process", [("process", 1, True)]),
        ('import { process as p } from "./x.js"; process.x', [("process", 1, True)]),
        ("class A { static { const global = 1; global } } global.x", [("global", 1, True)]),
        ('module.exports = require("x")', [("module", 1, True), ("require", 1, True)]),
        (
            "const a = () => __dirname + __filename",
            [("__dirname", 1, True), ("__filename", 1, True)],
        ),
        ("function f() { if (x) { const Buffer = 1 } Buffer.from() }", [("Buffer", 1, True)]),
    ],
)
def test_a_name_that_nothing_declares_is_found(text: str, wanted: Found) -> None:
    assert found_in(text) == wanted


@pytest.mark.parametrize(
    "text",
    [
        "var process = {}; process.x",
        "process.x; var process",
        "function f(process) { return process.env }",
        "const f = process => process.env",
        "const f = async ({ a: { process = 1 } }, ...global) => [process, global]",
        "function f() { { var process = 1 } process.x }",
        "function f() { return require(1); function require(it) { return it } }",
        'import process from "./p.js"; process.x',
        'import * as process from "./p.js"; process.x',
        'import { a as process } from "./p.js"; process.x',
        "for (const module of []) module; for (let i = 0, exports = 1; ; ) exports",
        "const [{ a: process = 1, ...Buffer }] = x; process; Buffer",
        "try {} catch (process) { process.x } try {} catch ({ global }) { global.x }",
        "const x = function (exports, module) { exports.a = module }",
        "const A = class global { m(require) { require() } n() { global } }",
        "class Buffer {} new Buffer()",
        "switch (1) { case 1: let process = 1; case 2: process }",
    ],
)
def test_a_declared_name_is_none(text: str) -> None:
    assert found_in(text) == []


@pytest.mark.parametrize(
    "text",
    [
        'a.process; ({ process: 1 }); "process"; `process`; /* process */ /process/',
        "window.process.x; globalThis.global; this.require; a?.Buffer",
        "class A { process = 1; #global = 2; require() { return this.#global } }",
        "const preprocess = 1, $process = 2, process2 = 3; preprocess + $process + process2",
        "process: for (;;) { break process }",
        "globalThis.process ??= { env: {} }; process.env.x",
        "window.global = window; global.x",
    ],
)
def test_other_things_with_that_name_are_none(text: str) -> None:
    assert found_in(text) == []


@pytest.mark.parametrize(
    "text",
    [
        'if (typeof process !== "undefined") process.env.x',
        'typeof process !== "undefined" && process.env.x',
        'typeof process === "undefined" || process.env.x',
        'const dev = typeof process == "object" ? process.env.NODE_ENV : ""',
        'if (typeof (process) !== "undefined" && process.versions) { (() => process.x)() }',
        "try { process.x } catch {}",
        "typeof process",
    ],
)
def test_a_use_after_a_check_is_none(text: str) -> None:
    assert found_in(text) == []


def test_where_a_module_checks_a_name_at_all_another_use_is_uncertain() -> None:
    text = 'const isNode = typeof process !== "undefined"; if (isNode) process.exit(1)'
    assert found_in(text) == [("process", 1, False)]


def test_imports_that_no_browser_resolves() -> None:
    text = """
import "react"; import x from "https://x.example/x.js"; import y from "./y.js";
import z from "/z.js"; import data from "data:text/javascript,";
export * from "lodash"; export { a } from "@scope/a"; import fs from 'node:fs';
const later = () => import("chart.js"); import("./part.js"); import(name); "import('no')";
export const react = 1; export { react as default };
"""
    assert found_in(text) == [
        ("react", 1, True),
        ("lodash", 1, True),
        ("@scope/a", 1, True),
        ("node:fs", 1, True),
        ("chart.js", 1, False),
    ]


def test_a_finding_says_what_to_do() -> None:
    content = b'import "react"; import("node:fs"); process.a; process.b'
    told = [str(it) for it in find_unsupported(content, parse_module(content).root_node)]
    assert "\n".join(told) == (
        '"react" is imported, which browsers cannot resolve. Bundle it into the module.\n'
        '"node:fs" is imported, which browsers cannot resolve. It may fail there. '
        "It exists only in Node: remove it.\n"
        '"process" is used (2 times), which browsers do not have. '
        'Replace it when building, such as process.env.NODE_ENV with "production".'
    )


def test_a_name_in_a_deep_or_long_module_takes_no_time() -> None:
    deep = "(" * 2_000 + "process" + ")" * 2_000
    assert found_in(deep) == [("process", 1, True)]
    many = "function f(process) {" + "process.a();" * 4_000 + "}"
    assert found_in(many) == []
