"""Pictures and icons of widgets, at addresses that a dashboard knows."""

import io
import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from PIL import Image

from pages.previewed_widgets import stored_version
from support.pictures import a_picture
from support.site import InProcessSite
from support.widgets import import_widgets, version_line, widget_line
from widget_catalog.core.actors import Actor, Via
from widget_catalog.moderation.revoke_version import revoke_version
from widget_catalog.pages.icons import Icons

CLOCK = "/pictures/acme/clock"
POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox"
OPEN = {
    "cache-control": "public, max-age=300",
    "cross-origin-resource-policy": "cross-origin",
    "content-security-policy": POLICY,
    "access-control-allow-origin": "*",
    "x-content-type-options": "nosniff",
}


@pytest.fixture
def shelf(site: InProcessSite, tmp_path: Path) -> InProcessSite:
    """A widget whose latest version has pictures; one without; and one that is unlisted."""
    (tmp_path / "x.js").write_text("export function mount() {}")
    for shade, scheme in ((20, "dark"), (200, "light")):
        (tmp_path / f"{scheme}.png").write_bytes(a_picture(shade=shade))
    files = [{"path": f"screenshots/{it}.png", "file": f"{it}.png"} for it in ("light", "dark")]
    clock = widget_line(versions=[stored_version("x.js", version="1.1.0", files=files)])
    plain = widget_line("acme/plain", displayName="<Plain>", icon="mdi:nothing-like-this")
    hidden = widget_line("acme/hidden", listed=False)
    import_widgets(site.node, clock, plain, hidden, base_folder=tmp_path)
    return site


def test_a_picture_is_the_thumbnail_of_the_latest_version(shelf: InProcessSite) -> None:
    shades = []
    for scheme in ("light", "dark"):
        response = shelf.get(f"{CLOCK}/{scheme}")
        etag = response.headers.pop("etag")
        assert response.headers.pop("accept-ranges") == "bytes"
        assert response.headers == {"content-type": "image/webp", **OPEN}
        image = Image.open(io.BytesIO(response.body))
        assert image.format == "WEBP"
        shades.append(image.convert("L").tobytes()[0])
        again = shelf.get(f"{CLOCK}/{scheme}", if_none_match=etag)
        assert (again.status, again.body, again.headers["cache-control"]) == (
            304,
            b"",
            OPEN["cache-control"],
        )
    assert shades[0] > shades[1]
    # Without its picture, when that must not be shown.
    operator = Actor(via=Via.COMMAND)
    revoke_version(
        shelf.node.store, shelf.node.bundles, operator, "acme/clock", "1.1.0", "It spies."
    )
    assert shelf.get(f"{CLOCK}/light").headers["content-type"] == "image/svg+xml"


def test_a_widget_without_one_is_drawn_with_its_icon_on_a_board_of_its_size(
    shelf: InProcessSite,
) -> None:
    light, dark = (shelf.get(f"/pictures/acme/plain/{it}") for it in ("light", "dark"))
    etag = light.headers.pop("etag")
    assert light.headers == {"content-type": "image/svg+xml", "vary": "accept-encoding", **OPEN}
    assert shelf.get("/pictures/acme/plain/light", if_none_match=etag).status == 304
    assert light.body != dark.body
    drawn = ElementTree.fromstring(light.body)
    assert (drawn.get("width"), drawn.get("height")) == ("640", "400")
    assert "P" in "".join(drawn.itertext())  # The icon is unknown.
    cells = [it.get("d", "") for it in drawn.findall("{*}path")][-1]
    assert (cells.count("v"), cells.count("h")) == (3, 2)  # 4 by 3 of them.
    cell = {"w": 1, "h": 1}
    shelf.add(widget_line("acme/plain", versions=[version_line("2.0.0", maxSize=cell)]))
    one = ElementTree.fromstring(shelf.get("/pictures/acme/plain/light").body)
    assert not one.findall("{*}path")[-1].get("d")


def test_an_icon_is_a_picture_of_its_own(shelf: InProcessSite) -> None:
    known, letter = (shelf.get(f"/icons/acme/{it}.svg") for it in ("clock", "plain"))
    del known.headers["etag"]
    assert known.headers == {"content-type": "image/svg+xml", "vary": "accept-encoding", **OPEN}
    assert ElementTree.fromstring(known.body).findall(".//{*}path")
    assert "P" in "".join(ElementTree.fromstring(letter.body).itertext())


def test_what_does_not_exist_or_is_not_listed_is_404_in_plain_text(shelf: InProcessSite) -> None:
    paths = (
        "/pictures/acme/hidden/light",
        "/icons/acme/hidden.svg",
        "/pictures/acme/nothing/light",
        f"{CLOCK}/blue",
        f"{CLOCK}/light/",
        "/pictures/",
        "/icons/acme/clock",
        "/icons/acme/../clock.svg",
        "/icons/a%00/%0a.svg",
    )
    for path in paths:
        response = shelf.get(path)
        assert response.status == 404, path
        assert response.headers["content-type"] == "text/plain; charset=utf-8"
        assert response.headers["access-control-allow-origin"] == "*"
        assert b"<" not in response.body
    refused = shelf.post(f"{CLOCK}/light")
    assert (refused.status, refused.headers["allow"]) == (405, "GET, HEAD")


def test_an_icon_of_a_wrong_file_is_a_letter(tmp_path: Path) -> None:
    for wrong in ({"icons": ["a"]}, {"icons": "a"}, {"icons": None}, {"icons": {}, "aliases": [1]}):
        (tmp_path / "own.json").write_text(json.dumps({"prefix": "own", **wrong}))
        assert ">C</text>" in Icons(tmp_path).tile("own:a", "Clock")
