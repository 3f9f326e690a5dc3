"""The sandbox in Chromium: the context, grants, limits, updates and revocations."""

import json
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, Route

from client.runtimes import CLIENT, ClientCatalog
from client.sandboxed import (
    check_nothing_is_unseen,
    frame_of,
    run,
    sandboxed_page,
    states,
    wait_for_state,
)
from support.chromium import wait_until
from support.scripted import Scripted
from support.service import run_command


@pytest.fixture(scope="module")
def page(catalog: ClientCatalog, browser: Browser) -> Iterator[Page]:
    with sandboxed_page(catalog, browser) as opened:
        yield opened


@pytest.fixture(autouse=True)
def _nothing_is_unseen(page: Page) -> Iterator[None]:
    yield
    check_nothing_is_unseen(page)


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


def test_by_default_it_gets_nothing_that_was_cached_with_credentials(
    catalog: ClientCatalog, browser: Browser
) -> None:
    dashboard = catalog.dashboard
    kept = {"Content-Type": "application/json", "Cache-Control": "private, max-age=600"}
    dashboard.on("GET", "/me", Scripted(200, b'"Ada"', kept), Scripted(200, b'"nobody"', kept))
    dashboard.on("GET", "/plain", Scripted(200, b"<!doctype html>", {"Content-Type": "text/html"}))
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{dashboard.url}/plain")
    seen = page.evaluate(
        """async (base) => {
          const { fetchJson } = await import(`${base}/client/v1/defaults.js`);
          return [await (await fetch("/me")).json(), await fetchJson("/me")];
        }""",
        catalog.url,
    )
    context.close()
    assert seen == ["Ada", "nobody"]


def test_what_is_stored_at_once_is_written_at_once(page: Page) -> None:
    """Each write is of everything: one for each of 900 keys would freeze the page."""
    page.evaluate(
        """() => {
          const { setItem } = Storage.prototype;
          globalThis.writes = 0;
          Storage.prototype.setItem = function (...given) {
            globalThis.writes += 1;
            return setItem.apply(this, given);
          };
        }"""
    )
    files = "files: { bundle: code, manifest: { permissions: ['storage'] } }"
    run(page, "storing", options=f"{{ {files}, id: 'a/many', grants: ['storage'] }}")
    store = "(most) => { for (let at = 0; at < most; at++) context.storage.set(`k${at}`, at); }"
    frame_of(page, "storing").evaluate(store, 900)
    wait_until(page, "Object.values(localStorage).some((it) => it.includes('k899'))")
    assert page.evaluate("writes") == 1
    frame_of(page, "storing").evaluate(store, 1_001)
    sentence = "The page could not answer the widget: store: The widget asks for too much at once."
    wait_for_state(page, "storing", "running", sentence)


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
        "resolved": f"{{ id: '@{bad}', sdk: '1.0.0', isCounted: false, files: undefined }}",
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
