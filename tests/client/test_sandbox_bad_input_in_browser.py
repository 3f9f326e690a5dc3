"""The sandbox in Chromium: whatever is wrong is a state and a sentence, and the page goes on."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page

from client.runtimes import ClientCatalog
from client.sandboxed import (
    PROBE,
    check_nothing_is_unseen,
    frame_of,
    run,
    sandboxed_page,
    states,
    wait_for_state,
)
from support.chromium import wait_for_page


@pytest.fixture(scope="module")
def page(catalog: ClientCatalog, browser: Browser) -> Iterator[Page]:
    with sandboxed_page(catalog, browser) as opened:
        yield opened


@pytest.fixture(autouse=True)
def _nothing_is_unseen(page: Page) -> Iterator[None]:
    yield
    check_nothing_is_unseen(page)


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


def test_an_update_is_offered_where_nothing_else_may_run(page: Page) -> None:
    options = "{ id: 'acme/clock', sdk: '2.0.0', installed: '1.1.0' }"
    assert page.evaluate(f"run('outgrown', {options})").startswith("Incompatible")
    (update,) = page.evaluate("of('outgrown').updates")
    assert (update["version"], update["reasons"]) == ("2.0.0", ["major"])


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
    frame_of(page, "odd").evaluate("() => { context.watchStates('light.*', () => {}); }")
    sentence = "The page could not answer the widget:"
    reported = [
        ["running", f"{sentence} {it}"] for it in ("locate: nowhere", "watchStates: No lights.")
    ]
    wait_for_page(page, lambda: all(it in states(page, "odd") for it in reported))
    page.evaluate("all.get('odd').widget.unmount()")
    assert set(page.evaluate("takeUnseen()")) == {"Uncaught Error: Odd."}
