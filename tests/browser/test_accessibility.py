"""axe-core, from npm, finds nothing serious on any public page, in light or dark."""

from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser

from support.npm import npm_package
from support.service import Service

_VERSION = "4.10.3"
PATHS = [
    "/",
    "/search",
    "/search?q=wether",
    "/widgets/catalog/clock",
    "/widgets/catalog/clock/1.1.0",
    "/widgets/catalog/clock/versions",
    "/widgets/catalog/clock/compare?from=1.0.0&to=2.0.0",
    "/widgets/catalog/clocks",
    "/scopes/catalog",
    "/docs",
    "/docs/operating",
    "/docs/settings",
    "/docs/api",
]
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")


@pytest.fixture(scope="module")
def axe() -> str:
    package = npm_package("axe-core", _VERSION) / "node_modules" / "axe-core"
    return Path(package / "axe.min.js").read_text(encoding="utf-8")


@pytest.mark.parametrize("path", PATHS)
def test_nothing_serious_is_found(
    browser: Browser, demo_service: Service, axe: str, path: str
) -> None:
    # The tester is put into the page from outside, which its own policy does not allow.
    context = browser.new_context(bypass_csp=True)
    page = context.new_page()
    page.goto(demo_service.url + path)
    page.evaluate(axe)
    found: list[str] = []
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        result: dict[str, Any] = page.evaluate("axe.run({ iframes: false })")
        found += [
            f"{scheme}: {it['id']}: {node['html'][:200]}"
            for it in result["violations"]
            if it["impact"] in ("serious", "critical")
            for node in it["nodes"][:3]
        ]
    context.close()
    assert found == []
