"""Types of the catalog's responses: the shapes of the contract, decoded leniently.

Fields that other releases or programs may omit have a default here; unknown fields are ignored.
New fields of the contract need no change here.
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
    """A widget with its versions, newest first; for its owners also if unlisted."""

    widget: WidgetHead
    versions: tuple[VersionEntry, ...] = ()
    latest_version: str | None = None
    listed: bool = True

    @property
    def newest(self) -> VersionEntry | None:
        """The last published version; a yanked one only if there are no others."""
        standing = (it for it in self.versions if not it.yanked)
        return next(standing, next(iter(self.versions), None))


class Found(WidgetHead, frozen=True, kw_only=True):
    """A search result."""

    latest_version: VersionEntry | None = None
    latest_compatible_version: VersionEntry | None = None


class SearchPage(wire.SearchResults, frozen=True, kw_only=True):
    widgets: tuple[Found, ...]  # type: ignore[assignment]


class TokenLimits(msgspec.Struct, frozen=True):
    """What an access token may do. Without scopes and widgets: everywhere."""

    actions: list[str] = []
    scopes: list[str] = []
    widgets: list[str] = []


class Account(msgspec.Struct, frozen=True, rename="camel"):
    """The signed-in account."""

    username: str
    email: str | None = None
    is_operator: bool = False
    via: str = "session"
    token: TokenLimits | None = None


class Settings(msgspec.Struct, frozen=True, rename="camel"):
    """The public settings of a catalog that are used here."""

    cli_client_id: str = "widget-cli"
    max_bundle_bytes: int = 2_097_152
    service_name: str = "Widget Catalog"


class Upload(wire.UploadTargets, frozen=True, kw_only=True):
    """The response to a publish request."""

    cdn_url: str = ""
    widget_id: str = ""
