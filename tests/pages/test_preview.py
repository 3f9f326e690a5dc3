"""The page of a live preview, and the files of every preview."""

import gzip
import json
import re
from pathlib import Path
from urllib.parse import urljoin

import pytest

from pages.previewed_widgets import stored_version
from support.browsing import OWN_FOLDERS_AND_FRAME, SCRIPTS
from support.html import Html
from support.site import InProcessSite
from support.widgets import import_widgets, widget_line
from widget_catalog.core.actors import Actor, Via
from widget_catalog.moderation.revoke_version import revoke_version

CLOCK = "/preview/catalog/clock/2.0.0"


def address_of(site: InProcessSite, name: str, page: str = CLOCK) -> str:
    [found] = set(re.findall(r'src="(/static/preview-\w+)/', site.get(page).body.decode()))
    return f"{found}/{name}"


def panel(page: bytes) -> dict[str, object]:
    [text] = re.findall(rb'<script type="application/json">(.*?)</script>', page)
    found: dict[str, object] = json.loads(text)
    return found


def test_the_page_describes_what_to_run(demo_site: InProcessSite) -> None:
    response = demo_site.get(CLOCK)
    described = demo_site.get("/api/v1/widgets/catalog/clock").json()["versions"][0]
    assert response.status == 200
    assert Html(response.body).open_at_end == []
    same = ("displayName", "bundleUrl", "sha256Hash", "minSize", "maxSize", "permissions")
    manifest = demo_site.get("/api/v1/widgets/catalog/clock/2.0.0").json()["manifest"]
    shown = {key: manifest[key] for key in ("configSchema", "defaultSize")}
    wanted = {key: described[key] for key in same} | {"styleUrl": None, "manifest": shown}
    assert panel(response.body) == wanted
    # The form shows the settings in the author's order.
    in_order = re.findall(rb'"(face|seconds|hour12|timeZone|label)": {"', response.body)
    assert in_order[:5] == [b"face", b"seconds", b"hour12", b"timeZone", b"label"]


def test_the_page_may_load_from_this_catalog_and_frame_itself_alone(
    demo_site: InProcessSite,
) -> None:
    headers = demo_site.get(CLOCK).headers
    assert headers["content-security-policy"] == (
        f"default-src 'none'; {SCRIPTS} "
        "connect-src 'self' https://catalog.example; frame-src 'self'; "
        "style-src 'self'; img-src 'self' data:; form-action 'self'; base-uri 'none'; "
        f"frame-ancestors 'none', {OWN_FOLDERS_AND_FRAME}"
    )
    assert headers["cache-control"] == "no-cache"
    etag = headers["etag"]
    assert demo_site.get(CLOCK, **{"if-none-match": etag}).status == 304


def test_a_cdn_of_its_own_may_be_fetched_from(tmp_path: Path) -> None:
    with InProcessSite(tmp_path / "data", cdn_base_url="https://cdn.example:8443/w") as site:
        (tmp_path / "x.js").write_text("export function mount() {}")
        line = stored_version("x.js")
        import_widgets(site.node, widget_line(versions=[line]), base_folder=tmp_path)
        response = site.get("/preview/acme/clock/1.0.0")
        policy = response.headers["content-security-policy"]
        assert "connect-src 'self' https://cdn.example:8443; " in policy
        url = "https://cdn.example:8443/w/@acme/clock/1.0.0/index.js"
        assert panel(response.body)["bundleUrl"] == url


def test_another_site_may_serve_the_frame(tmp_path: Path) -> None:
    frame = "https://frames.example/frame/v1"
    with InProcessSite(tmp_path / "data", frame_url=frame) as site:
        site.add(widget_line("acme/clock"))
        policies = site.get("/widgets/acme/clock").headers["content-security-policy"].split(", ")
        assert all(f"frame-src {frame}" in it for it in policies)
        script = site.get(address_of(site, "frame.js", "/widgets/acme/clock")).body.decode()
        assert (f'"{frame}"' in script, "IS_APART = true" in script) == (True, True)


@pytest.mark.parametrize(
    ("name", "content_type"),
    [("panel.js", "text/javascript"), ("preview.css", "text/css"), ("frame.js", "text/javascript")],
)
def test_files_may_be_kept_for_good(demo_site: InProcessSite, name: str, content_type: str) -> None:
    response = demo_site.get(address_of(demo_site, name))
    assert response.headers["content-type"] == f"{content_type}; charset=utf-8"
    assert response.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert response.headers["x-content-type-options"] == "nosniff"


def test_style_and_scripts_of_the_page_are_small(demo_site: InProcessSite) -> None:
    """What is loaded with the page; starting the preview loads more scripts."""
    page = demo_site.get(CLOCK).body.decode()
    loaded = re.findall(r'(?:href|src)="(/static/[^"]+\.(?:css|js))"', page)
    assert len(loaded) <= 3
    assert sum(len(demo_site.get(it).body) for it in loaded) < 60_000
    names = (
        *("frame.js", "preview.js", "sample-host.js", "sandbox.js", "client.js", "capabilities.js"),
        *("settings.js", "elements.js", "texts.js"),
    )
    later = [gzip.compress(demo_site.get(address_of(demo_site, it)).body) for it in names]
    assert sum(map(len, later)) < 30_000
    assert len(page) < 60_000


@pytest.mark.parametrize(
    "path",
    [
        "/preview/catalog/clock/9.9.9",
        "/preview/catalog/nothing/1.0.0",
        "/preview/labs/dice/1.1.0",  # It is unlisted.
        "/preview/catalog/clock",
        "/preview",
        "/static/preview-0/panel.js",
    ],
)
def test_what_is_not_there_is_404(demo_site: InProcessSite, path: str) -> None:
    assert demo_site.get(path).status == 404


def test_only_reading_is_allowed(demo_site: InProcessSite) -> None:
    for path in (CLOCK, address_of(demo_site, "panel.js")):
        response = demo_site.request("POST", path)
        assert (response.status, response.headers["allow"]) == (405, "GET, HEAD")


def test_a_version_that_was_taken_back_says_so(demo_site: InProcessSite) -> None:
    page = demo_site.get("/preview/catalog/calendar/2.0.1").body.decode()
    assert "<strong>Yanked.</strong>" in page


def test_a_bundle_on_another_host_is_not_loaded(tmp_path: Path) -> None:
    with InProcessSite(tmp_path / "data") as site:
        site.add(widget_line())
        page = site.get("/preview/acme/clock/1.0.0").body.decode()
        assert "its bundle was revoked, or is stored on another host" in page
        assert "cdn.example" not in page


def test_a_revoked_version_is_not_offered(tmp_path: Path) -> None:
    (tmp_path / "x.js").write_text("export function mount() {}")
    with InProcessSite(tmp_path / "data") as site:
        import_widgets(
            site.node, widget_line(versions=[stored_version("x.js")]), base_folder=tmp_path
        )
        assert "data-preview" in site.get("/preview/acme/clock/1.0.0").body.decode()
        node, operator = site.node, Actor(via=Via.COMMAND)
        revoke_version(node.store, node.bundles, operator, "acme/clock", "1.0.0", "It spies.")
        page = site.get("/preview/acme/clock/1.0.0").body.decode()
        assert "data-preview" not in page
        assert "its bundle was revoked, or is stored on another host" in page


def test_the_panel_gets_the_keys_of_the_manifest_that_it_uses(tmp_path: Path) -> None:
    schema = {"properties": {"title": {"type": "string"}}}
    manifest = {"configSchema": schema, "defaultConfig": {"title": "A"}, "readme": "long"}
    (tmp_path / "x.js").write_text("export function mount() {}")
    with InProcessSite(tmp_path / "data") as site:
        version = stored_version("x.js", manifest=json.dumps(manifest))
        import_widgets(site.node, widget_line(versions=[version]), base_folder=tmp_path)
        shown = panel(site.get("/preview/acme/clock/1.0.0").body)["manifest"]
        assert shown == {"configSchema": schema, "defaultConfig": {"title": "A"}}


def test_names_never_become_markup(tmp_path: Path) -> None:
    hostile = "</script><script>alert(1)</script>"
    (tmp_path / "x.js").write_text("export function mount() {}")
    with InProcessSite(tmp_path / "data") as site:
        line = stored_version("x.js", displayName=hostile)
        import_widgets(site.node, widget_line(versions=[line]), base_folder=tmp_path)
        page = site.get("/preview/acme/clock/1.0.0").body
        assert hostile.encode() not in page
        assert panel(page)["displayName"] == hostile


def test_the_dashboard_is_there_where_it_is_switched_on(
    demo_site: InProcessSite, tmp_path: Path
) -> None:
    assert demo_site.get("/dashboard").status == 404
    assert "/dashboard" not in Html(demo_site.get("/").body).links
    with InProcessSite(tmp_path / "data", dashboard=True) as site:
        page = site.get("/dashboard")
        assert (page.status, Html(page.body).open_at_end) == (200, [])
        (script,) = re.findall(r'src="(/static/[^"]+/dashboard\.js)"', page.body.decode())
        served = site.get(script).body.decode()
        for name in re.findall(r' from "(.*?)";', served):
            assert site.get(urljoin(script, name)).status == 200, name
        assert "/dashboard" in Html(site.get("/").body).links
        policy = page.headers["content-security-policy"]
        assert policy == demo_site.get(CLOCK).headers["content-security-policy"]
