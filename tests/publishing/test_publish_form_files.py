"""README and screenshots of the publish form, and notes about its module."""

from typing import Any

import pytest

from publishing.publish_form import facts, files, pending, send, told, uploaded
from publishing.publish_requests import rows
from support.browsing import Browsing, Files, browser_of
from support.people import BUNDLE
from support.pictures import a_huge_png, a_picture, an_animation
from support.site_with_people import People

pytestmark = pytest.mark.slow


@pytest.fixture
def ann(people: People) -> Browsing:
    return browser_of(people.ann)


def test_what_no_browser_runs_is_a_note_and_can_be_published(ann: Browsing) -> None:
    module = b'import "react";\nexport default process.env.NODE_ENV + "<b>";\n'
    place = pending(ann, files(js=module))
    (notes,) = ann.page.all("section", class_="notice")
    assert 'Line 1: "react" is imported, which browsers cannot resolve.' in notes.text
    assert 'Line 2: "process" is used, which browsers do not have.' in notes.text
    assert ann.submit(place).status == 303


@pytest.mark.parametrize("module", [BUNDLE, b"export const = ;", b"\xff\x00"])
def test_there_are_no_notes_about_other_modules(ann: Browsing, module: bytes) -> None:
    pending(ann, files(js=module))
    assert not ann.page.all("section", class_="notice")


def test_the_form_takes_the_readme_along(people: People, ann: Browsing) -> None:
    readme = b"# Timer\n\n*Ticks.*\n"
    place = pending(ann, {**files(author={"name": "Ann"}), "readme": readme})
    assert facts(ann)["File"] == f"README.md, {len(readme)} bytes"
    assert facts(ann)["Author"] == "Ann"

    assert ann.submit(place).status == 303

    detail = people.site.get("/api/v1/widgets/ann/timer/1.0.0").json()
    assert [it["path"] for it in detail["files"]] == ["index.js", "README.md"]
    assert "<em>Ticks.</em>" in people.site.get("/widgets/ann/timer").body.decode()


def test_a_readme_that_is_too_large_is_refused_next_to_its_field(ann: Browsing) -> None:
    assert send(ann, {**files(), "readme": b"x" * 65_537}).status == 400
    assert told(ann, "readme") == ["README.md has 65,537 bytes; at most 65,536 are allowed."]


def test_a_readme_that_is_no_text_is_refused_next_to_its_field(ann: Browsing) -> None:
    assert send(ann, {**files(), "readme": b"\xff\xfe"}).status == 400
    assert told(ann, "readme") == ["readme.txt is not text in UTF-8."]


LIGHT, DARK, SMALL = a_picture("png", 1280, 800), a_picture("jpg"), a_picture("webp", 64, 64)


def with_pictures(*pictures: tuple[str, bytes], **more: Any) -> Files:
    return {**files(**more), "screenshots": list(pictures)}


def gallery(browsing: Browsing) -> dict[str | None, str | None]:
    """The shown pictures: addresses and texts."""
    found = [it.attributes for it in browsing.page.all("img")]
    return {it["src"]: it["alt"] for it in found if it["alt"]}


def test_pictures_are_shown_to_their_author_and_published_in_the_chosen_order(
    people: People, ann: Browsing
) -> None:
    place = pending(ann, with_pictures(("light.png", LIGHT), ("At night.jpg", DARK)))

    address = f"{place}/screenshots/At-night.jpg"
    assert gallery(ann) == {
        f"{place}/screenshots/light.png": "Screenshot: light",
        address: "Screenshot: At night",
    }
    shown = ann.get(address)
    assert (shown.status, shown.body) == (200, DARK)
    assert shown.headers["content-type"] == "image/jpeg"
    assert shown.headers["x-content-type-options"] == "nosniff"
    assert shown.headers["cache-control"] == "no-store"
    assert "sandbox" in shown.headers["content-security-policy"]
    for other in (people.eve, people.olly):
        assert browser_of(other).get(address).status == 404
    for path in ("none.png", "..%2findex.js", "light.svg", "light.png%00"):
        assert ann.get(f"{place}/screenshots/{path}").status == 404

    ann.get(place)
    assert ann.submit(place).status == 303

    detail = people.site.get("/api/v1/widgets/ann/timer/1.0.0").json()
    assert [it["path"] for it in detail["files"]] == [
        "index.js",
        "screenshots/light.png",
        "screenshots/light.thumb.webp",
        "screenshots/At-night.jpg",
        "screenshots/At-night.thumb.webp",
    ]
    assert people.site.get("/cdn/@ann/timer/1.0.0/screenshots/light.png").body == LIGHT
    assert 'alt="Screenshot: At night"' in people.site.get("/widgets/ann/timer").body.decode()
    assert uploaded(people) == []


@pytest.mark.parametrize(
    ("names", "paths"),
    [
        (["image.jpg", "image.jpg", "IMAGE.png"], ["image", "image-2", "IMAGE-3"]),
        (["Bildschirmfoto 2026-11-17 um 10.04.png"], ["Bildschirmfoto-2026-11-17-um-10-04"]),
        (["スクリーン.png", "…"], ["screenshot", "screenshot-2"]),
        (["../../etc/passwd.png", "C:\\Users\\ann\\a.png"], ["etc-passwd", "a"]),
        (["no ending", ".png", "a.thumb.webp"], ["no-ending", "png", "a-thumb"]),
        (["x" * 300 + ".png", "x" * 300 + ".png"], ["x" * 60, "x" * 60 + "-2"]),
    ],
)
def test_pictures_may_have_any_name_and_ending(
    ann: Browsing, names: list[str], paths: list[str]
) -> None:
    place = pending(ann, with_pictures(*((it, LIGHT) for it in names)))

    assert list(gallery(ann)) == [f"{place}/screenshots/{it}.png" for it in paths]
    assert ann.submit(place).status == 303


BOMB = a_huge_png()
HTML = b"<!doctype html><script>alert(1)</script>"
NO_PICTURE = "is not a PNG, JPEG or WebP picture."


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("a.png", HTML, NO_PICTURE),
        ("a.svg", b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>", NO_PICTURE),
        ("a.gif", b"GIF89a" + b"\0" * 50, NO_PICTURE),
        ("a.png", b"", NO_PICTURE),
        ("a.png", b"\x89PNG\r\n\x1a\n" + HTML, "is damaged, incomplete, or larger than"),
        ("a.webp", b"RIFF\x10\0\0\0WEBP" + HTML, "is not a WEBP picture."),
        ("a.png", LIGHT[: len(LIGHT) // 2], "is damaged or incomplete, and cannot be shown."),
        ("a.png", an_animation("png"), "is animated; only still pictures are allowed."),
        ("a.jpg", a_picture("jpg", 1, 4097), "has 1 × 4,097 pixels and is too large: at most "),
        ("a.png", BOMB, "is too large: at most 4,096 pixels a side are allowed."),
        ("a.png", LIGHT + b"\0" * (1 << 20), "bytes; at most 1,048,576 are allowed."),
        ("<b>\u202e" + "a" * 200, HTML, NO_PICTURE),
    ],
)
def test_what_is_no_picture_is_refused_next_to_its_field(
    people: People, ann: Browsing, name: str, content: bytes, sentence: str
) -> None:
    response = send(ann, with_pictures(("fine.png", LIGHT), (name, content)))

    assert response.status == 400
    summary, _ = ann.errors
    assert summary.startswith("There is an error. Nothing was saved: choose the files again.")
    (said,) = told(ann, "screenshots")
    shown = name.replace("\u202e", "\ufffd")
    assert said.startswith(shown if len(shown) <= 80 else shown[:80] + "… ")
    assert sentence in said
    field = ann.page.one("input", id="screenshots").attributes
    assert (field["aria-invalid"], field["aria-describedby"]) == (
        "true",
        "screenshots-hint faults-screenshots",
    )
    assert uploaded(people) == []
    assert rows(people) == []


def test_errors_in_pictures_come_with_all_others(people: People, ann: Browsing) -> None:
    sent = with_pictures(("a.png", HTML), ("b.png", BOMB), icon="clock")

    assert send(ann, {**sent, "readme": b"\0"}, scope="ACME").status == 400

    assert ann.errors[0].startswith("There are 4 errors.")
    assert told(ann, "manifest") == ["icon: must be an Iconify name, such as mdi:clock."]
    assert told(ann, "readme") == ["readme.txt contains NUL characters: it is not a text."]
    assert len(told(ann, "scope")) == 1
    (said,) = told(ann, "screenshots")
    assert said.startswith("a.png is not a PNG")
    assert "b.png" not in said, "Nothing more is decoded after a picture that is refused."


@pytest.mark.parametrize("count", [7, 40])
def test_too_many_pictures_are_refused_next_to_their_field(
    people: People, ann: Browsing, count: int
) -> None:
    pictures = [(f"{it}.png", SMALL) for it in range(count)]

    assert send(ann, with_pictures(*pictures)).status == 400

    assert told(ann, "screenshots") == [f"You chose {count} pictures; at most 6 are allowed."]
    assert (uploaded(people), rows(people)) == ([], [])


def test_a_bundle_behind_too_many_files_is_not_published_cut_off(
    people: People, ann: Browsing
) -> None:
    """Only ten files are kept, whatever their fields."""
    sent = files()
    others = [(f"{it}", b"x") for it in range(10)]
    response = send(ann, {"manifest": sent["manifest"], "others": others, "bundle": sent["bundle"]})

    assert response.status == 400
    assert people.site.get("/api/v1/widgets/ann/timer").status == 404
