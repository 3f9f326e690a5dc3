"""Every linked page: valid, small, with few files, and public ones can be cached."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urljoin, urlsplit

import pytest

from support.browsing import Browsing, browser_of
from support.demo_site import running_demo_site
from support.html import Html
from support.npm import run_locked
from support.site import InProcessSite, Reply
from support.site_with_people import People
from widget_catalog.core.http.rendering import PageRenderer
from widget_contract.preview import preview_files

pytestmark = pytest.mark.slow

MAX_HTML_BYTES = 60_000
MAX_FILE_BYTES = 60_000
MODULES = set(preview_files())
MAX_FILES = 3
MIN_KINDS = 50
MIN_TEMPLATES = 8
# Pages of a widget.
NAMED = ("versions", "compare")
PUBLIC = ("/search", "/keywords", "/widgets", "/scopes", "/docs", "/preview", "/dashboard")
# Static imports of a module.
IMPORTED = re.compile(r'^import\b[^;]*?"([^"]+)";', re.MULTILINE)


# Public pages by template: with a frame that was written before, and written as a whole.
WRITTEN: dict[str, list[tuple[bytes, bytes]]] = {}


@pytest.fixture(scope="module")
def open_demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessSite]:
    folder = tmp_path_factory.mktemp("every") / "data"
    write = PageRenderer.render_public

    def written(self: PageRenderer, name: str, *of_site: Any, **values: Any) -> bytes:
        page = write(self, name, *of_site, **values)
        languages = dict(zip(("language", "languages"), of_site, strict=True))
        WRITTEN.setdefault(name, []).append((page, self.render(name, **languages, **values)))
        return page

    with (
        pytest.MonkeyPatch.context() as patched,
        running_demo_site(folder, dashboard=True, registration="open") as site,
    ):
        patched.setattr(PageRenderer, "render_public", written)
        yield site


def walk(visitor: Browsing, start: str, *prefixes: str) -> dict[str, Reply]:
    """The pages reachable by links whose paths start with a prefix.

    Of URLs that differ only in the values of their query, the first one.
    """
    found: dict[str, Reply] = {}
    known, waiting = {shape(start)}, [start]
    while waiting:
        address = waiting.pop()
        response = visitor.get(address)
        if not response.headers.get("content-type", "").startswith("text/html"):
            continue
        found[address] = response
        for link in Html(response.body).links:
            target = urljoin(address, link).partition("#")[0]
            if target.startswith(prefixes) and shape(target) not in known:
                known.add(shape(target))
                waiting.append(target)
    return found


def shape(address: str) -> tuple[str, tuple[str, ...]]:
    parts = urlsplit(address)
    return parts.path, tuple(sorted(key for key, _ in parse_qsl(parts.query)))


def files_of(visitor: Browsing, page: Html, known: dict[str, tuple[int, list[str]]]) -> set[str]:
    """The style sheets and scripts that a browser requests before the page is ready."""
    links = [it for it in page.all("link") if it.attributes.get("rel") == "stylesheet"]
    addresses = [it.attributes["href"] for it in links]
    waiting = [*addresses, *(it.attributes.get("src") for it in page.all("script"))]
    files: set[str] = set()
    while waiting:
        address = waiting.pop()
        if not address or address in files:
            continue
        if address not in known:
            body = visitor.site.get(address).body
            imported = IMPORTED.findall(body.decode())
            known[address] = len(body), [urljoin(address, it) for it in imported]
        files.add(address)
        waiting += known[address][1]
    return files


@pytest.fixture(scope="module")
def pages(open_demo: InProcessSite, shared_people: People) -> list[tuple[str, Reply]]:
    ann, olly = browser_of(shared_people.ann), browser_of(shared_people.olly)
    return [
        *walk(Browsing(open_demo), "/", "/").items(),
        *walk(ann, "/account", "/account").items(),
        *walk(olly, "/operate", "/account", "/operate").items(),
    ]


def test_html_is_valid(pages: list[tuple[str, Reply]], tmp_path: Path) -> None:
    """By html-validate's rules for documents and for accessibility."""
    kinds: dict[str, bytes] = {}
    for address, response in pages:
        parts = urlsplit(address).path.split("/")
        # The pages of widgets, and the guides, have the same templates.
        kept = None if parts[1] in ("account", "operate") else 3 if parts[2:3] == ["api"] else 2
        kind = parts[:kept] + ["*" if it not in NAMED else it for it in parts[len(parts[:kept]) :]]
        kinds.setdefault("/".join(kind), response.body)
    addresses = dict(enumerate(kinds))
    for number, address in addresses.items():
        (tmp_path / f"{number}.html").write_bytes(kinds[address])
    presets = ["html-validate:standard", "html-validate:a11y"]
    (tmp_path / ".htmlvalidate.json").write_text(json.dumps({"root": True, "extends": presets}))
    script = "html-validate/bin/html-validate.mjs"
    report = tmp_path / "report.json"  # A pipe would be cut off at 64 KB.
    done = run_locked(script, "--formatter", f"json={report}", str(tmp_path), folder=tmp_path)
    found = [
        (addresses[int(Path(page["filePath"]).stem)], message["line"], message["message"])
        for page in json.loads(report.read_text())
        for message in page["messages"]
    ]
    assert (found, done.stderr, done.returncode) == ([], "", 0)
    assert len(kinds) > MIN_KINDS


def test_a_page_is_the_same_with_a_frame_that_was_written_before(
    pages: list[tuple[str, Reply]],
) -> None:
    assert pages
    assert all(page == whole for some in WRITTEN.values() for page, whole in some)
    assert len([name for name, some in WRITTEN.items() if len(some) > 1]) > MIN_TEMPLATES


def test_every_page_is_small_and_public_ones_can_be_cached(
    open_demo: InProcessSite, pages: list[tuple[str, Reply]]
) -> None:
    anybody = Browsing(open_demo)
    paths = {urlsplit(address).path for address, _ in pages}
    assert paths > {
        "/", "/dashboard", "/search", "/docs/api/schemas", "/docs/api/searchWidgets",
        "/widgets/catalog/clock/compare", "/scopes/catalog", "/join", "/sign-in",
        "/account/widgets", "/account/widgets/acme/clock/versions/1.0.0",
        "/account/organizations/acme", "/operate/accounts/eve", "/operate/audit",
    }  # fmt: skip
    known: dict[str, tuple[int, list[str]]] = {}
    for address, response in pages:
        assert response.status == 200, address
        assert len(response.body) < MAX_HTML_BYTES, (address, len(response.body))
        files = files_of(anybody, Html(response.body), known)
        # The dashboard is made of the modules that the catalog serves to others.
        others = {it for it in files if address == "/dashboard" and Path(it).name in MODULES}
        own = files - others  # The size of the others has tests of its own.
        assert 1 <= len(own) <= MAX_FILES, (address, files)
        assert sum(known[it][0] for it in own) < MAX_FILE_BYTES, (address, files)
        path = urlsplit(address).path
        # The form to report a widget contains a secret.
        is_public = path == "/" or (path.startswith(PUBLIC) and not path.endswith("/report"))
        assert ("etag" in response.headers) == is_public, address
        assert response.headers["cache-control"] == ("no-cache" if is_public else "no-store"), (
            address
        )
