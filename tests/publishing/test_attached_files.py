"""READMEs and pictures of a version: requested, uploaded, verified, served, and nothing else."""

import base64
import hashlib
import io
from collections.abc import Callable
from typing import Any

import pytest
from PIL import Image

from publishing.attached_files import FILES, PLACE, README, sha256, shown
from publishing.publish_requests import rows
from support.people import BUNDLE, announce
from support.pictures import a_huge_png, a_picture, an_animation, encoded
from support.site_with_people import People
from widget_catalog.publishing.publish_version import tidy_uploads

pytestmark = pytest.mark.slow


def stored(people: People) -> set[str]:
    folder = people.site.node.folder.bundles
    return {it.suffix for it in folder.rglob("*") if it.is_file()}


def test_files_are_in_the_versions_detail_with_their_size_in_pixels(people: People) -> None:
    assert people.ann.publish("ann/new", files=FILES).status == 200

    files = shown(people)

    assert [(it["path"], it["contentType"], it.get("width"), it.get("height")) for it in files] == [
        ("index.js", "text/javascript", None, None),
        ("README.md", "text/markdown", None, None),
        ("screenshots/light.png", "image/png", 1280, 800),
        ("screenshots/light.thumb.webp", "image/webp", 640, 400),
        ("screenshots/dark.jpg", "image/jpeg", 300, 200),
        ("screenshots/dark.thumb.webp", "image/webp", 300, 200),
        ("screenshots/Small_2-x.webp", "image/webp", 10, 4000),
        ("screenshots/Small_2-x.thumb.webp", "image/webp", 10, 4000),
    ]
    for file in files:
        content = FILES.get(file["path"])
        if content is not None:
            digest = hashlib.sha256(content).digest()
            assert (file["size"], file["sha256Hash"]) == (len(content), digest.hex())
            assert file["integrity"] == f"sha256-{base64.b64encode(digest).decode()}"


def test_files_are_served_as_what_they_are_for_good_and_for_everybody(people: People) -> None:
    people.ann.publish("ann/new", files=FILES)

    for file in shown(people):
        response = people.site.get(PLACE + file["path"])
        assert response.status == 200
        assert (len(response.body), sha256(response.body)) == (file["size"], file["sha256Hash"])
        assert response.headers["content-type"].partition(";")[0] == file["contentType"]
        assert response.headers["x-content-type-options"] == "nosniff"
        assert response.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert response.headers["access-control-allow-origin"] == "*"
        etag = response.headers["etag"]
        assert people.site.get(PLACE + file["path"], if_none_match=etag).status == 304
        assert people.site.request("HEAD", PLACE + file["path"]).status == 200
    assert people.site.get(PLACE + "README.md").body == README


def test_a_thumbnail_is_a_small_webp_picture(people: People) -> None:
    people.ann.publish("ann/new", files=FILES)

    thumbnail = people.site.get(PLACE + "screenshots/light.thumb.webp").body

    image = Image.open(io.BytesIO(thumbnail))
    assert (image.format, image.size) == ("WEBP", (640, 400))
    assert len(thumbnail) < 20_000


def test_a_photo_has_the_size_it_is_shown_with(people: People) -> None:
    turned = Image.Exif()
    turned[0x0112] = 6
    photo = encoded(Image.new("RGB", (90, 30)), "jpg", exif=turned)

    people.ann.publish("ann/new", files={"screenshots/a.jpg": photo})

    assert [(it["width"], it["height"]) for it in shown(people)[1:]] == [(30, 90), (30, 90)]


@pytest.mark.parametrize("path", ["screenshots/light.jpg", "screenshots/none.png", "readme.md"])
def test_other_paths_are_404(people: People, path: str) -> None:
    people.ann.publish("ann/new", files=FILES)

    assert people.site.get(PLACE + path).status == 404
    assert people.site.get(f"/cdn/@ann/clock/1.0.0/{path}").status == 404


PNG = a_picture("png", 64, 64)
HTML = b"<!doctype html><script>alert(1)</script>"
SVG = b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>"
LARGER = "is damaged, incomplete, or larger than 4,096 pixels a side."


@pytest.mark.parametrize(
    ("path", "content", "sentence"),
    [
        ("screenshots/a.png", HTML, "is not a PNG picture."),
        ("screenshots/a.png", SVG, "is not a PNG picture."),
        ("screenshots/a.webp", HTML + PNG, "is not a WEBP picture."),
        ("screenshots/a.png", a_picture("jpg"), "is not a PNG picture: its content is JPEG."),
        ("screenshots/a.jpg", PNG, "is not a JPEG picture: its content is PNG."),
        ("screenshots/a.webp", PNG, "is not a WEBP picture: its content is PNG."),
        ("screenshots/a.png", PNG[: len(PNG) // 2], "is damaged or incomplete"),
        ("screenshots/a.png", PNG[:50] + b"\xff" + PNG[51:], "is damaged or incomplete"),
        ("screenshots/a.jpg", a_picture("jpg")[:900], "is damaged or incomplete"),
        ("screenshots/a.webp", a_picture("webp")[:-20], "is damaged"),
        ("screenshots/a.png", an_animation("png"), "is animated; only still pictures are allowed."),
        ("screenshots/a.webp", an_animation("webp"), "is animated; only still"),
        ("screenshots/a.png", a_picture("png", 4097, 1), "has 4,097 × 1 pixels and is too large"),
        ("screenshots/a.jpg", a_picture("jpg", 1, 4097), "has 1 × 4,097 pixels and is too large"),
        ("README.md", b"\xff\xfe\x00", "is not text in UTF-8."),
        ("README.md", b"a\0b", "contains NUL characters"),
        ("README.md", PNG, "is not text in UTF-8."),
    ],
    ids=lambda it: it if isinstance(it, str) else "content",
)
def test_what_is_not_what_its_path_says_is_not_published(
    people: People, path: str, content: bytes, sentence: str
) -> None:
    assert_not_published(people, path, content, sentence)


@pytest.mark.parametrize(
    ("kind", "make", "sentence"),
    [
        ("png", a_huge_png, "is too large: at most 4,096 pixels a side"),
        ("webp", lambda: encoded(Image.new("RGB", (9_000, 9_000)), "webp", method=0), LARGER),
    ],
    ids=["png", "webp"],
)
def test_a_small_file_that_is_a_very_large_picture_is_not_published(
    people: People, kind: str, make: Callable[[], bytes], sentence: str
) -> None:
    assert_not_published(people, f"screenshots/a.{kind}", make(), sentence)


def assert_not_published(people: People, path: str, content: bytes, sentence: str) -> None:
    before = stored(people)

    response = people.ann.publish("ann/new", files={path: content})

    assert response.status == 400, response.json()
    message = response.json()["error"]
    assert message.startswith("The README" if path == "README.md" else path)
    assert sentence in message
    assert message.endswith(" Nothing was published.")
    assert people.site.get("/api/v1/widgets/ann/new").status == 404
    assert stored(people) == before


def test_a_picture_with_a_page_behind_it_is_served_as_a_picture(people: People) -> None:
    """A polyglot: browsers do not guess."""
    people.ann.publish("ann/new", files={"screenshots/a.png": PNG + HTML})

    response = people.site.get(PLACE + "screenshots/a.png")
    assert response.headers["content-type"] == "image/png"
    assert response.headers["x-content-type-options"] == "nosniff"


def test_all_errors_of_the_uploads_are_reported_at_once(people: People) -> None:
    requested = people.ann.request("ann/new", files=announce(FILES)).json()
    urls = requested["uploadUrls"]
    people.ann.upload(requested["uploadUrl"], BUNDLE)
    people.ann.upload(urls["README.md"], README[::-1])

    response = people.ann.confirm(requested["versionId"])

    assert (response.status, response.json()["error"]) == (
        400,
        (
            "screenshots/light.png was not uploaded yet. The README has the SHA-256 "
            f"{sha256(README[::-1])}; {sha256(README)} was announced. screenshots/dark.jpg was not "
            "uploaded yet. screenshots/Small_2-x.webp was not uploaded yet. Nothing was published."
        ),
    )
    assert people.site.get("/api/v1/widgets/ann/new").status == 404


def test_each_url_is_for_its_file_and_its_request_alone(people: People) -> None:
    mine = people.ann.request("ann/new", files=announce(FILES)).json()
    other = people.eve.request("eve/new", files=announce(FILES)).json()
    address = mine["uploadUrls"]["README.md"]

    assert list(mine["uploadUrls"]) == list(FILES)
    for changed in (
        address.replace("README.md", "screenshots/light.png"),
        address.replace("README.md", "screenshots/light.thumb.webp"),
        address.replace("README.md", "index.js"),
        address.replace(mine["versionId"], other["versionId"]),
        address.replace("signature=", "signature=0"),
    ):
        assert people.ann.upload(changed, README).status == 403, changed
    traversal = address.replace("README.md", "../README.md")
    assert people.ann.upload(traversal, README).status == 404
    assert people.ann.upload(address, README + b"x").status == 400
    assert people.ann.upload(address, README).status == 200
    assert people.eve.confirm(mine["versionId"]).status == 404


def test_nothing_can_be_uploaded_after_publishing(people: People) -> None:
    requested = people.ann.request("ann/new", files=announce({"README.md": README})).json()
    people.ann.upload(requested["uploadUrl"], BUNDLE)
    people.ann.upload(requested["uploadUrls"]["README.md"], README)
    assert people.ann.confirm(requested["versionId"]).status == 200

    response = people.ann.upload(requested["uploadUrls"]["README.md"], README[::-1])

    assert response.status == 409
    assert people.ann.confirm(requested["versionId"]).status == 200
    assert people.site.get(PLACE + "README.md").body == README
    assert people.ann.publish("ann/new", files={"README.md": b"other"}).status == 409


def test_without_files_nothing_changes(people: People) -> None:
    requested = people.ann.request("ann/new").json()

    assert "uploadUrls" not in requested
    assert people.ann.publish("ann/new", files={}).status == 200
    assert [it["path"] for it in shown(people)] == ["index.js"]


def test_one_file_may_belong_to_many_versions(people: People) -> None:
    for version in ("1.0.0", "1.1.0"):
        assert people.ann.publish("ann/new", version, files=FILES).status == 200
    twice = {"screenshots/a.png": PNG, "screenshots/b.png": PNG}
    assert people.eve.publish("eve/new", files=twice).status == 200

    assert len(shown(people, "eve/new")) == 5
    for file in (*shown(people, "eve/new"), *shown(people, version="1.1.0")):
        path = file["url"].partition("/cdn/")[2]
        assert people.site.get(f"/cdn/{path}").status == 200


def test_a_revoked_versions_files_are_gone_until_it_is_unrevoked(people: People) -> None:
    people.ann.publish("ann/new", files=FILES)
    people.eve.publish("eve/new", js=BUNDLE + b"//", files={"README.md": README})
    paths = [it["path"] for it in shown(people)]

    address = "/api/widgets/ann/new/versions/1.0.0"
    assert people.olly.post(f"{address}/revoke", {"reason": "It is bad."}).status == 200

    assert {people.site.get(PLACE + it).status for it in paths} == {410}
    served = {it.name for it in people.site.node.folder.bundles.rglob("*.png")}
    assert served == set()
    # Shared with a version that is not revoked.
    assert people.site.get("/cdn/@eve/new/1.0.0/README.md").body == README
    page = people.site.get("/widgets/ann/new").body
    assert b"/screenshots/" not in page

    assert people.olly.post(f"{address}/unrevoke").status == 200
    assert {people.site.get(PLACE + it).status for it in paths} == {200}


def test_files_count_towards_quotas(tmp_path: Any, built_people: Any) -> None:
    with People(built_people, tmp_path / "data", max_bytes_per_day=100_000) as people:
        files = {"README.md": b"x" * 60_000}
        assert people.ann.publish("ann/new", files=files).status == 200
        assert people.ann.publish("ann/new", "1.1.0", files=files).status == 429


def test_an_ended_request_leaves_nothing(people: People) -> None:
    requested = people.ann.request("ann/new", files=announce(FILES)).json()
    for path, content in FILES.items():
        people.ann.upload(requested["uploadUrls"][path], content)
    node = people.site.node
    assert len(list(node.folder.uploads.iterdir())) == len(FILES)
    before = stored(people)

    people.clock.forward(hours=2)
    tidy_uploads(node.store, node.bundles, node.uploads)

    assert list(node.folder.uploads.iterdir()) == []
    assert stored(people) == before
    assert rows(people) == []
