"""What the catalog's answers hold, as far as the tool reads them; the rest passes unread."""

import msgspec

from widget_contract.wire import Size


class VersionEntry(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    version: str
    bundle_url: str
    bundle_size: int
    sha256_hash: str
    published_at: str
    sdk_version: str
    yanked: bool = False
    yanked_reason: str | None = None
    deprecation_message: str | None = None
    release_notes: str | None = None
    display_name: str | None = None
    description: str | None = None
    icon: str | None = None
    min_size: Size | None = None
    max_size: Size | None = None
    config_version: int | None = None
    permissions: tuple[str, ...] = ()
    license: str | None = None


class WidgetHead(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    scope: str
    name: str
    display_name: str
    description: str | None = None
    icon: str | None = None
    is_official: bool | None = None
    download_count: int = 0


class Detail(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A widget with its versions, newest first."""

    widget: WidgetHead
    versions: tuple[VersionEntry, ...] = ()
    latest_version: str | None = None
    listed: bool = True

    @property
    def newest(self) -> VersionEntry | None:
        """What was published last, yanked versions only if there are no others."""
        standing = (it for it in self.versions if not it.yanked)
        return next(standing, next(iter(self.versions), None))


class Found(WidgetHead, frozen=True, kw_only=True, rename="camel"):
    """A search result."""

    latest_version: VersionEntry | None = None
    latest_compatible_version: VersionEntry | None = None


class SearchPage(msgspec.Struct, frozen=True):
    widgets: tuple[Found, ...]
    total: int
    page: int
    limit: int


class Account(msgspec.Struct, frozen=True, rename="camel"):
    """Who the catalog takes us for."""

    username: str
    email: str | None = None
    is_operator: bool = False
    via: str = "session"


class PublishScope(msgspec.Struct, frozen=True, rename="camel"):
    name: str
    type: str
    display_name: str | None = None


class Settings(msgspec.Struct, frozen=True, rename="camel"):
    """What a catalog says of itself to everybody."""

    cli_client_id: str = "widget-cli"
    max_bundle_bytes: int = 2_097_152
    service_name: str = "Widget Catalog"


class CliVersion(msgspec.Struct, frozen=True, rename="camel"):
    min_supported: str
    latest: str


class Upload(msgspec.Struct, frozen=True, rename="camel"):
    """The answer to a request to publish."""

    upload_url: str
    version_id: str | int
    cdn_url: str | None = None
    css_upload_url: str | None = None
    css_url: str | None = None
