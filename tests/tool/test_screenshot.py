"""`widget screenshot`: the pictures show the widget, in the size and color scheme asked for."""

import io
import json
from pathlib import Path

import pytest
from PIL import Image

from support.chromium import find_chromium
from tool.tool import Tool
from widget_cli import chromium
from widget_cli.errors import ToolError

WIDGET = """
export function mount(element, { theme }) {
  element.style.background = "light-dark(rgb(255, 0, 0), rgb(0, 0, 255))";
}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CHROMIUM", str(find_chromium()))
    made = tmp_path / "hello"
    made.mkdir()
    manifest = {"name": "hello", "version": "1.0.0", "displayName": "Hello"}
    sizes = {"minSize": {"w": 1, "h": 1}, "maxSize": {"w": 4, "h": 3}}
    (made / "widget.json").write_text(json.dumps({**manifest, **sizes, "sdkVersion": "^1.0.0"}))
    (made / "index.js").write_text(WIDGET)
    return made


def middle_of(file: Path) -> tuple[tuple[int, int], tuple[int, ...]]:
    """Size and color in the middle."""
    with Image.open(io.BytesIO(file.read_bytes())) as picture:
        width, height = picture.size
        color = picture.convert("RGB").getpixel((width // 2, height // 2))
    assert isinstance(color, tuple)
    return (width, height), color


def test_pictures_show_the_widget_in_both_color_schemes(tool: Tool, folder: Path) -> None:
    said = tool.run("screenshot", str(folder), "--json")

    assert said.code == 0, said.err
    files = [Path(it) for it in json.loads(said.out)["screenshots"]]
    assert [it.name for it in files] == ["light.png", "dark.png"]
    assert middle_of(files[0]) == ((768, 576), (255, 0, 0))
    assert middle_of(files[1]) == ((768, 576), (0, 0, 255))


def test_sizes_are_chosen_by_name_or_by_cells(tool: Tool, folder: Path) -> None:
    options = ("--size", "smallest", "--size", "3x2", "--scheme", "light", "--scale", "1")
    said = tool.run("screenshot", str(folder), *options)

    assert said.code == 0, said.err
    pictures = folder / "screenshots"
    assert middle_of(pictures / "smallest-light.png")[0] == (96, 96)
    assert middle_of(pictures / "3x2-light.png")[0] == (288, 192)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--size", "9x9"), "The widget does not allow the size 9x9."),
        (("--size", "big"), "There is no size big."),
        (("--scheme", "sepia"), "There is no color scheme sepia."),
    ],
)
def test_what_cannot_be_pictured_is_refused(
    tool: Tool, folder: Path, options: tuple[str, ...], sentence: str
) -> None:
    said = tool.run("screenshot", str(folder), *options)

    assert said.code != 0
    assert sentence in said.err


def test_a_widget_that_does_not_run_is_reported(tool: Tool, folder: Path) -> None:
    (folder / "index.js").write_text("export function mount() { throw new Error('no'); }\n")

    said = tool.run("screenshot", str(folder))

    assert said.code != 0
    assert "The widget does not run: " in said.err


@pytest.mark.parametrize(
    ("written", "sentence", "hint"),
    [
        ("[1:1:ERROR] No usable sandbox! If …", "The browser has no sandbox here", "--no-sandbox"),
        ("libnss3.so: cannot open", "The browser ended unexpectedly.", "libnss3.so: cannot open"),
    ],
)
def test_a_browser_that_does_not_start_says_why(
    tool: Tool, folder: Path, written: str, sentence: str, hint: str
) -> None:
    program = folder / "chromium"
    program.write_text(f"#!/bin/sh\necho '{written}' >&2\nexit 1\n")
    program.chmod(0o755)

    said = tool.run("screenshot", str(folder), environment={"CHROMIUM": str(program)})

    assert said.code == 1
    assert sentence in said.err
    assert hint in said.err
    assert not (folder / "screenshots").exists()


def test_a_page_that_computes_without_end_is_given_up(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = folder / "page.html"
    page.write_text("<script>for (;;);</script>")
    with chromium.browser() as opened:
        monkeypatch.setattr(chromium, "_TIMEOUT_S", 3.0)
        with pytest.raises(ToolError, match="did not respond within 3 seconds"):
            opened.take_picture(page.as_uri(), 96, 96, 1)
