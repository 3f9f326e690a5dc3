"""`consent()` and `settingsForm()`, by what a person sees, on a page with a strict policy."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from client.runtimes import CLIENT
from support.npm import npm_package
from widget_catalog.core.languages.language import find_language
from widget_catalog.pages.facts import permission_fact
from widget_contract.wire_running import Capability

ORIGIN = "https://dashboard.example"
POLICY = "default-src 'none'; script-src 'self'; require-trusted-types-for 'script'"
PAGE = """<!doctype html>
<html lang="{lang}">
<meta name="color-scheme" content="light dark">
<title>Dashboard</title>
<main><h1>Dashboard</h1><div id="place"></div></main>
<script type="module" src="/page.js"></script>
"""
SCRIPT = """import { consent, sentenceOf } from "/client/consent.js";
import { settingsForm } from "/client/settings.js";
const place = document.querySelector("#place");
Object.assign(window, { consent, sentenceOf, settingsForm, place, isReady: true });
"""
FRONT = {"domain": "lock", "access": "control", "entities": ["lock.front_*"], "services": ["lock"]}
ASKED = {"permissions": ["network:api.example", "control:lock"], "capabilities": [FRONT]}
SCHEMA = {
    "properties": {
        "place": {"type": "string", "title": "Where", "description": "A town.", "maxLength": 20},
        "hours": {"type": "integer", "minimum": 1, "maximum": 24, "default": 12},
        "isShort": {"type": "boolean", "description": "Without words."},
        "unit": {"enum": ["C", "F"], "default": "C"},
        "stops": {"type": "array", "items": {"type": "string"}},
        "more": {"type": "object"},
    }
}
OPEN_SETTINGS = """(options) => {
  window.said = [];
  window.form = settingsForm(place, { ...options, onChange: (config) => said.push(config) });
}"""
FIND = """async () => (await axe.run("main", { resultTypes: ["violations"] })).violations
  .flatMap((it) => it.nodes.map((node) => `${it.id}: ${node.html}`))"""

Opened = Callable[..., Page]


@pytest.fixture
def opened(browser: Browser) -> Iterator[Opened]:
    context = browser.new_context()
    html = {"content-type": "text/html", "content-security-policy": POLICY}

    def open_page(lang: str = "en") -> Page:
        page = context.new_page()

        def respond(route: Route) -> None:
            path = route.request.url.removeprefix(ORIGIN)
            if path.startswith("/client/"):
                route.fulfill(path=CLIENT / path.removeprefix("/client/"))
            elif path == "/page.js":
                route.fulfill(body=SCRIPT, content_type="text/javascript")
            else:
                route.fulfill(body=PAGE.format(lang=lang), headers=html)

        page.route("**", respond)
        page.on("console", lambda it: pytest.fail(it.text) if it.type == "error" else None)
        page.goto(f"{ORIGIN}/")
        page.wait_for_function("window.isReady")
        return page

    yield open_page
    context.close()


def ask(page: Page, options: dict[str, Any]) -> None:
    script = "(options) => void consent(place, options).then((it) => (window.given = it))"
    page.evaluate(script, options)


def given(page: Page) -> Any:
    return page.wait_for_function("window.given").json_value()


def test_a_person_reads_what_a_widget_wants_and_allows_some_of_it(opened: Opened) -> None:
    page = opened()
    ask(page, ASKED)
    expect(page.get_by_role("group", name="This widget wants to:")).to_be_visible()
    network = page.get_by_label("Connect to the network: api.example")
    lock = page.get_by_label("Control locks (lock.front_*; only lock)")
    expect(network).to_be_checked()
    expect(lock).to_be_checked()
    network.uncheck()
    page.get_by_role("button", name="Allow what is ticked").click()
    assert given(page) == [FRONT]
    expect(page.get_by_role("group")).to_have_count(0)


@pytest.mark.parametrize("way", ["button", "Escape"])
def test_a_person_who_allows_nothing_grants_nothing(opened: Opened, way: str) -> None:
    page = opened()
    ask(page, ASKED)
    expect(page.locator("legend")).to_be_focused()
    if way == "button":
        page.get_by_role("button", name="Allow nothing").click()
    else:
        page.keyboard.press(way)
    assert given(page) == []


def test_nothing_is_asked_if_nothing_is_wanted(opened: Opened) -> None:
    page = opened()
    ask(page, {"permissions": [], "capabilities": []})
    assert given(page) == []
    expect(page.get_by_role("button")).to_have_count(0)


@pytest.mark.parametrize(("lang", "tag"), [("de-AT", "de"), ("ja", "ja"), ("fr", "en")])
def test_the_sentences_are_those_of_the_pages_in_the_language_of_the_page(
    opened: Opened, lang: str, tag: str
) -> None:
    page, language = opened(lang), find_language(tag)
    assert language is not None
    capability = Capability("lock", "control", ("lock.front_*",), ("lock",))
    facts = [permission_fact(it, language) for it in ("network:api.example", capability)]
    ask(page, ASKED)
    expect(page.locator("label")).to_have_text([it.words or "" for it in facts])
    assert page.evaluate("sentenceOf('unheard-of', { locale: 'de' })") == "unheard-of"


def test_settings_are_changed_in_a_form_made_of_their_schema(opened: Opened) -> None:
    page = opened()
    page.evaluate(OPEN_SETTINGS, {"schema": SCHEMA, "config": {"place": "Bern", "kept": 1}})
    assert page.evaluate("form.config") == {"place": "Bern", "kept": 1, "hours": 12, "unit": "C"}
    where = page.get_by_label("Where")
    expect(where).to_have_accessible_description("A town.")
    where.fill("Zürich")
    page.get_by_label("Hours").fill("6")
    page.get_by_label("Is short").check()
    page.get_by_label("Unit").select_option("F")
    page.get_by_label("Stops").fill("One\n\nTwo")
    page.get_by_label("More").fill('{"deep": true}')
    wanted = {
        "place": "Zürich",
        "kept": 1,
        "hours": 6,
        "unit": "F",
        "isShort": True,
        "stops": ["One", "Two"],
        "more": {"deep": True},
    }
    assert page.evaluate("said.at(-1)") == wanted
    assert page.evaluate("form.config") == wanted


def test_what_is_wrong_is_said_and_not_reported(opened: Opened) -> None:
    page = opened("de")
    page.evaluate(OPEN_SETTINGS, {"schema": SCHEMA})
    more = page.get_by_label("More")
    for name, text in ((page.get_by_label("Hours"), "99"), (more, "[1"), (more, "3")):
        name.fill(text)
        expect(name).to_have_attribute("aria-invalid", "true")
    expect(page.get_by_text("Geben Sie ein Objekt ein: { … }")).to_be_visible()
    expect(more).to_have_accessible_description("Geben Sie ein Objekt ein: { … }")
    assert page.evaluate("said") == []
    more.fill("{}")
    expect(more).to_have_attribute("aria-invalid", "false")
    expect(page.get_by_text("Geben Sie ein Objekt ein")).to_have_count(0)


def test_without_a_schema_settings_are_json(opened: Opened) -> None:
    page = opened("de")
    page.evaluate(OPEN_SETTINGS, {"config": {"a": 1}})
    page.get_by_label("Einstellungen als JSON").fill('{"a": 2}')
    assert page.evaluate("said") == [{"a": 2}]
    page.evaluate("form.fill({ a: 3 })")
    expect(page.get_by_label("Einstellungen als JSON")).to_have_value('{\n  "a": 3\n}')


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_both_are_accessible_and_take_the_colors_of_the_page(opened: Opened, scheme: str) -> None:
    page = opened()
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    axe = npm_package("axe-core", "4.10.3") / "node_modules" / "axe-core" / "axe.min.js"
    page.evaluate(Path(axe).read_text(encoding="utf-8"))
    ask(page, ASKED)
    assert page.evaluate(FIND) == []
    button = page.get_by_role("button", name="Allow what is ticked")
    page.evaluate("place.style.setProperty('--widget-accent', 'rgb(1, 2, 3)')")
    expect(button).to_have_css("background-color", "rgb(1, 2, 3)")
    page.evaluate(OPEN_SETTINGS, {"schema": SCHEMA})
    assert page.evaluate(FIND) == []
