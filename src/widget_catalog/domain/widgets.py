"""Widget and Version and their rules: what is newest, latest, compatible.

Both are frozen values; a change makes a new one.
"""

from datetime import datetime
from functools import cached_property

import msgspec

from .names import Scope, WidgetName
from .semver import SemVer, is_compatible


class Size(msgspec.Struct, frozen=True):
    """A size on the dashboard's grid, in cells."""

    w: int
    h: int


class Style(msgspec.Struct, frozen=True):
    """The style sheet of a version. It is always stored here, under its hash."""

    size_bytes: int
    sha256_hash: str


class Version(msgspec.Struct, frozen=True, kw_only=True):
    """One published version. Its bundle never changes; yanking and deprecation may.

    `bundle_url` is None when the bundle is stored here, under its hash. `display_name`,
    `description` and `icon` are None where the widget's own are meant. `manifest` is the text
    that the author has published, None for what came by import from elsewhere.
    """

    version: SemVer
    bundle_url: str | None
    bundle_size: int
    sha256_hash: str
    published_at: datetime
    is_yanked: bool = False
    yanked_reason: str | None = None
    deprecation_message: str | None = None
    release_notes: str | None = None
    display_name: str | None = None
    description: str | None = None
    icon: str | None = None
    min_size: Size
    max_size: Size
    sdk_version: str
    config_version: int | None = None
    permissions: tuple[str, ...] = ()
    license: str | None = None
    style: Style | None = None
    manifest: str | None = None

    @property
    def number(self) -> str:
        """The version as people write it, build metadata and all."""
        return self.version.text

    @property
    def identity(self) -> str:
        """The version without its build metadata: what makes it the same or another one."""
        return self.number.partition("+")[0]


def runs_on(sdk: SemVer, *, sdk_version: str, is_yanked: bool) -> bool:
    """Whether a version is compatible: not yanked, and its SDK range admits the SDK."""
    return not is_yanked and is_compatible(sdk_version, sdk)


def newness(version: Version) -> tuple[datetime, SemVer]:
    """The sort key of *newest*: when it was published, then SemVer precedence."""
    return (version.published_at, version.version)


class Widget(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """A widget with all its versions, newest first."""

    scope: Scope
    name: WidgetName
    display_name: str
    description: str | None = None
    icon: str | None = None
    is_official: bool | None = None
    is_listed: bool = True
    created_at: datetime
    versions: tuple[Version, ...] = ()

    @cached_property
    def latest(self) -> Version | None:
        """The newest version that is not yanked."""
        return next((version for version in self.versions if not version.is_yanked), None)

    def with_versions(self, versions: list[Version]) -> "Widget":
        """The same widget with these versions, put in order."""
        ordered = tuple(sorted(versions, key=newness, reverse=True))
        return msgspec.structs.replace(self, versions=ordered)
