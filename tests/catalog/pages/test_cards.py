"""The cards of widgets, which are written without a template."""

import msgspec
from markupsafe import Markup

from support.html import Html
from widget_catalog.catalog.pages.cards import Cards
from widget_catalog.catalog.pages.icons import Icons
from widget_contract.wire import Size, VersionEntry, WidgetSummary

HOSTILE = "</span><script>\"'&"

VERSION = VersionEntry(
    scope="acme",
    name="clock",
    version="1.2.0",
    bundle_url="https://cdn.example/clock.js",
    bundle_size=1,
    sha256_hash="0" * 64,
    published_at="2026-03-01T00:00:00.000Z",
    yanked=False,
    yanked_reason=None,
    deprecation_message=None,
    release_notes=None,
    display_name="Clock",
    description=None,
    icon=None,
    min_size=Size(1, 1),
    max_size=Size(4, 4),
    sdk_version=">=1.2 <3",
    config_version=None,
    permissions=(),
    license=None,
)
WIDGET = WidgetSummary(
    scope="acme",
    name="clock",
    display_name="Clock",
    description="Shows the time.",
    icon=None,
    is_official=True,
    download_count=1234,
    latest_version=VERSION,
)


def drawn(**changed: object) -> Markup:
    return Cards("/catalog", Icons()).list([msgspec.structs.replace(WIDGET, **changed)])


def test_a_card_links_to_its_widget_and_shows_the_facts() -> None:
    page = Html(drawn().encode())

    assert page.links == ["/catalog/widgets/acme/clock"]
    facts = [it.text for it in page.all("span")][-4:]
    assert facts == ["1,234 installs", "1.2.0", "SDK >=1.2 <3", "1 Mar 2026"]
    assert "Official" in drawn()


def test_one_install_is_singular_and_a_widget_without_versions_says_so() -> None:
    text = drawn(download_count=1, latest_version=None, is_official=None, description=None)

    assert "<span>1 install</span>" in text
    assert "nothing published yet" in text
    assert "Official" not in text
    assert "<p dir" not in text


def test_the_compatible_version_is_shown_only_if_it_is_not_the_latest() -> None:
    older = msgspec.structs.replace(VERSION, version="1.1.0")

    assert "Version 1.1.0 is compatible" in drawn(latest_compatible_version=older)
    assert "is compatible" not in drawn(latest_compatible_version=VERSION)
    assert "is compatible" not in drawn(latest_compatible_version=None)


def test_every_text_of_a_card_is_escaped() -> None:
    hostile = msgspec.structs.replace(VERSION, version=HOSTILE, sdk_version=HOSTILE)
    other = msgspec.structs.replace(VERSION, version=f"{HOSTILE}2")
    text = drawn(
        scope=HOSTILE,
        name=HOSTILE,
        display_name=HOSTILE,
        description=HOSTILE,
        icon=HOSTILE,
        latest_version=hostile,
        latest_compatible_version=other,
    )

    assert "<script" not in text
    assert text.count("&lt;script&gt;&#34;&#39;&amp;") == 9
