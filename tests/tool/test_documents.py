"""README.md and CHANGELOG.md: what `widget publish` takes along."""

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from support.scripted import Scripted, ScriptedServer
from support.service import Service
from tool.publishing import DETAIL, PUBLISH, edit, published
from tool.terminal import typed
from tool.tool import Tool
from widget_cli.documents import section_of
from widget_contract.semver import SemVer

CHANGELOG = """# Changelog

All notable changes.

## [Unreleased]

- soon

## [1.10.0](https://git.example/1.10.0) (2026-03-01)

### Added

- Ten.

```
## 1.9.0 is not a heading here
```

## [1.9.0] - 2026-02-01
- Nine.

## Version v1.1.0-beta.1
## 1.0.1

## 1.0.0+build.7 #
First.
"""
# One pixel.
PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=="
)
UNDERLINED = """Changes
=======

1.1.0
-----

* Faster.

1.0.0
-----
* First.
"""


@pytest.mark.parametrize(
    ("text", "version", "wanted"),
    [
        (CHANGELOG, "1.9.0", "- Nine."),
        (CHANGELOG, "1.0.0", "First."),
        (CHANGELOG, "1.0.0+other", "First."),
        (CHANGELOG, "1.0.1", None),
        (CHANGELOG, "1.1.0-beta.1", None),
        (CHANGELOG, "1.1.0", None),
        (CHANGELOG, "9.0.0", None),
        (UNDERLINED, "1.1.0", "* Faster."),
        (UNDERLINED, "1.0.0", "* First."),
        ("", "1.0.0", None),
    ],
)
def test_the_section_of_a_version_in_a_changelog(
    text: str, version: str, wanted: str | None
) -> None:
    assert section_of(text, SemVer.parse(version)) == wanted


def test_a_section_has_its_lower_headings_and_its_code() -> None:
    section = section_of(CHANGELOG, SemVer.parse("1.10.0"))
    assert section is not None
    assert section.startswith("### Added\n\n- Ten.")
    assert section.endswith("## 1.9.0 is not a heading here\n```")


def sent(catalog: ScriptedServer) -> Any:
    return json.loads(catalog.of("POST", PUBLISH)[0].json()["manifestJson"])


def test_readme_and_the_section_of_the_changelog_are_sent_and_not_kept(
    signed_in: Tool, widget: Path, catalog: ScriptedServer
) -> None:
    edit(widget, releaseNotes="Old.", readme="Old.")
    before = (widget / "widget.json").read_text()
    (widget / "readme.md").write_text("# Uhr\n\nDie Zeit für alle.\n", encoding="utf-8")
    (widget / "CHANGELOG.md").write_text("# Changes\n\n## 0.1.0\n\n- First.\n")

    said = signed_in.run("publish", widget, "--yes")

    assert said.code == 0
    assert "  readme         readme.md, 27 bytes\n" in said.err
    assert "  release notes  from CHANGELOG.md: - First.\n" in said.err
    manifest = sent(catalog)
    assert manifest["readme"] == "# Uhr\n\nDie Zeit für alle.\n"
    assert manifest["releaseNotes"] == "- First."
    assert (widget / "widget.json").read_text() == before


def test_notes_of_the_option_win_over_the_changelog(
    signed_in: Tool, widget: Path, catalog: ScriptedServer
) -> None:
    (widget / "CHANGELOG.md").write_text("## 0.1.0\n\n- First.\n")
    arguments = ("publish", widget, "--yes", "--json", "--notes", "-")
    said = signed_in.run(*arguments, stdin=b"Other.")
    assert json.loads(said.out)["releaseNotesFrom"] == "--notes"
    assert sent(catalog)["releaseNotes"] == "Other."


def test_the_section_is_that_of_the_bumped_version(
    signed_in: Tool, widget: Path, catalog: ScriptedServer
) -> None:
    (widget / "CHANGELOG.md").write_text("## 0.2.0\n- Second.\n## 0.1.0\n- First.\n")
    assert signed_in.run("publish", widget, "--yes", "--bump", "minor").code == 0
    assert sent(catalog)["releaseNotes"] == "- Second."


@pytest.mark.parametrize(
    ("content", "note"),
    [
        (b"x" * 65_537, "README.md is too large: 64.0 KiB; the limit is 64.0 KiB."),
        (b"\xff", "README.md is not UTF-8 text."),
    ],
)
def test_a_readme_that_cannot_be_published_is_a_note(
    signed_in: Tool, widget: Path, catalog: ScriptedServer, content: bytes, note: str
) -> None:
    (widget / "README.md").write_bytes(content)
    said = signed_in.run("publish", widget, "--yes")
    assert said.code == 0
    assert said.err.startswith(f"Note: {note} The widget is published without it.\n")
    assert "readme" not in sent(catalog)


@pytest.mark.parametrize(("line", "wanted"), [("Faster.", "Faster."), ("", None)])
def test_notes_of_the_next_version_are_asked_for(
    signed_in: Tool, widget: Path, catalog: ScriptedServer, line: str, wanted: str | None
) -> None:
    detail = published(widget, catalog, releaseNotes="First.")
    catalog.on("GET", DETAIL, Scripted(body=detail))
    check = Scripted(body={"success": True, "cdnUrl": "https://cdn.example/x"})
    catalog.on("POST", PUBLISH, check)
    edit(widget, version="0.2.0", releaseNotes="First.")

    said = typed(signed_in, "publish", str(widget), lines=[line], then="n")

    assert "releaseNotes in widget.json are still those of 0.1.0" in said.err
    assert "What is new in 0.2.0? (one line; Enter for no release notes):" in said.err
    assert (sent(catalog)["releaseNotes"] or None) == wanted
    assert said.code == 1


@pytest.mark.slow
def test_the_longest_readme_reaches_the_page(open_service: Service, ann: Tool) -> None:
    widget = ann.begin("clock")
    readme = ("# Часы\n\n" + '"Точное время" \\ всегда.\n\n' * 2_000).encode()[:65_536]
    readme = readme.decode(errors="ignore").rstrip().encode()
    (widget / "README.md").write_bytes(readme)
    edit(widget, homepage="https://clock.example", author={"name": "Ann"})

    assert ann.run("publish", "clock", "--yes").code == 0

    with open_service.client() as client:
        detail = client.get("/api/v1/widgets/ann/clock/0.1.0").json()
        page = client.get("/widgets/ann/clock").text
        _, file = detail["files"]
        assert client.get(file["url"]).content == readme
    assert (file["path"], detail["readme"]) == ("README.md", None)
    assert (detail["homepage"], detail["author"]) == ("https://clock.example", {"name": "Ann"})
    assert "Часы" in page
    assert 'rel="nofollow ugc noopener" href="https://clock.example"' in page


@pytest.mark.slow
def test_readme_and_screenshots_are_sent_as_files(open_service: Service, ann: Tool) -> None:
    widget = ann.begin("sun")
    (widget / "README.md").write_text("# Sun\n")
    shots = widget / "screenshots"
    shots.mkdir()
    for name in ("light.png", "dark.png", "not a name.png", "notes.txt"):
        (shots / name).write_bytes(PICTURE)
    (shots / "large.png").write_bytes(PICTURE + b"\0" * (1 << 20))

    said = ann.run("publish", "sun", "--yes")

    assert said.code == 0, said
    assert "Note: screenshots/large.png is too large: 1.0 MiB; the limit is 1.0 MiB." in said.err
    assert "Note: screenshots/not a name.png is not published:" in said.err
    assert "  screenshots    light.png, dark.png\n" in said.err
    with open_service.client() as client:
        detail = client.get("/api/v1/widgets/ann/sun/0.1.0").json()
    paths = [it["path"] for it in detail["files"] if ".thumb." not in it["path"]]
    assert paths == ["index.js", "README.md", "screenshots/light.png", "screenshots/dark.png"]
    assert "readme" not in detail["manifest"]


def test_a_catalog_without_files_gets_the_readme_in_the_manifest(
    signed_in: Tool, widget: Path, catalog: ScriptedServer
) -> None:
    (widget / "README.md").write_text("# Clock\n")
    (widget / "screenshots").mkdir()
    (widget / "screenshots" / "light.png").write_bytes(PICTURE)
    said = signed_in.run("publish", widget, "--yes")
    assert "Note: This catalog accepts no screenshots: they are not published.\n" in said.err
    assert sent(catalog)["readme"] == "# Clock\n"
    assert "files" not in catalog.of("POST", PUBLISH)[0].json()
