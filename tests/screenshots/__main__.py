"""The command: ./dev screenshots [WORD…] makes pictures of the pages whose addresses hold a word.

Every page, on a phone and on a desktop, light and dark, into .cache/screenshots.
"""

import sys
import tempfile
from itertools import product
from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser

from support.chromium import find_chromium, running_browser
from support.service import running_service

# Name and address of every page that a picture is made of.
PAGES = {
    "front": "/",
    "search": "/search",
    "search-filtered": "/search?q=clock&sort=name&sdk=1.2.0",
    "search-nothing": "/search?q=wether",
    "widget": "/widgets/catalog/clock",
    "version": "/widgets/catalog/clock/1.1.0",
    "versions": "/widgets/catalog/clock/versions",
    "compare": "/widgets/catalog/clock/compare?from=1.0.0&to=2.0.0",
    "scope": "/scopes/catalog",
    "not-found": "/widgets/catalog/clocks",
    "docs": "/docs",
    "guide": "/docs/operating",
    "reference": "/docs/api",
    "sign-in": "/sign-in",
}
WIDTHS = (390, 1440)
SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
_FOLDER = Path(".cache/screenshots")
_MOST_PIXELS = 4000


def main(words: list[str]) -> int:
    program = find_chromium()
    if program is None:
        print("No Chromium found: install it (apt install chromium) or set $CHROMIUM.")
        return 1
    _FOLDER.mkdir(parents=True, exist_ok=True)
    data = Path(tempfile.mkdtemp(prefix="screenshots-")) / "data"
    with running_service(data, "--demo") as service, running_browser(program) as browser:
        for name, address in PAGES.items():
            if not words or any(word in name for word in words):
                for width, scheme in product(WIDTHS, SCHEMES):
                    _take(browser, service.url + address, f"{name}-{width}-{scheme}", width, scheme)
    return 0


def _take(
    browser: Browser, url: str, name: str, width: int, scheme: Literal["light", "dark"]
) -> None:
    context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    page.goto(url, wait_until="networkidle")
    height = min(page.evaluate("document.documentElement.scrollHeight"), _MOST_PIXELS)
    page.set_viewport_size({"width": width, "height": height})
    path = _FOLDER / f"{name}.png"
    page.screenshot(path=path)
    print(path, flush=True)
    context.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
