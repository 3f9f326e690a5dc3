"""What the catalog's answers hold: the shapes of the contract, read with leniency.

What a catalog of another release, or another program, may leave out has a default here. What it
has besides passes unread. A field that is new in the contract needs no line here.
"""

import msgspec

from widget_contract import wire
from widget_contract.wire import Size

UNKNOWN_SIZE = Size(0, 0)


class VersionEntry(wire.VersionEntry, frozen=True, kw_only=True):
    scope: str = ""
    name: str = ""
    yanked: bool = False
    yanked_reason: str | None = None
    deprecation_message: str | None = None
    release_notes: str | None = None
    display_name: str = ""
    description: str | None = None
    icon: str | None = None
    min_size: Size = UNKNOWN_SIZE
    max_size: Size = UNKNOWN_SIZE
    config_version: int | None = None
    permissions: tuple[str, ...] = ()
    license: str | None = None


class WidgetHead(wire.WidgetHead, frozen=True, kw_only=True):
    description: str | None = None
    icon: str | None = None
    is_official: bool | None = None
    download_count: int = 0


class Detail(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A widget with its versions, newest first; to its own people also one that is unlisted."""

    widget: WidgetHead
    versions: tuple[VersionEntry, ...] = ()
    latest_version: str | None = None
    listed: bool = True

    @property
    def newest(self) -> VersionEntry | None:
        """What was published last, yanked versions only if there are no others."""
        standing = (it for it in self.versions if not it.yanked)
        return next(standing, next(iter(self.versions), None))


class Found(WidgetHead, frozen=True, kw_only=True):
    """A search result."""

    latest_version: VersionEntry | None = None
    latest_compatible_version: VersionEntry | None = None


class SearchPage(wire.SearchResults, frozen=True, kw_only=True):
    widgets: tuple[Found, ...]  # type: ignore[assignment]


class Account(msgspec.Struct, frozen=True, rename="camel"):
    """Who the catalog takes us for."""

    username: str
    email: str | None = None
    is_operator: bool = False
    via: str = "session"


class Settings(msgspec.Struct, frozen=True, rename="camel"):
    """What a catalog says of itself to everybody, as far as it matters here."""

    cli_client_id: str = "widget-cli"
    max_bundle_bytes: int = 2_097_152
    service_name: str = "Widget Catalog"


class Upload(wire.UploadTargets, frozen=True, kw_only=True):
    """The answer to a request to publish."""

    cdn_url: str = ""
    widget_id: str = ""
