"""The client with a static catalog, served by nginx as documented."""

import json
import re
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
from playwright.sync_api import Browser, expect

from client.expected import MISSPELLED, all_loaded, all_read, refused
from client.runtimes import (
    CLIENT,
    ClientCatalog,
    Runtime,
    chromium_runtime,
    process_runtime,
)
from static_site.static_host import static_host
from support.scripted import Scripted
from support.service import free_port, run_command
from widget_contract.texts import fold

pytestmark = pytest.mark.slow

VECTORS = Path(__file__).parents[2] / "src" / "widget_contract" / "vectors"


_OTHER = ("Cn", "Cs")


class Site(NamedTuple):
    catalog: ClientCatalog
    folder: Path
    url: str

    def write(self) -> None:
        data = str(self.catalog.service.data)
        done = run_command("site", str(self.folder), "--base-url", self.url, "--data", data)
        assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def site(catalog: ClientCatalog, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder, port = tmp_path_factory.mktemp("site"), free_port()
    with static_host(folder / "files", port, folder / "nginx") as url:
        made = Site(catalog, folder / "files", url)
        made.write()
        yield made


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Runtime:
    return process_runtime("node", tmp_path_factory.mktemp("node"), is_static=True)


@pytest.fixture(scope="module")
def bun(tmp_path_factory: pytest.TempPathFactory) -> Runtime:
    return process_runtime("bun", tmp_path_factory.mktemp("bun"), is_static=True)


@pytest.fixture(scope="module", params=["node", "bun"])
def process(request: pytest.FixtureRequest, node: Runtime, bun: Runtime) -> Runtime:
    return {"node": node, "bun": bun}[str(request.param)]


def assert_all_is_done(play: Runtime, site: Site) -> None:
    assert play("reading", site.url) == all_read(site.url)
    assert play("misspelled", site.url) == MISSPELLED
    assert play("loading", site.url) == all_loaded(site.catalog, counted=0)


def test_the_client_does_all_that_it_does_with_a_service(site: Site, process: Runtime) -> None:
    assert_all_is_done(process, site)


SANDBOX = """([url]) => Promise.all(["client", "static", "sandbox"].map((name) =>
  import(`${url}/client/v1/${name}.js`))).then(async (modules) => {
    const { Catalog, catalogFetch, mount } = Object.assign({}, ...modules);
    const catalog = new Catalog(url, { fetch: catalogFetch(url) });
    const element = document.body.appendChild(document.createElement("div"));
    element.style.height = "200px";
    const { version } = await mount(element, { catalog, id: "acme/clock", sdk: "1.0.0" });
    return version.version;
  })"""


def test_a_widget_runs_in_the_sandbox_of_a_site(site: Site, browser: Browser) -> None:
    policy = f"script-src {site.url}; connect-src {site.url}; frame-src {site.url}/frame/v1"
    headers = {"Content-Type": "text/html", "Content-Security-Policy": policy}
    site.catalog.dashboard.on("GET", "/sandboxed", Scripted(200, b"<!doctype html>", headers))
    page = browser.new_page()
    page.goto(f"{site.catalog.dashboard.url}/sandboxed")
    assert page.evaluate(SANDBOX, [site.url]) == "1.1.0"
    frame = page.frames[1]
    # The document itself has the policy: a site has no headers for it.
    assert frame.evaluate("fetch('data:,').catch((error) => error.name)") == "TypeError"
    assert (site.folder / "frame.html").read_bytes() == (CLIENT / "frame.html").read_bytes()
    page.close()


def test_so_it_does_in_a_browser(site: Site, browser: Browser) -> None:
    with chromium_runtime(site.catalog, browser, site.url) as play:
        assert_all_is_done(play, site)


def test_a_host_that_is_busy_is_asked_again_which_kind_it_is(site: Site, process: Runtime) -> None:
    assert process("busyAtFirst", site.url) == [["Unavailable", 503], ["clock"]]


SEARCHES: list[dict[str, object]] = [
    {},
    {"limit": 2, "page": 2},
    {"q": "CLOCK"},
    {"q": "a c"},
    {"q": "bad-node"},
    {"q": "nothing like it"},
    {"q": " \u3000 "},
    {"scope": "acme", "compatSdk": "1.2.0"},
    {"scope": "-", "official": "FALSE"},
    {"official": "true"},
    {"compatSdk": "2.0.0-rc.1", "limit": 1000},
]
OTHERS = [
    {"id": "acme/nobody"},
    {"id": "acme/greedy"},
    {"id": "acme/alarm", "installed": "1.0.0"},
    {"id": "acme/alarm", "installed": "1.0.0", "range": "1.2.x"},
    {"id": "acme/guard", "installed": "1.0.0"},
    {"id": "acme/guard", "installed": "1.1.0"},
    {"id": "acme/guard", "installed": "1.2.0", "range": "1.1.x"},
]
RESOLVES: list[dict[str, Any]] = [
    {"sdk": sdk, "widgets": [{"id": "acme/clock", **more}, *OTHERS]}
    for sdk in ("1.0.0", "2.0.0-rc.1", "9.0.0")
    for more in (
        {},
        {"installed": "1.0.0"},
        {"installed": "2.0.0+build"},
        {"installed": "7.0.0"},
        {"range": "1.0.x", "installed": "1.1.0"},
        {"range": "*"},
    )
]  # fmt: skip


def test_searches_and_resolve_are_answered_as_by_the_service(site: Site, process: Runtime) -> None:
    live = site.catalog.url
    found = process("answering", site.url, SEARCHES, RESOLVES)
    with httpx.Client(base_url=live, timeout=60) as http:
        searched = [http.get("/api/v1/widgets/search", params=it).json() for it in SEARCHES]  # type: ignore[arg-type]
        resolved = [http.post("/api/v1/widgets/resolve", json=it).json() for it in RESOLVES]
    expected = json.loads(json.dumps([searched, resolved]).replace(live, site.url))
    assert found == expected


def test_a_revoked_version_is_refused_and_a_change_is_seen(
    site: Site, node: Runtime, bun: Runtime
) -> None:
    data = ["--data", str(site.catalog.service.data)]
    since = httpx.get(f"{site.url}/api/v1/widgets/revocations.json", timeout=60).json()["revision"]
    detail = httpx.get(f"{site.url}/api/v1/widgets/acme/bad-bun", timeout=60).json()
    bundle = detail["versions"][0]["bundleUrl"]
    assert httpx.get(bundle, timeout=60).status_code == 200
    revoked = run_command("version", "revoke", "acme/bad-bun", "1.0.0", "--reason", "Bad.", *data)
    assert revoked.returncode == 0
    site.write()

    for play in (node, bun):
        assert play("watching", site.url, since, True) == ["revoked", "acme/bad-bun", "1.0.0"]
        assert play("refused", site.url, "acme/bad-bun") == refused("acme/bad-bun")
    assert httpx.get(bundle, timeout=60).status_code == 404


@pytest.mark.parametrize(
    ("path", "content_type", "text"),
    [
        ("/", "text/html", "<h1"),
        ("/widgets/acme/clock", "text/html", "acme/clock"),
        ("/widgets/acme/clock/1.1.0", "text/html", "1.1.0"),
        ("/widgets/acme/clock/versions", "text/html", "2.0.0"),
        ("/scopes/acme", "text/html", "clock"),
        ("/search", "text/html", "static/search."),
        ("/docs", "text/html", "Operating"),
        ("/feed.atom", "application/atom+xml", "<feed"),
        ("/badges/acme/clock/version.svg", "image/svg+xml", "2.0.0"),
        ("/sitemap.xml", "application/xml", "sitemaps/0.xml"),
        ("/api/v1/widgets/acme/clock", "application/json", '"latestVersion":"2.0.0"'),
        ("/api/v1/widgets/acme/clock/1.1.0", "application/json", '"previousVersion":"1.0.0"'),
        ("/api/widgets/acme/registry.json", "application/json", '"scope":"acme"'),
        ("/api/stats", "application/json", '"widgets":'),
        ("/api/settings", "application/json", '"baseUrl":'),
    ],
)
def test_pages_and_responses_are_files(site: Site, path: str, content_type: str, text: str) -> None:
    response = httpx.get(site.url + path, timeout=60)

    assert response.status_code == 200
    assert response.headers["content-type"].startswith(content_type)
    assert text in response.text
    assert "/sign-in" not in response.text or path.startswith(("/docs", "/openapi"))


def test_links_of_pages_lead_somewhere(site: Site) -> None:
    with httpx.Client(base_url=site.url, timeout=60) as http:
        pages = ["/", "/widgets/acme/clock", "/widgets/acme/clock/2.0.0", "/scopes/acme", "/docs"]
        links = {
            link
            for page in pages
            for link in re.findall(r'(?:href|src)="(/[^"#?]*)', http.get(page).text)
        }
        broken = sorted(it for it in links if http.get(it).status_code != 200)
    assert len(links) > 20
    assert broken == []


def test_what_is_missing_is_the_page_for_it(site: Site) -> None:
    response = httpx.get(f"{site.url}/widgets/acme/nobody", timeout=60)

    assert (response.status_code, "Page not found" in response.text) == (404, True)


@pytest.mark.parametrize(
    "q", ["clock", "@acme/clock", "CME/clo", "the+Clocks", "wall-mounted", "wanduhren"]
)
def test_the_search_page_searches_scopes_and_names_too(
    site: Site, browser: Browser, q: str
) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{site.url}/search?q={q}")
    expect(page.get_by_role("link", name="acme/clock")).to_be_visible()
    expect(page.get_by_role("status")).to_have_text("1 widget")
    # Its card, as in all other lists.
    card = page.locator("#results > li")
    expect(card.locator(".shot")).to_have_count(1)
    expect(card.locator("dt")).to_have_text(["Installs", "Updated", "Version", "SDK"])
    context.close()


@pytest.mark.parametrize("q", ["clokc", "Clcok", "a+clok", "clocck", "vlock", "clokcs"])
def test_the_search_page_corrects_a_typo(site: Site, browser: Browser, q: str) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{site.url}/search?q={q}&page=2")
    expect(page.get_by_role("status")).to_have_text("0 widgets")
    page.locator(".meant").get_by_role("link").click()
    expect(page.get_by_role("link", name="acme/clock")).to_be_visible()
    expect(page.get_by_role("status")).to_have_text("1 widget")
    expect(page.locator(".meant")).to_have_count(0)
    context.close()


@pytest.mark.parametrize("q", ["zzzz", "clo+kkk", "cloookk"])
def test_the_search_page_does_not_guess_what_is_too_different(
    site: Site, browser: Browser, q: str
) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(f"{site.url}/search?q={q}")
    expect(page.get_by_role("status")).to_have_text("0 widgets")
    expect(page.locator(".meant")).to_have_count(0)
    context.close()


def test_a_service_is_reached_through_the_same_fetch(site: Site, node: Runtime) -> None:
    assert node("reading", site.catalog.url)["found"] == [1, "2.0.0", "1.1.0"]


def test_only_what_has_changed_is_written(site: Site) -> None:
    before = {it: it.stat().st_mtime_ns for it in site.folder.rglob("*") if it.is_file()}
    site.write()
    after = {it: it.stat().st_mtime_ns for it in site.folder.rglob("*") if it.is_file()}

    assert after.keys() == before.keys()
    changed = {it.name for it in after if after[it] != before[it]}
    assert changed <= {"stats.json", "SHA256SUMS"}


def test_a_folder_with_something_else_in_it_is_refused(site: Site, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("x")
    data = str(site.catalog.service.data)

    done = run_command("site", str(tmp_path), "--base-url", "https://x.example", "--data", data)

    assert done.returncode == 1
    assert b"is not empty, and is no site of ours" in done.stderr
    assert [it.name for it in tmp_path.iterdir()] == ["mine"]


def test_texts_are_compared_as_the_service_does(process: Runtime) -> None:
    cases = json.loads((VECTORS / "folding.json").read_text())["cases"]
    words = [it["text"] for it in cases]

    found, changed = process("folding", str(CLIENT / "static.js"), words)

    assert found == [it["folded"] for it in cases]
    folded = dict(changed)
    # Only characters known to this Python: the runtime may have a newer Unicode version.
    known = [it for it in map(chr, range(sys.maxunicode)) if unicodedata.category(it) not in _OTHER]
    differing = [it for it in known if folded.get(it, it) != fold(it)]
    # Cherokee is folded to capitals.
    assert [it for it in differing if "CHEROKEE" not in unicodedata.name(it, "")] == []


def test_capabilities_are_compared_as_in_the_contract(process: Runtime) -> None:
    vectors = json.loads((VECTORS / "capabilities.json").read_text())
    covering, comparing = vectors["covering"], vectors["comparing"]

    covered, compared = process(
        "capabilities", str(CLIENT / "capabilities.js"), covering, comparing
    )

    assert covered == [it["covers"] for it in covering]
    assert compared == [
        [
            comparison["added"],
            comparison["removed"],
            f" 2.0.0 may also {', '.join(comparison['words'])}." if comparison["words"] else "",
        ]
        for comparison in comparing
    ]


def test_versions_and_ranges_are_those_of_the_contract(process: Runtime) -> None:
    ranges = json.loads((VECTORS / "ranges.json").read_text())["cases"]
    versions = json.loads((VECTORS / "versions.json").read_text())

    found = process("versions", str(CLIENT / "semver.js"), ranges, versions)

    assert found == {"admits": [it["admits"] for it in ranges], "wrong": []}
