"""A live preview in a frame of another site, in a real browser."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from playwright.sync_api import Browser, expect

from pages.previewed_widgets import publish_modules
from support.service import Service, running_service

CALM = "export function mount(place) { place.textContent = 'It runs.'; }"


class _Blog(BaseHTTPRequestHandler):
    """A page with the frame that the query names."""

    def do_GET(self) -> None:
        body = (
            f'<!doctype html><iframe src="{self.path.partition("?")[2]}" width="560" height="440">'
        )
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def blog() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Blog)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://localhost:{server.server_port}"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory, blog: str) -> Iterator[Service]:
    data = tmp_path_factory.mktemp("embeds") / "data"
    publish_modules(data, {"calm": CALM}, {})
    with running_service(data, "--set", f"embed_origins={blog}") as running:
        yield running


@pytest.mark.slow
def test_a_named_site_shows_the_running_widget_and_others_show_nothing(
    browser: Browser, service: Service, blog: str
) -> None:
    page = browser.new_page()
    page.goto(f"{blog}/?{service.url}/embed/sample/calm")
    embedded = page.frame_locator("iframe")
    embedded.get_by_role("button", name="Run the preview").click()
    inside = embedded.frame_locator("iframe").get_by_text("It runs.")
    expect(inside).to_be_visible()
    assert page.context.cookies() == []
    # Another name of the same machine is another site; and no other page can be framed.
    other = blog.replace("localhost", "127.0.0.1")
    for address in (f"{other}/?{service.url}/embed/sample/calm", f"{blog}/?{service.url}/"):
        page.goto(address)
        page.wait_for_load_state("networkidle")
        expect(page.frame_locator("iframe").locator("main")).to_have_count(0)
    page.close()
