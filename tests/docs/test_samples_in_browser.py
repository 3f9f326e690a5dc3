"""Samples that show a widget, as printed in guides and on pages, show it: pixels are counted."""

import base64
import contextlib
import html
import re
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser, Page

from support.chromium import complaints_of
from support.demo import examples_folder
from support.html import Html
from support.scripted import Scripted, scripted_server
from support.service import Service, running_service
from widget_cli.scaffold import Template, begin_widget

# On one worker, so that the browser is started once.
_ROOT = Path(__file__).parents[2]
_INTEGRATING = _ROOT / "docs/integrating.md"
_SAFELY = _ROOT / "docs/loading-widgets-safely.md"
_README = _ROOT / "README.md"
_CLIENT = _ROOT / "clients/js/README.md"
_PUBLISHING = _ROOT / "docs/publishing.md"
# The pixels that differ from the most common color.
_SEEN = """async (png) => {
  const image = new Image();
  image.src = "data:image/png;base64," + png;
  await image.decode();
  const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d");
  canvas.drawImage(image, 0, 0);
  const { data } = canvas.getImageData(0, 0, image.width, image.height);
  const counts = new Map();
  for (const pixel of new Uint32Array(data.buffer)) counts.set(pixel, (counts.get(pixel) ?? 0) + 1);
  return image.width * image.height - Math.max(...counts.values());
}"""
_A_WORD_PIXELS = 100  # Fewer are not even a word.
_SIZED = '<!doctype html><div id="place" style="height: 18rem"></div>'
_MOUNT = (
    'import { mount } from "./widget.js"; mount(document.querySelector("#place"), { config: {} });'
)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    data = examples_folder(tmp_path_factory.mktemp("demo") / "data")
    with running_service(data, "--demo") as service:
        yield service


def _blocks(page: Path, language: str) -> list[str]:
    text = page.read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def _sample(page: Path, language: str, part: str) -> str:
    (found,) = (it for it in _blocks(page, language) if part in it)
    return found


def _at(service: Service, code: str) -> str:
    """The sample for this catalog; only addresses are changed."""
    for name, file in (("", "client"), ("/sandbox", "sandbox")):
        address = f'"{service.url}/client/v1/{file}.js"'
        code = code.replace(f'"widget-catalog-client{name}"', address)
    return re.sub(r"http://127\.0\.0\.1:8080|https://catalog\.example", service.url, code)


class Shown:
    """What a page shows, and what it writes to the console."""

    def __init__(self, page: Page, counting: Page) -> None:
        self._page = page
        self._counting = counting
        self.said = complaints_of(page)

    def pixels(self, selector: str = "") -> int:
        """The number of visible pixels of this element, or of the page."""
        shot = self._page.locator(selector).screenshot if selector else self._page.screenshot
        png = shot()
        return int(self._counting.evaluate(_SEEN, base64.b64encode(png).decode()))

    def is_visible(self, selector: str = "") -> bool:
        """Waits, because other processes may slow the browser down."""
        return self._is_soon(lambda: self.pixels(selector) > _A_WORD_PIXELS)

    def says(self, text: str) -> bool:
        return self._is_soon(lambda: any(text in it for it in self.said))

    def _is_soon(self, condition: Callable[[], bool]) -> bool:
        deadline = time.monotonic() + 60
        while not condition():
            if time.monotonic() > deadline:
                return False
            self._page.wait_for_timeout(200)
        return True


@contextlib.contextmanager
def _shown(
    browser: Browser, files: Mapping[str, str], policies: Mapping[str, str] | None = None
) -> Iterator[Shown]:
    context = browser.new_context(viewport={"width": 800, "height": 600})
    with scripted_server() as server, contextlib.closing(context):
        for path, text in {"/favicon.ico": "", **files}.items():
            kind = "javascript" if path.endswith(".js") else "html"
            headers = {"Content-Type": f"text/{kind}; charset=utf-8"}
            if policies and path in policies:
                headers["Content-Security-Policy"] = policies[path]
            server.on("GET", path, Scripted(200, text.encode(), headers))
        counting, page = context.new_page(), context.new_page()
        shown = Shown(page, counting)
        page.goto(server.url)
        yield shown


def _page_with(script: str) -> dict[str, str]:
    start = '<!doctype html><body><script type="module" src="/main.js"></script>'
    return {"/": start, "/main.js": script}


def _load_sample(service: Service) -> str:
    return _at(service, _sample(_INTEGRATING, "js", "module.mount("))


def test_an_empty_page_has_no_visible_pixels(browser: Browser) -> None:
    with _shown(browser, _page_with("console.log('done')")) as shown:
        assert shown.says("done")
        assert shown.pixels() == 0


def test_the_sample_of_the_client_shows_the_widget(browser: Browser, demo: Service) -> None:
    with _shown(browser, _page_with(_load_sample(demo))) as shown:
        assert shown.is_visible(), shown.said
        assert shown.said == []


def test_a_loaded_widget_warns_about_an_element_without_a_size(
    browser: Browser, demo: Service
) -> None:
    sample = _load_sample(demo)
    (line,) = re.findall(r"^place\.style\.height.*\n", sample, re.MULTILINE)
    with _shown(browser, _page_with(sample.replace(line, ""))) as shown:
        assert shown.says("is mounted in an element of 784 × 0 pixels, so it is invisible")
        assert shown.pixels() == 0


def test_an_element_that_is_hidden_or_sized_later_causes_no_warning(
    browser: Browser, demo: Service
) -> None:
    sample = _load_sample(demo)
    later = 'place.style.height = ""; setTimeout(() => { place.style.height = "9rem"; }, 50);'
    for more in ("place.hidden = true;", "place.remove();", later):
        end = "setTimeout(() => console.log('done'), 1500);"
        with _shown(browser, _page_with(f"{sample}\n{more}\n{end}")) as shown:
            assert shown.says("done")
            assert shown.said == ["done"]


def test_the_sample_in_the_package_shows_the_widget(browser: Browser, demo: Service) -> None:
    code = _at(demo, _sample(_CLIENT, "js", "await mount("))
    with _shown(browser, _page_with(code)) as shown:
        assert shown.is_visible(), shown.said


def test_the_page_in_the_readme_shows_the_widget_when_the_file_is_opened(
    browser: Browser, demo: Service, tmp_path: Path
) -> None:
    file = tmp_path / "clock.html"
    file.write_text(_at(demo, _sample(_README, "html", "mount(")), encoding="utf-8")
    context = browser.new_context(viewport={"width": 800, "height": 600})
    with contextlib.closing(context):
        counting, page = context.new_page(), context.new_page()
        shown = Shown(page, counting)
        page.goto(file.as_uri())
        assert shown.is_visible("#clock"), shown.said
        assert shown.said == []


def _snippets(service: Service, key: str) -> list[str]:
    page = Html(httpx.get(f"{service.url}/widgets/{key}").content)
    return ["".join(it.texts) for it in page.all("code")]


def test_the_sample_on_the_page_of_every_widget_shows_the_widget(
    browser: Browser, demo: Service
) -> None:
    every = httpx.get(f"{demo.url}/api/v1/widgets/search?limit=100").json()["widgets"]
    found = [it for it in every if it["latestVersion"]]
    assert len(found) >= 17
    frames = []
    for number, sample in enumerate(found):
        snippets = _snippets(demo, f"{sample['scope']}/{sample['name']}")
        (code,) = (it for it in snippets if it.startswith("<link"))
        inside = html.escape(f"<!doctype html>{code}")
        frames.append(f'<iframe id="w{number}" srcdoc="{inside}" frameborder="0"></iframe>')
    with _shown(browser, {"/": "<!doctype html>" + "".join(frames)}) as shown:
        unseen = [it["name"] for at, it in enumerate(found) if not shown.is_visible(f"#w{at}")]
    assert unseen == []


def test_the_sample_for_scripts_on_the_page_of_a_widget_shows_the_widget(
    browser: Browser, demo: Service
) -> None:
    snippets = _snippets(demo, "catalog/clock")
    (code,) = (it for it in snippets if it.startswith("const response"))
    with _shown(browser, _page_with(code)) as shown:
        assert shown.is_visible(), shown.said


def test_the_sample_with_the_sandbox_shows_the_widget(browser: Browser, demo: Service) -> None:
    code = _at(demo, _sample(_INTEGRATING, "js", "client/sandbox"))
    with _shown(browser, _page_with(code)) as shown:
        assert shown.is_visible(), shown.said
        assert shown.says("running Running."), shown.said


def test_the_sample_without_the_client_shows_the_widget(browser: Browser, demo: Service) -> None:
    parts = [
        _sample(_SAFELY, "js", "function loadBundle"),
        f'const base = "{demo.url}";\n',
        "const latestCompatible = (versions) => versions.find((it) => !it.yanked);\n",
        _sample(_SAFELY, "js", "clock.mount("),
    ]
    with _shown(browser, _page_with("".join(parts))) as shown:
        assert shown.is_visible(), shown.said


def test_the_printed_policy_allows_all_that_the_page_tells_to_do(
    browser: Browser, demo: Service
) -> None:
    """The client, its sandbox, a module without them, its style sheet, pictures; nothing else."""
    policy = " ".join(_at(demo, _sample(_SAFELY, "text", "frame-ancestors")).split())
    files = {
        "/": "<!doctype html>"
        + "".join(f'<script type="module" src="/{it}.js"></script>' for it in "abcd"),
        "/a.js": _at(demo, _sample(_INTEGRATING, "js", "client/sandbox")),
        "/b.js": "".join(
            [
                _sample(_SAFELY, "js", "function loadBundle"),
                _sample(_SAFELY, "js", "function loadStyle"),
                f'const base = "{demo.url}";\n',
                "const latestCompatible = (versions) => versions.find((it) => !it.yanked);\n",
                _sample(_SAFELY, "js", "clock.mount("),
                "console.log('style', await loadStyle(version), 'mounted');",
            ]
        ),
        "/c.js": f'const address = "{demo.url}/api/v1/widgets/catalog/clock/2.0.0";\n'
        """const { files } = await (await fetch(address)).json();
for (const { path, url } of files.filter((it) => it.path.endsWith(".webp"))) {
  const image = new Image();
  image.src = url;
  await image.decode();
  console.log(path, "shown");
}""",
        "/d.js": _load_sample(demo) + "\nconsole.log('loaded');",
    }
    with _shown(browser, files, {"/": policy}) as shown:
        for said in (
            *("running Running.", "style null mounted", "loaded"),
            *(f"screenshots/{it}.webp shown" for it in ("light", "light.thumb", "dark.thumb")),
        ):
            assert shown.says(said), (said, shown.said)
        assert shown.is_visible(f"iframe[src='{demo.url}/frame/v1']"), shown.said
        # The frame tries whether its policy refuses this.
        blocked = [it for it in shown.said if "Content Security Policy" in it]
        assert [it for it in blocked if "data:," not in it] == []


@pytest.mark.parametrize("template", [it for it in Template if not it.is_built])
def test_a_new_widget_is_visible(browser: Browser, tmp_path: Path, template: Template) -> None:
    begin_widget(tmp_path, "my-clock", None, template)
    _check_module(browser, (tmp_path / "index.js").read_text())


def test_the_sample_of_a_module_is_visible(browser: Browser) -> None:
    _check_module(browser, _sample(_PUBLISHING, "js", "export function mount"))


def _check_module(browser: Browser, module: str) -> None:
    page = f'{_SIZED}<script type="module">{_MOUNT}</script>'
    with _shown(browser, {"/": page, "/widget.js": module}) as shown:
        assert shown.is_visible(), shown.said
