"""What other sites and chats show beside a link."""

import io

from PIL import Image

from support.html import Html
from support.site import InProcessSite
from support.widgets import widget_line
from widget_catalog.core.actors import Actor, Via
from widget_catalog.moderation.revoke_version import revoke_version
from widget_catalog.pages.link_picture import LinkPicture, link_picture
from widget_contract.wire_running import PublishedFile

PUBLIC = "https://catalog.example"
OWN = f"{PUBLIC}/picture.png"


def meta(site: InProcessSite, path: str) -> dict[str, str]:
    found = Html(site.get(path).body).all("meta")
    named = ((it.attributes.get("property") or it.attributes.get("name"), it) for it in found)
    return {name: it.attributes["content"] or "" for name, it in named if name}


def test_a_link_is_shown_with_a_screenshot_or_with_the_picture_of_the_catalog(
    demo_site: InProcessSite,
) -> None:
    demo_site.add(widget_line("acme/plain"))
    stopwatch = "/widgets/acme/stopwatch"
    for path in (stopwatch, f"{stopwatch}/1.1.0", "/widgets/acme/plain", "/scopes/acme", "/docs"):
        told = meta(demo_site, path)
        assert told["twitter:card"] == "summary_large_image"
        assert told["og:image:alt"] == told["og:title"]
        assert (told["og:image"] == OWN) is not path.startswith(stopwatch)
        response = demo_site.get(told["og:image"].removeprefix(PUBLIC))
        assert response.headers["cross-origin-resource-policy"] == "cross-origin"
        size = Image.open(io.BytesIO(response.body)).size
        assert size == (int(told["og:image:width"]), int(told["og:image:height"]))
        # Programs refuse or delay larger ones.
        assert len(response.body) < 300_000


def test_a_revoked_version_does_not_show_its_screenshot(demo_site: InProcessSite) -> None:
    key = "acme/stopwatch"
    latest = demo_site.get(f"/api/v1/widgets/{key}").json()["latestVersion"]
    node, operator = demo_site.node, Actor(via=Via.COMMAND)
    revoke_version(node.store, node.bundles, operator, key, latest, "It spies.")
    assert meta(demo_site, f"/widgets/{key}/{latest}")["og:image"] == OWN


def test_of_several_screenshots_a_light_one_is_shown_and_not_its_thumbnail() -> None:
    names = ("dark.png", "light.jpg", "light.thumb.webp")
    files = [
        PublishedFile(
            f"screenshots/{name}", f"{PUBLIC}/{name}", 1, "", "", "", width=number, height=9
        )
        for number, name in enumerate(names)
    ]
    assert link_picture(files, PUBLIC) == LinkPicture(f"{PUBLIC}/light.jpg", 1, 9)
