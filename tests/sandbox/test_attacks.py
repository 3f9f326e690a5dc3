"""Hostile widgets in the sandbox, in real browsers: nothing reaches another host, and the page goes
on. `attacks.js` has what they try, `REMAINS` what a browser does not prevent.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from sandbox.browsers import open_in
from sandbox.page_server import PageServer
from support.service import Service, running_service

pytestmark = pytest.mark.slow

FOLDER = Path(__file__).parent
TIMEOUT_S = 300
WAIT_MS = {"outcome": 2_500, "after": 300}
# Longer than a page needs for its own work on a busy machine, and far less than a loop takes.
FROZEN_MS = 2_500
# Connections that a browser does not prevent: docs/security.md says so.
REMAINS = {"chromium": set[str](), "firefox": {"link preconnect"}}
HINTS = ("preconnect", "dns-prefetch", "prefetch", "preload", "modulepreload", "prerender")


class Run(NamedTuple):
    browser: str
    results: dict[str, Any]
    reached: set[str]
    """The attacks that connected to another host."""

    def outcomes(self) -> dict[str, str]:
        return {name: it["stored"].get("outcome", "") for name, it in self.results.items()}

    def ending(self, name: str) -> str:
        """The sentence with which a widget was ended."""
        states = self.results[name]["states"]
        return next((sentence for state, sentence in states if state == "failed"), "")


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with running_service(tmp_path_factory.mktemp("catalog") / "data") as running:
        yield running


@pytest.fixture(scope="module", params=["chromium", "firefox"])
def run(
    request: pytest.FixtureRequest, service: Service, tmp_path_factory: pytest.TempPathFactory
) -> Run:
    catalog = service.url
    policy = (  # Like that of docs/loading-widgets-safely.md.
        f"default-src 'none'; script-src 'self' {catalog}; connect-src 'self' {catalog}; "
        f"frame-src {catalog}/frame/v1; style-src 'unsafe-inline'"
    )
    site = PageServer(FOLDER, {"catalog": catalog, "wait": WAIT_MS}, policy)
    profile = tmp_path_factory.mktemp("browser") / "profile"
    with open_in(request.param, f"{site.url}/attack_page.html", profile):
        results = site.results.get(timeout=TIMEOUT_S)
    reached = {name for name, canary in site.canaries.items() if canary.heard}
    site.close()
    return Run(request.param, results, reached)


def test_nothing_reaches_another_host(run: Run) -> None:
    assert len(run.results) >= 100
    assert run.reached <= REMAINS[run.browser]


def test_nothing_is_got_that_is_not_granted(run: Run) -> None:
    got = {name: it for name, it in run.outcomes().items() if it.startswith("got ")}
    assert {name: it for name, it in got.items() if it != "got nothing"} == {}


def test_frames_hints_floods_and_loops_end_a_widget_with_a_sentence(run: Run) -> None:
    frames = [name for name, it in run.results.items() if it["group"] == "FRAMES"]
    frames.remove("a frame in a declarative shadow tree")  # It cannot even be made.
    for name in (*frames, "removed guards, then a frame"):
        assert run.ending(name).startswith("The widget opened a frame"), name
    for rel in HINTS:
        assert "connect to another host" in run.ending(f"link {rel}"), rel
    assert run.ending("a flood to the page").startswith("The widget sent too many messages")
    assert run.ending("a loop").startswith("The widget stopped answering")


def test_the_page_and_other_widgets_go_on(run: Run) -> None:
    assert {it["page"] for it in run.results.values()} == {"Attacks,own,secret,own=secret"}
    # A widget can take the focus, as docs/security.md says; nothing else does.
    assert {it["group"] for it in run.results.values() if not it["isFocusKept"]} <= {"FOCUS"}
    assert {
        name: it["frozenMs"] for name, it in run.results.items() if it["frozenMs"] > FROZEN_MS
    } == {}
    # Each has started, but those whose module never ends to load.
    errors = {name for name, it in run.results.items() if it.get("error") and not run.ending(name)}
    unframed = {name for name in run.results if "This catalog has no frame" in run.ending(name)}
    assert errors | unframed == set()
