"""No public request keeps the event loop to itself for long, however large the catalog is and
whatever is sent: meanwhile all other requests of the worker wait.
"""

import gc
import json
import re
import time
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import msgspec
import pytest
from rapidfuzz import fuzz, process

from bench import catalogs
from support.loop_steps import MeasuringLoop
from support.site import InProcessSite
from support.widgets import import_widgets, version_line, widget_line
from widget_catalog.core.features import list_contributions
from widget_catalog.core.http.page_templates import compile_public_templates
from widget_catalog.pages.pages import load_for_pages

pytestmark = pytest.mark.slow

WIDGETS = 20_000
OF_LARGE_SCOPE = 1_000
VERSIONS = 200
# Of the time in which all names are compared with one.
MOST = 0.25

KEY = catalogs.key_of(1_234)
SCOPE = KEY.partition("/")[0]
LETTERS = "+".join("abcdefghijkl")
PAIRS = "+".join(a + b for a in "aeiou" for b in "klmnrst")
WORDS = "+".join(catalogs.COMMON[:40])
UNKNOWN = "+".join(f"zz{it}qq" for it in range(12))
LONG = "abc" * 2_300
# Unknown names: a typing error, the beginning of all, many words, letters, long, in other letters.
NAMES = ("clokc", "widget", "wether-clock-for-the-kitchen", "a-b-c-d-e-f-g-h-i-j", LONG, "ü" * 99)
SEARCHES = (
    "", "q=e", "q=clock", "q=wether", f"q={LETTERS}", f"q={PAIRS}", f"q={WORDS}", f"q={UNKNOWN}",
    f"q={LONG}", f"q={'%F0%9F%98%80' * 200}", "scope=unknown", "scope=large",
)  # fmt: skip
FILTERS = (
    "sort=name", "sort=newest&page=900", "sort=updated", "sort=installs&page=1000", "sdk=1.2",
    "sdk=2.1&official=on&keyword=clock", "permission=network&q=e", "scope=large&sort=name",
)  # fmt: skip
PAGES = (
    "/", "/keywords", "/collections", "/dashboard", "/nothing", f"/{LONG}", "/feed.atom",
    "/sitemap.xml", "/sitemaps/0.xml", "/sitemaps/1.xml", "/sitemaps/99999999.xml",
    *(f"/search?{it}" for it in (*SEARCHES, *FILTERS)),
    *(f"/search/suggestions?{it}" for it in (*SEARCHES, "q=w", f"q={SCOPE}/")),
    *(f"/widgets/x/{it}" for it in NAMES), "/widgets/x/y/1.0.0", "/widgets/x/y/compare",
    *(f"/widgets/{key}{part}" for key in (KEY, "large/versions")
      for part in ("", "/versions", "/compare", "/feed.atom", "/1.0.0", "/9.9.9")),
    *(f"/scopes/{scope}{part}" for scope in (SCOPE, "large", "unknown", LONG)
      for part in ("", "/feed.atom", "?page=20")),
    f"/badges/{KEY}/version.svg", "/badges/large/versions/downloads.svg", "/badges/x/y/sdk.svg",
    f"/preview/{KEY}/1.0.0", f"/embed/{KEY}", "/embed/large/versions", f"/oembed?url={LONG}",
    f"/oembed?url=https://catalog.example/widgets/{KEY}",
    "/docs", "/docs/api", "/docs/api/schemas", "/docs/search?q=widget", f"/docs/search?q={LONG}",
    f"/pictures/{KEY}/light", "/pictures/large/versions/dark", f"/icons/{KEY}.svg", "/icons/x/y",
    "/docs/publishing", "/openapi.json", f"/cdn/{'a' * 64}.js", "/client/x", "/healthz/live",
)  # fmt: skip
API = (
    "/api/stats", "/api/health", "/api/settings", "/api/version", "/api/widgets/cli-version",
    *(f"/api/v1/widgets/search?{it}" for it in SEARCHES),
    *(f"/api/v1/widgets/search?{it}&limit=100&compatSdk=1.2.0" for it in SEARCHES),
    "/api/v1/widgets/search?limit=100&page=200",
    *(f"/api/v1/widgets/{it}" for it in (KEY, "large/versions", "x/y", LONG)),
    *(f"/api/v1/widgets/{it}" for it in (f"{KEY}/1.0.0", "large/versions/1.0.0", "x/y/1.0.0")),
    "/api/v1/widgets/changes", "/api/v1/widgets/changes?since=0&limit=1000",
    "/api/v1/widgets/revocations",
    *(f"/cdn/@{KEY}/1.0.0/{it}" for it in ("index.js", "index.css", "README.md")),
    f"/cdn/@{KEY}/1.0.0/screenshots/card.png",
    *(f"/api/widgets/{it}/registry.json" for it in (SCOPE, "large", "unknown", LONG)),
)  # fmt: skip
RESOLVE = "/api/v1/widgets/resolve"
# Widgets that a dashboard asks about, at once.
ASKED = 500
RESOLVED: dict[str, Sequence[dict[str, Any]]] = {
    "unknown": [{"id": f"x{it}/y{it}"} for it in range(ASKED)],
    "known": [{"id": catalogs.key_of(it)} for it in range(ASKED)],
    "ranges": [
        {"id": catalogs.key_of(number), "range": f"^1.0.{number} || ~2.1", "installed": "1.0.0"}
        for number in range(ASKED)
    ],
    "many versions": [{"id": "large/versions", "range": "^9"}],
    "wrong": [{"idd": it, "rnage": "x"} for it in range(ASKED)],
}


class Large(NamedTuple):
    site: InProcessSite
    loop: MeasuringLoop
    most_ms: float


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Large]:
    # As before workers are forked.
    compile_public_templates(list_contributions())
    load_for_pages()
    loop = MeasuringLoop()
    site = InProcessSite(
        tmp_path_factory.mktemp("large") / "data",
        new_loop=lambda: loop,
        dashboard=True,
        embed_origins="https://other.example",
    )
    lines = [msgspec.json.decode(it) for it in catalogs.lines(WIDGETS, 1, has_texts=True)]
    lines += [widget_line(f"large/widget-{it}") for it in range(OF_LARGE_SCOPE)]
    versions = [version_line(f"1.0.{it}", releaseNotes="Notes. " * 20) for it in range(VERSIONS)]
    import_widgets(site.node, *lines, widget_line("large/versions", versions=versions))
    gc.collect()
    gc.disable()  # What other tests have left would be looked through in one of our steps.
    with site:
        yield Large(site, loop, MOST * _compare_all([it["displayName"] for it in lines]))
    gc.enable()


def _compare_all(names: list[str]) -> float:
    """The milliseconds that this machine needs for it now."""
    began = time.thread_time()
    process.extract("anything that is not there", names, scorer=fuzz.WRatio, limit=5)
    process.extract("something-else", names, scorer=fuzz.WRatio, limit=5)
    return (time.thread_time() - began) * 1000


def _longest_ms(large: Large, method: str, address: str, body: bytes = b"") -> float:
    large.loop.longest_ms = 0
    response = large.site.request(method, address, body)
    assert response.status < 500, address
    return large.loop.longest_ms


def _find_long(large: Large, requests: list[tuple[str, str, str, bytes]]) -> dict[str, float]:
    """Requests with a step that is too long, again after a change, when nothing is cached."""
    found = {}
    for number, (name, method, address, body) in enumerate(requests):
        took = _longest_ms(large, method, address, body)
        if took > large.most_ms:
            large.site.add(widget_line(f"new/{method.lower()}-{number}"))
            took = min(took, _longest_ms(large, method, address, body))
        if took > large.most_ms:
            found[name[:80]] = round(took, 1)
    return found


@pytest.mark.parametrize("addresses", [PAGES, API], ids=["pages", "api"])
def test_no_read_has_a_long_step(large: Large, addresses: Sequence[str]) -> None:
    assert _find_long(large, [(it, "GET", it, b"") for it in addresses]) == {}, large.most_ms


def test_resolving_many_widgets_has_no_long_step(large: Large) -> None:
    bodies = {
        name: json.dumps({"sdk": "1.2.0", "widgets": widgets}).encode()
        for name, widgets in RESOLVED.items()
    }
    bodies["nested"] = b'{"widgets":' + b"[" * 60_000
    sent = [(name, "POST", RESOLVE, body) for name, body in bodies.items()]
    assert _find_long(large, sent) == {}, large.most_ms


def test_every_public_operation_is_measured(large: Large) -> None:
    operations = large.site.get("/openapi.json").json()["paths"]
    measured = [it.partition("?")[0] for it in (*API, RESOLVE)]
    missing = [
        path
        for path in operations
        if not any(re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", path), it) for it in measured)
    ]
    assert missing == []
