"""`widget dev`: the real tool serves a widget to a real browser, and reloads changed files."""

import http.client
import json
import os
import re
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from support.chromium import complaints_of
from tool.tool import Tool
from widget_cli.javascript import ModuleCheck
from widget_cli.preview_server import PreviewedWidget

pytestmark = pytest.mark.slow

Dev = tuple[Path, str]


@pytest.fixture(scope="module")
def dev(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dev]:
    """A new widget under development: its folder, and its URL."""
    tool = Tool(tmp_path_factory.mktemp("author"))
    folder = tool.begin("clock")
    with tool.start("dev", "clock", "--no-browser") as started:
        assert started.stderr is not None
        found = re.search(r"http://127\.0\.0\.1:\d+/", started.stderr.readline())
        assert found is not None
        yield folder, found[0]
        started.send_signal(signal.SIGINT)
        _, said = started.communicate(timeout=60)
        assert started.returncode == 0, said
        assert said.endswith("Stopped.\n")


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 900}, locale="en-GB")
    page = context.new_page()
    complaints = complaints_of(page)
    yield page
    assert complaints == []
    context.close()


def ask(url: str, path: str, **headers: str) -> tuple[int, bytes, dict[str, str]]:
    host = url.split("/")[2]
    connection = http.client.HTTPConnection(host, timeout=60)
    connection.request("GET", path, headers={"Host": host, **headers})
    response = connection.getresponse()
    found = response.status, response.read(), dict(response.getheaders())
    connection.close()
    return found


def test_the_widget_runs_again_at_every_save_and_errors_are_shown(dev: Dev, page: Page) -> None:
    folder, url = dev
    page.goto(url)
    widget = page.frame_locator("iframe").get_by_role("group")
    expect(widget).to_contain_text("It works.")
    expect(page.get_by_role("heading", name="Clock")).to_be_visible()

    module = (folder / "index.js").read_text()
    (folder / "index.js").write_text(module.replace("It works.", "It works again."))
    expect(widget).to_contain_text("It works again.")

    manifest = json.loads((folder / "widget.json").read_text())
    (folder / "widget.json").write_text(json.dumps(manifest | {"version": "one", "icon": "x y"}))
    findings = page.get_by_role("log")
    expect(findings).to_contain_text("This cannot be published yet.")
    expect(findings.get_by_role("listitem")).to_have_count(2)
    # The last version without errors keeps running.
    expect(widget).to_contain_text("It works again.")

    (folder / "index.js").write_text("export function mount( {")
    (folder / "widget.json").write_text(json.dumps(manifest))
    expect(findings).to_contain_text("main: index.js, line 1")

    text = {"type": "string", "default": "Hello"}
    schema = {"properties": {"text": text}, "examples": [{"text": "Good night"}]}
    (folder / "widget.json").write_text(json.dumps(manifest | {"configSchema": schema}))
    (folder / "index.js").write_text(module)
    expect(findings).to_be_hidden()
    expect(widget).to_contain_text("Hello")
    page.get_by_label("Text").fill("<b>Good</b> morning")
    expect(widget).to_contain_text("<b>Good</b> morning")
    page.get_by_role("button", name="Example 1").click()
    expect(widget).to_contain_text("Good night")
    page.get_by_role("button", name="Stop").click()
    expect(page.locator("iframe")).to_have_count(0)


def test_other_sites_get_nothing(dev: Dev) -> None:
    _, url = dev
    port = url.split(":")[2].rstrip("/")
    status, state, _ = ask(url, "/state")
    bundle = json.loads(state)["version"]["bundleUrl"]
    assert (status, ask(url, bundle)[0]) == (200, 200)
    assert ask(url, "/state", Host=f"localhost:{port}")[0] == 200
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", f"127.0.0.1:{port}.evil"):
        assert ask(url, "/state", Host=host)[0] == 403
    for site in ("cross-site", "same-site"):
        headers = {"Sec-Fetch-Site": site}
        for path in ("/state", bundle, "/preview/frame.html", "/changes"):
            assert ask(url, path, **headers)[0] == 403
    status, _, headers = ask(url, "/")
    assert status == 200
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"


@pytest.mark.parametrize("path", ["/nothing", "/files/widget.json", "/preview/../main.py", "/../"])
def test_only_what_the_page_needs_is_served(dev: Dev, path: str) -> None:
    assert ask(dev[1], path)[0] == 404


def test_it_says_what_is_wrong_and_ends_where_there_is_no_widget(tmp_path: Path) -> None:
    said = Tool(tmp_path).run("dev", "--no-browser")
    assert (said.code, "There is no widget.json in this folder." in said.err) == (5, True)


def test_a_port_that_is_taken_is_reported(dev: Dev, tmp_path: Path) -> None:
    tool = Tool(tmp_path)
    tool.begin("clock")
    port = dev[1].split(":")[2].rstrip("/")
    said = tool.run("dev", "clock", "--no-browser", "--port", port)
    assert (said.code, f"Cannot listen on port {port}" in said.err) == (1, True)


def test_the_terminal_tells_errors_as_they_come(tmp_path: Path) -> None:
    tool = Tool(tmp_path)
    folder = tool.begin("clock")
    (folder / "index.js").write_text("export const a = 1;")
    with tool.start("dev", "clock", "--no-browser") as started:
        assert started.stderr is not None
        lines = [started.stderr.readline() for _ in range(3)]
        started.send_signal(signal.SIGINT)
        started.communicate(timeout=60)
    assert lines[1] == "Errors:\n"
    assert "mount" in lines[2]
    assert started.returncode == 0


def test_the_line_of_a_syntax_error_is_shown_below_it(tmp_path: Path) -> None:
    tool = Tool(tmp_path)
    folder = tool.begin("clock")
    (folder / "index.js").write_text("syntax error here (")
    with tool.start("dev", "clock", "--no-browser") as started:
        assert started.stderr is not None
        lines = [started.stderr.readline() for _ in range(5)]
        started.send_signal(signal.SIGINT)
        started.communicate(timeout=60)
    assert lines[1:] == [
        "Errors:\n",
        '  - main: index.js, line 1, column 8: unexpected "error".\n',
        "      syntax error here (\n",
        "             ^\n",
    ]


def test_the_same_warnings_are_printed_once(tool: Tool) -> None:
    """Otherwise they hide what is new, at every save."""
    folder = tool.begin("clock")
    manifest = folder / "widget.json"
    manifest.write_text(manifest.read_text().replace('"permissions"', '"permisions"'))
    with tool.start("dev", "clock", "--no-browser") as started:
        assert started.stderr is not None
        lines = [started.stderr.readline() for _ in range(3)]
        (folder / "index.js").write_text((folder / "index.js").read_text() + "// Saved.\n")
        lines.append(started.stderr.readline())
        started.send_signal(signal.SIGINT)
        started.communicate(timeout=60)
    assert lines[1] == "OK, with warnings:\n"
    assert "permisions" in lines[2]
    assert lines[3] == "OK, with the same warnings.\n"


@pytest.mark.parametrize("end", [signal.SIGHUP, signal.SIGTERM])
def test_the_build_ends_with_the_terminal(tool: Tool, end: signal.Signals) -> None:
    folder = tool.begin("clock")
    (folder / "node_modules").mkdir()
    watch = "echo $$ > pid && touch index.js && exec sleep 100"
    (folder / "package.json").write_text(json.dumps({"scripts": {"watch": watch}}))
    with tool.start("dev", "clock", "--no-browser") as started:
        assert started.stderr is not None
        assert "npm run watch" in started.stderr.readline()
        assert "The widget runs at" in started.stderr.readline()
        started.send_signal(end)
        started.communicate(timeout=60)
    assert started.returncode == 128 + end
    with pytest.raises(ProcessLookupError):
        os.kill(int((folder / "pid").read_text()), 0)


def test_a_module_that_a_build_replaces_is_missing_only_if_that_lasts(tmp_path: Path) -> None:
    folder = Tool(tmp_path).begin("clock")
    widget = PreviewedWidget(folder, ModuleCheck.FULL)
    before = widget.state()
    content = (folder / "index.js").read_text()

    (folder / "index.js").unlink()
    assert widget.state() == before
    (folder / "index.js").write_text("")
    assert widget.state() == before
    (folder / "index.js").write_text(content.replace("It works", "It changes"))
    assert (widget.state().revision, widget.state().errors) == (before.revision + 1, [])

    (folder / "index.js").unlink()
    widget.state()
    time.sleep(2.1)
    assert "there is no file index.js" in widget.state().errors[0]


def test_a_source_that_is_not_built_soon_is_a_warning_on_the_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its build has failed, which only the terminal shows."""
    monkeypatch.delenv("CI", raising=False)
    folder = Tool(tmp_path).begin("clock")
    (folder / "package.json").write_text('{"scripts": {"build": "", "watch": ""}}')
    (folder / "src").mkdir()
    (folder / "src" / "a.ts").write_text("")
    (folder / "src" / "a.test.ts").write_text("")
    os.utime(folder / "index.js", (time.time() + 5, time.time() + 5))
    widget = PreviewedWidget(folder, ModuleCheck.FULL)
    assert widget.state().warnings == []

    os.utime(folder / "src" / "a.test.ts", (time.time() + 9, time.time() + 9))  # It builds nothing.
    os.utime(folder / "src" / "a.ts", (time.time() + 9, time.time() + 9))
    assert widget.state().warnings == []
    time.sleep(3.1)
    newer = "main: src/a.ts was changed after index.js was built. "
    assert widget.state().warnings == [newer + "If its build failed, the terminal says why."]

    os.utime(folder / "index.js", (time.time() + 20, time.time() + 20))
    assert widget.state().warnings == []


def test_settings_of_an_older_version_are_migrated(dev: Dev, page: Page) -> None:
    folder, url = dev
    manifest, module = (folder / "widget.json").read_text(), (folder / "index.js").read_text()
    migrate = "export const migrate = ({ old }, from) => ({ text: `${old} of ${from}` });\n"
    schema = {"properties": {"text": {"type": "string", "title": "Words"}}}
    changed = json.loads(manifest) | {"configSchema": schema, "configVersion": 3}
    (folder / "widget.json").write_text(json.dumps(changed))
    (folder / "index.js").write_text(module + migrate)
    page.goto(url)
    page.get_by_text("Open with settings of another version").click()
    expect(page.get_by_label("Their version")).to_have_value("2")
    page.get_by_label("Their version").fill("1")
    page.get_by_label("The settings, as JSON").fill('{"old": "Words"}')
    page.get_by_role("button", name="Open").click()
    widget = page.frame_locator("iframe").get_by_role("group")
    expect(widget).to_contain_text("Words of 1")
    expect(page.get_by_label("Words", exact=True)).to_have_value("Words of 1")
    (folder / "widget.json").write_text(manifest)
    (folder / "index.js").write_text(module)
