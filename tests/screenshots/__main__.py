"""The command: ./dev screenshots [WORD…] captures the pages whose names contain a word.

Every page, on a phone, a tablet and a desktop, light and dark, into .cache/screenshots. With
--readme it captures those of the README instead, into docs/images.
"""

import sys
import tempfile
import time
from itertools import product
from pathlib import Path

from playwright.sync_api import Browser, StorageState

from screenshots.scenes import ALL_SCENES, README_SCENES, Scene, Scheme, sign_in
from support.chromium import NO_CHROMIUM, find_chromium, running_browser
from support.passwords import quick_passwords
from support.service import running_service
from support.site_with_people import build_people

WIDTHS = (390, 768, 1440)
SCHEMES: tuple[Scheme, ...] = ("light", "dark")
_FOLDER = Path(".cache/screenshots")
_README_FOLDER = Path("docs/images")
_README_SIZE = (1200, 800)
_MAX_PIXELS = 4000
# Some pages need a sign-in that is at most ten minutes old.
_SIGN_IN_SECONDS = 300


def main(words: list[str]) -> int:
    program = find_chromium()
    if program is None:
        print(NO_CHROMIUM)
        return 1
    folder = Path(tempfile.mkdtemp(prefix="screenshots-"))
    people = folder / "people"
    with quick_passwords():
        build_people(people)
    with (
        running_service(folder / "demo", "--demo") as demo,
        running_service(people) as service,
        running_browser(program) as browser,
    ):
        if words == ["--readme"]:
            for scene in README_SCENES:
                path = _README_FOLDER / f"{scene.name}.png"
                _take(browser, demo.url, None, scene, path, *_README_SIZE, "light")
            return 0
        _FOLDER.mkdir(parents=True, exist_ok=True)
        signed_in: StorageState | None = None
        signed_in_until = 0.0
        for scene in ALL_SCENES:
            if words and not any(word in scene.name for word in words):
                continue
            url = service.url if scene.is_signed_in else demo.url
            if scene.is_signed_in and time.monotonic() > signed_in_until:
                signed_in = _signed_in(browser, url)
                signed_in_until = time.monotonic() + _SIGN_IN_SECONDS
            state = signed_in if scene.is_signed_in else None
            for width, scheme in product(WIDTHS, SCHEMES):
                path = _FOLDER / f"{scene.name}-{width}-{scheme}.png"
                _take(browser, url, state, scene, path, width, None, scheme)
    return 0


def _signed_in(browser: Browser, url: str) -> StorageState:
    """The browser state of a person who has just signed in."""
    context = browser.new_context()
    sign_in(context.new_page(), url)
    state = context.storage_state()
    context.close()
    return state


def _take(
    browser: Browser,
    url: str,
    state: StorageState | None,
    scene: Scene,
    path: Path,
    width: int,
    height: int | None,
    scheme: Scheme,
) -> None:
    """Of the whole page, if no height is given."""
    context = browser.new_context(
        viewport={"width": width, "height": height or 900},
        color_scheme=scheme,
        locale="en-GB",
        storage_state=state,
    )
    page = context.new_page()
    page.goto(url + scene.address, wait_until="networkidle")
    scene.prepare(page)
    page.evaluate("scrollTo(0, 0)")
    if height is None:
        whole = min(page.evaluate("document.documentElement.scrollHeight"), _MAX_PIXELS)
        page.set_viewport_size({"width": width, "height": whole})
        # Pictures further down are loaded only now; those that are folded, never.
        page.evaluate(
            "Promise.all([...document.images].filter((it) => it.checkVisibility()"
            " && it.getBoundingClientRect().top < innerHeight)"
            ".map((it) => it.decode().catch(() => 0)))"
        )
    page.screenshot(path=path)
    print(path, flush=True)
    context.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
