"""Import with `files`: READMEs and pictures are verified, measured, and get thumbnails."""

import hashlib
from pathlib import Path
from typing import Any

import pytest

from support.pictures import a_picture, an_animation
from support.widgets import ndjson, widget_line
from transfer.import_state import state_of, stored_line, take
from widget_catalog.catalog.model.widgets import AttachedFile
from widget_catalog.catalog.node.node import Node
from widget_catalog.catalog.store.widgets import find_widget
from widget_catalog.core.errors import InvalidImport
from widget_contract.names import Scope, WidgetName

PNG, README = a_picture("png", 800, 400), b"# Clock\n"
AT = "Line 1: versions[0]"


@pytest.fixture(autouse=True)
def prepared(base_folder: Path) -> None:
    (base_folder / "clock.js").write_bytes(b"export default class {}")
    (base_folder / "a.png").write_bytes(PNG)
    (base_folder / "README.md").write_bytes(README)
    (base_folder / "moving.png").write_bytes(an_animation("png"))
    (base_folder / "long.md").write_bytes(b"x" * 65_537)
    (base_folder / "large.png").write_bytes(PNG + b"x" * (1 << 20))


def line(*files: dict[str, Any]) -> bytes:
    return ndjson(widget_line("acme/clock", versions=[stored_line(files=list(files))]))


def named(path: str, file: str, **more: Any) -> dict[str, Any]:
    return {"path": path, "file": file, **more}


def attached(node: Node) -> tuple[AttachedFile, ...]:
    with node.store.reading() as connection:
        found = find_widget(connection, Scope("acme"), WidgetName("clock"))
    assert found is not None
    return found.widget.versions[0].attached


def test_files_are_measured_and_a_missing_thumbnail_is_made(node: Node, base_folder: Path) -> None:
    """Whatever size the line states."""
    stated = named("screenshots/b.png", "a.png", width=1, height=1)

    summary = take(node, line(stated, named("README.md", "README.md")), base_folder)

    readme, picture, thumbnail = attached(node)
    assert readme == AttachedFile("README.md", len(README), hashlib.sha256(README).hexdigest())
    digest = hashlib.sha256(PNG).hexdigest()
    assert picture == AttachedFile("screenshots/b.png", len(PNG), digest, 800, 400)
    assert (thumbnail.path, thumbnail.width, thumbnail.height) == (
        "screenshots/b.thumb.webp",
        640,
        320,
    )
    assert summary.bundles_stored == 4


def test_a_thumbnail_of_the_line_is_kept_and_no_other(node: Node, base_folder: Path) -> None:
    (base_folder / "t.webp").write_bytes(a_picture("webp", 64, 32))

    take(
        node,
        line(named("screenshots/a.png", "a.png"), named("screenshots/a.thumb.webp", "t.webp")),
        base_folder,
    )

    assert [(it.path, it.width) for it in attached(node)] == [
        ("screenshots/a.png", 800),
        ("screenshots/a.thumb.webp", 64),
    ]
    assert len(list(node.folder.bundles.glob("*/*.webp"))) == 1


@pytest.mark.parametrize(
    ("files", "error"),
    [
        ([named("index.js", "clock.js")], "files[0].path: a version has no file 'index.js'."),
        ([named("../README.md", "a")], "files[0].path: a version has no file '../README.md'."),
        ([named("README.md", "none.md")], "files[0].file: There is no file "),
        ([named("README.md", "../x")], "files[0].file: ../x is not in the folder of the file "),
        ([named("README.md", "a.png")], "files[0].file: a.png is not text in UTF-8."),
        (
            [named("README.md", "long.md")],
            "files[0].file: long.md has 65537 bytes; at most 65536 are allowed.",
        ),
        (
            [named("screenshots/a.png", "large.png")],
            f"files[0].file: large.png has {len(PNG) + (1 << 20)} bytes; at most 1048576 are",
        ),
        (
            [named("screenshots/a.jpg", "a.png")],
            "files[0].file: a.png is not a JPEG picture: its content is PNG.",
        ),
        ([named("screenshots/a.png", "moving.png")], "files[0].file: moving.png is animated;"),
        (
            [named("screenshots/a.png", "a.png")] * 2,
            ": files: screenshots/a.png is given twice.",
        ),
        (
            [named(f"screenshots/{it}.png", "a.png") for it in range(7)],
            ": files: has 7 pictures; at most 6 are allowed.",
        ),
        ([{"path": "README.md"}], "files[0].file: is missing."),
        ([named("README.md", "README.md", x=1)], "files[0].x: there is no such field."),
        (
            [named("README.md", "README.md", width=5000)],
            "files[0].width: must be a whole number from 1 to 4,096.",
        ),
        (1, "files: must be a list of files."),
    ],
)
def test_what_is_not_allowed_is_refused_and_leaves_nothing(
    node: Node, base_folder: Path, files: Any, error: str
) -> None:
    before = state_of(node)
    versions = [stored_line(files=files)]

    with pytest.raises(InvalidImport) as refused:
        take(node, ndjson(widget_line("acme/clock", versions=versions)), base_folder)

    assert f"{AT}{'' if error.startswith(':') else '.'}{error}" in refused.value.message
    assert state_of(node) == before
