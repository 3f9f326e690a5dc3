"""The sandbox in Chromium: a page of another origin than the catalog's, under a strict policy."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Frame, Page, Route

from client.runtimes import CLIENT, JAVASCRIPT, ClientCatalog
from support.chromium import wait_for_page, wait_until
from support.scripted import Scripted
from support.service import run_command

PAGE_CODE = Path(__file__).with_name("sandbox_page.js")
HTML = """<!doctype html>
<title>Dashboard</title>
<link rel="stylesheet" href="/sandbox.css">
<div id="place"></div>
<script type="module" src="/sandbox-main.js"></script>
"""
CSS = b"#place > div { width: 300px; height: 200px; }\n"
MAIN = """import {{ Catalog }} from "{base}/client/v1/client.js";
import {{ mount }} from "{base}/client/v1/sandbox.js";
import {{ start }} from "/sandbox-page.js";
start({{ Catalog, mount, base: "{base}" }});
"""
# Keeps its context for the test, which plays the widget.
PROBE = """export function mount(element, context) {
  globalThis.context = context;
  element.textContent = Object.keys(context).sort().join(" ");
  return { update(config) { globalThis.updated = config; } };
}"""


@pytest.fixture(scope="module")
def page(catalog: ClientCatalog, browser: Browser) -> Iterator[Page]:
    url, dashboard = catalog.url, catalog.dashboard
    policy = (
        f"default-src 'none'; script-src 'self' {url}; style-src 'self'; frame-src {url}/frame/v1; "
        f"connect-src {url} https:; require-trusted-types-for 'script'"
    )
    html = {"Content-Type": "text/html", "Content-Security-Policy": policy}
    dashboard.on("GET", "/sandboxed", Scripted(200, HTML.encode(), html))
    dashboard.on("GET", "/sandbox.css", Scripted(200, CSS, {"Content-Type": "text/css"}))
    dashboard.on("GET", "/sandbox-page.js", Scripted(200, PAGE_CODE.read_bytes(), JAVASCRIPT))
    main = MAIN.format(base=url).encode()
    dashboard.on("GET", "/sandbox-main.js", Scripted(200, main, JAVASCRIPT))
    context = browser.new_context(locale="en-GB")
    page = context.new_page()
    page.goto(f"{dashboard.url}/sandboxed")
    wait_until(page, "'run' in window")
    yield page
    context.close()


@pytest.fixture(autouse=True)
def _nothing_is_unseen(page: Page) -> Iterator[None]:
    yield
    page.evaluate("for (const { widget } of all.values()) widget?.unmount()")
    assert page.evaluate("takeUnseen()") == []


def run(page: Page, name: str, code: str = PROBE, options: str = "{}") -> str:
    """The outcome of mounting this module, with options as an expression."""
    script = f"([name, code]) => run(name, {{ ...bundle(code), ...({options}) }})"
    return str(page.evaluate(script, [name, code]))


def frame_of(page: Page, name: str) -> Frame:
    frame = page.locator(f"#{name} iframe").element_handle().content_frame()
    assert frame is not None
    return frame


def states(page: Page, name: str) -> list[list[str]]:
    found: list[list[str]] = page.evaluate("(name) => of(name).states", name)
    return found


def wait_for_state(page: Page, name: str, state: str, sentence: str) -> None:
    wait_for_page(page, lambda: states(page, name)[-1] == [state, sentence], sentence)


def test_every_key_of_the_context_is_answered_by_the_page(page: Page) -> None:
    assert run(page, "full", options="fullHost(code)") == "running"
    assert states(page, "full") == [["loading", "Loading …"], ["running", "Running."]]
    frame = frame_of(page, "full")
    assert frame.locator("#place").inner_text() == (
        "call config data fetchImage fetchJson locale locate now sdkVersion states storage watch "
        "watchStates"
    )
    seen = frame.evaluate(
        """async () => {
          globalThis.heard = [];
          context.storage.set("list", [1]);
          context.storage.set("text", undefined);
          context.watch("weather", (value) => heard.push(value));
          globalThis.stop = context.watchStates("light.*", (found) => heard.push(found));
          const blob = await context.fetchImage("https://api.example/a.svg");
          const image = new Image();
          image.src = URL.createObjectURL(blob);
          await image.decode();
          return {
            config: context.config, locale: context.locale, sdk: context.sdkVersion,
            year: context.now().getUTCFullYear(), data: context.data,
            storage: ["text", "list", "none"].map((key) => context.storage.get(key) ?? null),
            json: await context.fetchJson("https://api.example/x"), image: blob.type,
            place: await context.locate(), states: await context.states("light.*"),
            call: await context.call("light.turn_on", { entity: "light.desk", data: { level: 3 } }),
            color: getComputedStyle(place).color,
            scheme: document.documentElement.style.colorScheme,
            origin: self.origin,
          };
        }"""
    )
    both = ("light.desk", "light.desk_2")
    desk = [{"entity": it, "state": "on", "attributes": {}} for it in both]
    assert seen == {
        "config": {"face": "round"},
        "locale": "de",
        "sdk": "2.2.0",
        "year": 1970,
        "data": {"weather": {"temperature": 14}},
        "storage": [None, [1], None],
        "json": {"from": "page"},
        "image": "image/svg+xml",
        "place": {"latitude": 1, "longitude": 2, "place": "Here"},
        "states": desk,
        "call": "done",
        "color": "rgb(1, 2, 3)",
        "scheme": "dark",
        "origin": "null",
    }
    assert page.evaluate("asked") == [
        ["set", "list", [1]],
        ["set", "text", None],
        "https://api.example/x",
        ["light.turn_on", {"entity": "light.desk", "data": {"level": 3}}],
    ]
    page.evaluate(
        """() => {
          later["weather"]({ temperature: 15 });
          later["light.*"]([{ entity: "light.bed" }, { entity: "light.desk", state: "off" }]);
          all.get("full").widget.update({ face: "flat" });
          all.get("full").widget.show("light");
        }"""
    )
    wait_until(frame, "heard.length === 2 && globalThis.updated")
    assert frame.evaluate("[heard, context.data.weather, updated]") == [
        [{"temperature": 15}, [{"entity": "light.desk", "state": "off", "attributes": {}}]],
        {"temperature": 15},
        {"face": "flat"},
    ]
    assert frame.evaluate("document.documentElement.style.colorScheme") == "light"
    frame.evaluate("stop()")
    wait_until(page, "asked.at(-1) === 'stop light.*'")
    page.evaluate("all.get('full').widget.unmount()")
    assert page.evaluate("asked.at(-1)") == "stop weather"
    assert states(page, "full")[-1] == ["stopped", "Stopped."]
    assert page.locator("#full iframe").count() == 0


def test_without_grants_there_is_nothing_that_needs_one(page: Page) -> None:
    for name, without in {
        "undeclared": "files: { bundle: code }",
        "ungranted": "grants: []",
    }.items():
        assert run(page, name, options=f"{{ ...fullHost(code), {without} }}") == "running"
        keys = frame_of(page, name).locator("#place").inner_text()
        assert keys == "config data locale now sdkVersion watch"


def test_a_widget_that_asks_for_more_than_is_granted_is_refused_and_runs_on(page: Page) -> None:
    assert run(page, "greedy", options="fullHost(code)") == "running"
    refused = frame_of(page, "greedy").evaluate(
        """async () => {
          const asks = [
            ["fetchJson", "https://evil.example/"], ["fetchJson", "http://api.example/"],
            ["fetchImage", "https://me@api.example/"], ["states", "lock.*"],
            ["call", "light.turn_on", { entity: "light.bed" }],
            ["call", "light.turn_on", { entity: "light.desk", data: { entity_id: "light.bed" } }],
            ["fetchJson", "https://api.example/" + "x".repeat(300_000)],
          ];
          const said = [];
          for (const [key, ...given] of asks) {
            said.push(await context[key](...given).then(() => "granted", (error) => error.message));
          }
          return said;
        }"""
    )
    assert set(refused) == {"This is not granted to the widget.", "What is passed is too large."}
    assert page.evaluate("asked") == []
    sentence = "The page could not answer the widget: call: This is not granted to the widget."
    assert states(page, "greedy")[-1] == ["running", sentence]


def test_by_default_it_fetches_without_credentials_and_within_limits(page: Page) -> None:
    asked: list[dict[str, str]] = []

    def answer(route: Route) -> None:
        asked.append(route.request.all_headers())
        name = route.request.url.rpartition("/")[2]
        headers = {"access-control-allow-origin": "*", "content-type": "application/json"}
        body = {"small": "[1]", "large": json.dumps("x" * 1_000_001), "page": "<p>"}.get(name, "")
        if name == "redirect":
            headers["location"] = "https://api.example/small"
        status = {"redirect": 302, "missing": 404}.get(name, 200)
        route.fulfill(status=status, headers=headers, body=body)

    page.route("https://api.example/**", answer)
    files = "files: { bundle: code, manifest: { permissions: ['network'] } }"
    options = f"{{ {files}, grants: ['network:api.example'] }}"
    assert run(page, "fetching", options=options) == "running"
    found = frame_of(page, "fetching").evaluate(
        """async () => {
          const found = {};
          for (const name of ["small", "large", "page", "redirect", "missing"]) {
            const json = context.fetchJson("https://api.example/" + name);
            found[name] = await json.catch((error) => error.message);
          }
          const image = context.fetchImage("https://api.example/small");
          found.image = await image.catch((error) => error.message);
          return found;
        }"""
    )
    assert found.pop("page").startswith("Unexpected token")
    assert found == {
        "small": [1],
        "large": "The answer is larger than 1000000 bytes.",
        "redirect": "Failed to fetch",
        "missing": "The host answered 404.",
        "image": "The answer is no image.",
    }
    assert not any({"cookie", "referer"} & set(it) for it in asked)


def test_by_default_it_stores_in_this_browser_apart_from_others(page: Page) -> None:
    def options(instance: str) -> str:
        files = "files: { bundle: code, manifest: { permissions: ['storage'] } }"
        return f"{{ {files}, id: 'a/b', grants: ['storage'], instance: '{instance}' }}"

    run(page, "kitchen", options=options("kitchen"))
    full = frame_of(page, "kitchen").evaluate(
        """() => {
          context.storage.set("__proto__", { polluted: 1 });
          for (let at = 0; at < 300; at++) context.storage.set("count", at);
          try {
            context.storage.set("huge", "x".repeat(65_536));
          } catch (error) {
            return error.message;
          }
        }"""
    )
    assert full == "A widget can store 64 KB, and no more."
    wait_until(page, "Object.values(localStorage).some((it) => it.includes('299'))")
    for instance, stored in (("kitchen", [299, {"polluted": 1}, None]), ("hall", [None] * 3)):
        run(page, f"{instance}2", options=options(instance))
        keys = "['count', '__proto__', 'huge'].map((key) => context.storage.get(key) ?? null)"
        assert frame_of(page, f"{instance}2").evaluate(keys) == stored
    assert page.evaluate("({}).polluted ?? null") is None


WRONG = {
    "throws": (
        "export function mount() { throw new Error('<b>No</b> place.'); }",
        "mount: The widget could not start. It says: <b>No</b> place.",
    ),
    "foreign": (
        "export default class Widget {}",
        "contract: This module is made for another kind of dashboard: it does not export mount().",
    ),
    "broken": (
        "export function mount( {",
        "load: The widget's module could not be loaded. It says: Unexpected end of input",
    ),
    "evaluates": (
        "eval('1'); export function mount() {}",
        "load: The widget's module could not be loaded. It says: Evaluating a string as JavaScript",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_widget_that_does_not_start_is_a_state_and_a_typed_error(page: Page, name: str) -> None:
    code, expected = WRONG[name]
    assert run(page, name, code).startswith(f"SandboxError {expected}")
    state, sentence = states(page, name)[-1]
    assert state == "failed"
    assert sentence.startswith(expected.partition(": ")[2])
    assert page.locator(f"#{name} iframe").count() == 0


# Options, and what is said of them; `url` is the catalog's.
BAD_INPUT = {
    "unknown": ("{ id: 'acme/nothing', sdk: '1.0.0' }", "NotFound: This catalog does not know"),
    "incompatible": (
        "{ id: 'acme/clock', sdk: '9.0.0' }",
        "Incompatible: No version of acme/clock",
    ),
    "no-version": ("{ id: 'acme/clock', version: '7.0.0' }", "NotFound: There is no version"),
    "no-id": ("{ sdk: '1.0.0' }", "InvalidRequest: undefined is not a widget"),
    "no-sdk": ("{ id: 'acme/clock' }", "InvalidRequest: sdk"),
    "another-address": (
        "{ catalog: new catalog.constructor(location.origin), id: 'acme/clock', sdk: '1.0.0' }",
        "Offline: http",
    ),
    "no-catalog": (
        "{ catalog: null, id: 'acme/clock', sdk: '1.0.0' }",
        "InvalidRequest: mount() needs a catalog, or a frame.",
    ),
    "no-bundle": ("{ files: {} }", "InvalidRequest: `files` needs a bundle."),
    "no-copy": (
        "{ ...bundle(PROBE), config: { f() {} } }",
        "SandboxError host: Failed to execute 'postMessage' on 'Window'",
    ),
    "not-admitted": (
        "{ ...bundle(PROBE), frame: location.origin + '/other.html' }",
        "SandboxError frame: This catalog has no frame: none answers, or frame-src",
    ),
    "aborted": (
        "{ ...bundle(PROBE), signal: AbortSignal.abort(new Error('Enough.')) }",
        "Error: Enough.",
    ),
    "throwing": (
        "{ ...fullHost(PROBE), host: { storage: { all() { throw new Error('No disk.'); } } } }",
        "SandboxError host: No disk.",
    ),
}


@pytest.mark.parametrize("name", BAD_INPUT)
def test_bad_input_is_a_state_a_sentence_and_an_error(page: Page, name: str) -> None:
    options, expected = BAD_INPUT[name]
    script = f"([name, PROBE]) => {{ return run(name, {options}); }}"
    outcome = page.evaluate(script, [name, PROBE])
    assert outcome.startswith(expected)
    state, sentence = states(page, name)[-1]
    assert state == ("stopped" if name == "aborted" else "failed")
    assert sentence
    assert page.locator(f"#{name} iframe").count() == 0
    assert run(page, f"{name}-then") == "running"  # The page goes on.


def test_what_happens_to_the_element_has_a_state(page: Page) -> None:
    assert page.evaluate("mount(null, {}).catch(String)") == (
        "InvalidRequest: mount() needs an element of this page."
    )
    run(page, "twice")
    page.evaluate("run('again', bundle('export function mount() {}'), all.get('twice').element)")
    assert states(page, "twice")[-1] == ["stopped", "Stopped."]
    page.evaluate("document.querySelector('#place').append(all.get('again').element)")
    removed = "Stopped: its element was removed or moved."
    wait_for_state(page, "again", "stopped", removed)
    outcome = page.evaluate(
        """(code) => {
          const outcome = run("early", bundle("await new Promise(() => {}); " + code));
          setTimeout(() => document.querySelector("#early").remove(), 500);
          return outcome;
        }""",
        PROBE,
    )
    assert outcome == f"SandboxError removed: {removed}"
    page.evaluate(
        """(code) => {
          const element = document.querySelector("#place").appendChild(document.createElement("b"));
          element.style.cssText = "display: block; height: 0";
          return run("flat", bundle(code), element);
        }""",
        PROBE,
    )
    sentence = "The widget is running, but is invisible: its frame has no size."
    assert states(page, "flat")[-1] == ["running", sentence]


def test_functions_of_the_page_may_throw_hang_or_answer_what_cannot_be_copied(page: Page) -> None:
    assert run(page, "odd", options="oddHost(code)") == "running"
    assert set(page.evaluate("takeUnseen()")) == {"Uncaught Error: Odd."}  # The page's own.
    said = frame_of(page, "odd").evaluate(
        """() => Promise.all([
          context.fetchJson("https://a.example/"), context.fetchImage("https://a.example/"),
          context.locate(), context.states("light.*"),
        ].map((it) => it.catch((error) => error.message)))"""
    )
    assert said[0].endswith("could not be cloned.")
    assert said[1:] == ["No image.", "nowhere", "found.filter is not a function"]
    sentence = "The page could not answer the widget: locate: nowhere"
    wait_for_page(page, lambda: ["running", sentence] in states(page, "odd"))
    page.evaluate("all.get('odd').widget.unmount()")
    assert set(page.evaluate("takeUnseen()")) == {"Uncaught Error: Odd."}


MANY = """export function mount(_, { fetchJson }) {
  setInterval(() => { for (let i = 0; i < 200; i++) %s; }, 9);
}"""
ALONE = """const make = (tag, more) => Object.assign(document.createElement(tag), more);
export function mount(place) { %s }"""
FLOOD = "The widget sent too many messages, so it was ended."
ENDED = {
    "flood": (MANY % "parent.postMessage({ type: 'ready' }, '*')", FLOOD),
    "asking": (MANY % "fetchJson('https://a.example/').catch(() => {})", FLOOD),
    "frames": (
        ALONE % "place.append(make('iframe'))",
        "The widget opened a frame, so it was ended.",
    ),
    "hints": (
        ALONE % "place.append(make('link', { rel: 'preconnect', href: 'https://evil.example' }))",
        "The widget told the browser to connect to another host, so it was ended.",
    ),
    "left": (
        ALONE % "location.href = 'https://evil.example/'",
        "The widget tried to leave its frame, so it was ended.",
    ),
    "endless": (
        ALONE % "setTimeout(() => { for (;;); }, 300)",
        "The widget stopped answering, so it was ended.",
    ),
}


def test_a_widget_that_abuses_its_frame_is_ended_and_others_run_on(page: Page) -> None:
    assert run(page, "calm") == "running"
    page.evaluate("all.get('calm').widget.update({ face: 'flat' })")
    network = "manifest: { permissions: ['network'] } }, grants: ['network']"
    for name, (code, sentence) in ENDED.items():
        run(page, name, code, f"{{ files: {{ bundle: code, {network} }}")
        wait_for_state(page, name, "failed", sentence)
        assert page.locator(f"#{name} iframe").count() == 0
    # It shared the process of the endless one, and has got another.
    wait_for_state(page, "calm", "running", "Running.")
    assert frame_of(page, "calm").evaluate("context.config") == {"face": "flat"}


def test_messages_of_others_are_not_those_of_a_frame(page: Page) -> None:
    """A widget cannot speak for another one, and cannot send what is expensive to read."""
    run(page, "victim")
    forging = """export function mount(element) {
      for (const type of ["ready", "failed", "run"]) {
        const frames = Array.from({ length: parent.length }, (_, at) => parent[at]);
        for (const target of [parent, ...frames]) {
          const message = { type, reason: "left", versions: [], bundle: "" };
          target.postMessage(message, "*", [new MessageChannel().port1]);
        }
      }
      parent.postMessage({ get: Array.from({ length: 1e5 }, (_, i) => ({ i })) }, "*");
      for (const name of ["postMessage", "stringify", "parse"]) {
        const type = name === "postMessage" ? MessagePort.prototype : JSON;
        type[name] = function () { globalThis.stolen = this; };
      }
      const get = function () { globalThis.stolen = this; };
      Object.defineProperty(MessageEvent.prototype, "data", { get });
    }"""
    assert run(page, "forger", forging) == "running"
    page.wait_for_timeout(1_500)
    assert frame_of(page, "forger").evaluate("String(globalThis.stolen)") == "undefined"
    assert states(page, "victim") == [["loading", "Loading …"], ["running", "Running."]]
    assert states(page, "forger")[-1] == ["running", "Running."]


def test_settings_of_another_version_are_migrated_in_the_frame(page: Page) -> None:
    code = """export function migrate(config, from) {
      if (config.bad) throw new Error("Unknown face.");
      return { face: config.clock, from };
    }
    export function mount(element, { config }) { element.textContent = JSON.stringify(config); }"""

    def options(config: str, manifest: str = "configVersion: 2") -> str:
        files = f"{{ bundle: code, manifest: {{ {manifest} }} }}"
        return f"{{ files: {files}, config: {config}, configVersion: 1 }}"

    assert run(page, "old", code, options("{ clock: 'round' }")) == "running"
    shown = frame_of(page, "old").locator("#place")
    assert json.loads(shown.inner_text()) == {"face": "round", "from": 1}
    assert page.evaluate("of('old').configs") == [[{"face": "round", "from": 1}, 2]]
    outcome = run(page, "bad", code, options("{ bad: true }"))
    assert outcome == (
        "SandboxError migrate: The widget could not take over its settings. It says: Unknown face."
    )
    assert run(page, "same", code, options("{ clock: 1 }", "configVersion: 1")) == "running"
    assert page.evaluate("of('same').configs") == []


def test_a_version_of_the_catalog_runs_until_it_is_revoked(
    page: Page, catalog: ClientCatalog
) -> None:
    bad = "acme/bad-node"
    for name, options in {
        "resolved": f"{{ id: '{bad}', sdk: '1.0.0', isCounted: false, files: undefined }}",
        "exact": f"{{ id: '{bad}', version: '1.0.0', files: undefined }}",
        "other": "{ id: 'acme/clock', version: '1.1.0', files: undefined }",
    }.items():
        assert run(page, name, options=options) == "running"
    assert page.evaluate("all.get('exact').widget.version.version") == "1.0.0"
    assert page.locator("#other iframe").get_attribute("title") == "Clock"
    arguments = (bad, "1.0.0", "--reason", "It is bad.", "--data", str(catalog.service.data))
    page.wait_for_timeout(1_000)  # The stream is open.
    assert run_command("version", "revoke", *arguments).returncode == 0
    sentence = "This version was revoked, so it was ended."
    page.wait_for_timeout(5_000)
    for name in ("resolved", "exact"):
        assert states(page, name)[-1][0] == "failed"
        assert states(page, name)[-1][1].startswith(sentence)
    assert states(page, "other")[-1] == ["running", "Running."]
    outcome = run(page, "late", options=f"{{ id: '{bad}', version: '1.0.0', files: undefined }}")
    assert outcome == f"Revoked: {bad} 1.0.0 was revoked: It is bad."


def test_a_frame_without_its_policy_runs_nothing(page: Page, catalog: ClientCatalog) -> None:
    document = (CLIENT / "frame.html").read_text()
    body = ""

    def answer(route: Route) -> None:
        route.fulfill(body=body, content_type="text/html")

    page.route("**/frame/v1", answer)
    body = document.replace('http-equiv="Content-Security-Policy"', 'name="nothing"')
    sentence = "No widget runs in this frame, because it lacks: Content-Security-Policy"
    assert run(page, "bare") == f"SandboxError unsafe: {sentence}"
    body = "<!doctype html><title>Log in</title>"
    outcome = run(page, "log-in")
    assert outcome.startswith("SandboxError frame: This catalog has no frame: ")
    assert outcome.endswith(f" {catalog.url}/frame/v1")
    page.unroute("**/frame/v1")
