"""Authors' texts that are long, contain markup, or run from right to left: pages stay intact."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Dialog

from screenshots.scenes import sign_in
from support.chromium import complaints_of
from support.passwords import quick_passwords
from support.service import Service, running_service
from support.site_with_people import build_people
from support.widgets import import_widgets, version_line, widget_line
from widget_catalog.catalog.node.node import open_node

_LONG = f"{'long' * 16}/{'name' * 16}"
_MARKUP = "</bdi><script>alert(1)</script><img src=x onerror=alert(1)>"
_RANGES = " || ".join(f"^{i}.0.0" for i in range(1, 40))
_WIDGETS = (
    widget_line(
        "evil/markup",
        displayName=_MARKUP,
        description=_MARKUP,
        versions=[
            version_line("1.0.0", yanked=True, yankedReason="W" * 500, releaseNotes=_MARKUP),
            version_line(
                "1.1.0",
                publishedAt="2026-06-01T00:00:00.000Z",
                deprecationMessage="W" * 500,
                permissions=["p" * 200, _MARKUP],
                sdkVersion=_RANGES,
                license=_MARKUP,
                releaseNotes=f"# {'L' * 800}\n\n[x](javascript:alert(1))",
            ),
        ],
    ),
    widget_line(
        _LONG,
        displayName="M" * 500,
        description="W" * 3000,
        downloadCount=10**12,
        versions=[version_line(f"1.0.0-{'a' * 200}")],
    ),
    widget_line("evil/rtl", displayName="شريط التقدم", description="يعرض مقدار ما مضى من اليوم"),
)
_PATHS = (
    "/",
    "/search",
    *(f"/widgets/{key}{more}" for key in ("evil/markup", _LONG) for more in ("", "/versions")),
    "/widgets/evil/markup/1.1.0",
    "/widgets/evil/markup/compare",
    "/widgets/evil/rtl",
    f"/scopes/{_LONG.partition('/')[0]}",
    "/report/evil/markup",
    f"/search?q={'W' * 256}",
)
_OWN_PATHS = (
    "/operate/widgets",
    *(f"/account/widgets/{key}" for key in ("evil/markup", _LONG)),
    "/account/widgets/evil/markup/versions/1.1.0",
    f"/account/widgets/{_LONG}/versions/1.0.0-{'a' * 200}",
)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    folder = tmp_path_factory.mktemp("hostile") / "data"
    # In a separate thread, because Playwright runs an event loop in this one.
    with ThreadPoolExecutor(1) as threads:
        threads.submit(_build, folder).result()
    with running_service(folder) as running:
        yield running


def _build(folder: Path) -> None:
    with quick_passwords():
        build_people(folder)
    node = open_node(folder)
    import_widgets(node, *_WIDGETS)
    node.store.close()


def test_pages_show_them_as_text_and_stay_within_the_window(
    browser: Browser, service: Service
) -> None:
    context = browser.new_context()
    page = context.new_page()
    complaints = complaints_of(page)

    def refuse(dialog: Dialog) -> None:
        complaints.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", refuse)
    too_wide = "it => it.filter(e => e.scrollWidth > e.clientWidth).map(e => e.className)"
    sign_in(page, service.url)
    for path in (*_PATHS, *_OWN_PATHS):
        page.goto(service.url + path)
        for width in (1440, 390):
            page.set_viewport_size({"width": width, "height": 800})
            assert page.evaluate("document.documentElement.scrollWidth") == width, path
        assert page.locator(".scrolls").evaluate_all(too_wide) == [], path
    assert complaints == []
    context.close()
