"""The output of `widget init` works: in Chromium, light and dark, with a strict policy."""

import base64
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser

from support.chromium import complaints_of
from widget_cli.scaffold import begin_widget

_POLICY = "default-src 'none'; script-src data:"
_PAGE = f"""<!doctype html><meta http-equiv="Content-Security-Policy" content="{_POLICY}">
<meta name="color-scheme" content="light dark"><div id="place"></div>"""
_MOUNT = """async (source) => {
  const { mount } = await import(source);
  const place = document.querySelector("#place");
  const widget = mount(place);
  const root = place.firstElementChild.shadowRoot;
  const group = root.querySelector("[role=group]");
  const style = getComputedStyle(root.host);
  const first = group.textContent;
  widget.update({ text: "<b>Changed</b>" });
  const seen = [group.getAttribute("aria-label"), first, group.textContent];
  const colors = [style.color, style.backgroundColor];
  widget.unmount();
  return { seen, colors, left: place.childNodes.length };
}"""


@pytest.mark.parametrize(
    ("scheme", "colors"),
    [
        ("light", ["rgb(31, 36, 48)", "rgb(255, 255, 255)"]),
        ("dark", ["rgb(232, 234, 240)", "rgb(27, 31, 41)"]),
    ],
)
def test_it_mounts_updates_and_leaves_nothing_behind(
    browser: Browser, tmp_path: Path, scheme: Literal["light", "dark"], colors: list[str]
) -> None:
    begin_widget(tmp_path, "my-clock", None)
    module = base64.b64encode((tmp_path / "index.js").read_bytes()).decode()
    context = browser.new_context(color_scheme=scheme)
    page = context.new_page()
    complaints = complaints_of(page)
    page.set_content(_PAGE)
    found = page.evaluate(_MOUNT, f"data:text/javascript;base64,{module}")
    context.close()
    assert found == {
        "seen": [
            "My clock",
            "My clockIt works. Change me in index.js.",
            "My clock<b>Changed</b>",
        ],
        "colors": colors,
        "left": 0,
    }
    assert complaints == []
