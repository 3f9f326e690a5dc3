"""`widget validate` for modules that browsers do not run or that are too large, and `--explain`."""

import base64
import json
from pathlib import Path

import pytest

from support.scripted import Scripted, ScriptedServer
from tool.conftest import SETTINGS
from tool.tool import Tool

NODE = b"""import React from "react";
export function mount(element) { element.textContent = process.env.NODE_ENV; }
"""


def test_what_no_browser_runs_is_an_error_with_what_to_do(tool: Tool, widget: Path) -> None:
    (widget / "index.js").write_bytes(NODE)
    said = tool.run("validate", widget)
    assert (said.code, said.out) == (5, "")
    assert said.err == (
        f"Error: The widget in {widget} has 2 errors.\n"
        '  - main: index.js, line 1, column 19: "react" is imported, which browsers cannot '
        "resolve. Bundle it into the module.\n"
        '      import React from "react";\n'
        "                        ^\n"
        '  - main: index.js, line 2, column 56: "process" is used, which browsers do not have. '
        'Replace it when building, such as process.env.NODE_ENV with "production".\n'
        "      …t function mount(element) { element.textContent = process.env.NODE_ENV; }\n"
        "                                                         ^\n"
        f"       Correct widget.json or the files it names, then run: widget validate {widget}\n"
        f"       Why, and what to do in your bundler: widget validate {widget} --explain\n"
    )


def test_it_is_explained_with_the_settings_of_bundlers(tool: Tool, widget: Path) -> None:
    (widget / "index.js").write_bytes(NODE)
    said = tool.run("validate", widget, "--explain", "--json")
    document = json.loads(said.out)
    process, imports = document["explanations"]
    assert 'define: { "process.env.NODE_ENV": JSON.stringify("production") }' in process
    assert "--bundle --format=esm" in imports
    assert all(len(line) <= 90 for line in "\n".join([process, imports]).splitlines())
    assert "  Vite     in vite.config.js,\n" in said.err


def test_a_host_with_another_contract_may_resolve_packages(tool: Tool, widget: Path) -> None:
    (widget / "index.js").write_bytes(b'import "react"; export default 1;')
    said = tool.run("validate", widget, "--any-module")
    assert said.code == 0
    assert 'Note: index.js, line 1, column 8: "react" is imported' in said.err
    (widget / "index.js").write_bytes(b'import "node:fs"; export default 1;')
    assert tool.run("validate", widget, "--any-module").code == 5
    assert tool.run("validate", widget, "--no-check").code == 0


@pytest.mark.parametrize("is_inline", [False, True])
def test_what_takes_the_room_is_shown_by_package(
    tool: Tool, widget: Path, server: ScriptedServer, is_inline: bool
) -> None:
    server.on("GET", "/api/settings", Scripted(body={**SETTINGS, "maxBundleBytes": 3_000}))
    lines = ["a" * 999, "b" * 1_999, "export const mount = 1;"]
    source_map = {
        "version": 3,
        "sources": ["../node_modules/@acme/chart/x.js", "../src/index.js"],
        # The first line, the second from column 1000 on, and the third: sources 0, 0, 1.
        "mappings": "AAAA;AAAA,w+BCAA;AAAA",
    }
    text = json.dumps(source_map)
    link = "index.js.map"
    if is_inline:
        link = f"data:application/json;base64,{base64.b64encode(text.encode()).decode()}"
    else:
        (widget / link).write_text(text)
    (widget / "index.js").write_text("\n".join([*lines, f"//# sourceMappingURL={link}\n"]))

    said = tool.run("validate", widget)

    assert said.code == 5
    assert "index.js is too large: " in said.err
    assert said.err.rstrip().endswith(" --explain")
    table = [it.split() for it in said.err.splitlines() if "%" in it]
    assert [it[-1] for it in table][:2] == ["@acme/chart", "src/index.js"]
    assert table[0][:3] == ["2.0", "KiB", table[0][2]]
    assert table[1][:2] == ["1023", "bytes"] or table[1][:2] == ["1.0", "KiB"]


@pytest.mark.parametrize("text", ["", "{", '{"mappings": "A!"}', '{"mappings": 1}', "[]"])
def test_a_source_map_that_is_none_is_ignored(
    tool: Tool, widget: Path, server: ScriptedServer, text: str
) -> None:
    server.on("GET", "/api/settings", Scripted(body={**SETTINGS, "maxBundleBytes": 10}))
    (widget / "index.js.map").write_text(text)
    said = tool.run("validate", widget)
    assert said.code == 5
    assert "the limit is 10 bytes. Minify it, or remove something.\n       Correct" in said.err
