"""Widget and Version and their rules: newest, latest, compatible.

Both are immutable; a change creates a new value.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import NamedTuple

import msgspec

from widget_contract.capabilities import (
    Permission,
    capabilities_in,
    may_state_capabilities,
    requested,
    with_capabilities,
)
from widget_contract.errors import InvalidName
from widget_contract.manifest_details import DETAIL_FIELDS, details_in
from widget_contract.manifests import Declared
from widget_contract.names import Scope, WidgetName
from widget_contract.semver import SemVer, is_compatible
from widget_contract.texts import line_error
from widget_contract.version_files import README, FileKind, is_picture, kind_of, thumbnail_of

from ...core.clock import iso
from ...core.errors import InvalidRequest, StoreUnavailable

# How far a clock may be behind the newest version: more than the difference between any two time
# zones, which is the usual mistake.
MAX_BEHIND = timedelta(days=1)
MAX_REASON = 500
_MILLISECOND = timedelta(milliseconds=1)


class Style(msgspec.Struct, frozen=True):
    """The style sheet of a version. It is always stored here, under its hash."""

    size_bytes: int
    sha256_hash: str


class AttachedFile(msgspec.Struct, frozen=True, array_like=True):
    """A README, a picture or a thumbnail of a version. It is always stored here, under its hash;
    pictures with their size in pixels.
    """

    path: str
    size_bytes: int
    sha256_hash: str
    width: int | None = None
    height: int | None = None

    @property
    def kind(self) -> FileKind:
        return kind_of(self.path)


def in_order(files: Mapping[str, AttachedFile]) -> tuple[AttachedFile, ...]:
    """By path: the README, then the pictures as given, each followed by its thumbnail."""
    ordered = [files[README]] if README in files else []
    for path, file in files.items():
        if is_picture(path):
            ordered.append(file)
            if thumbnail := files.get(thumbnail_of(path)):
                ordered.append(thumbnail)
    return tuple(ordered)


class VersionFile(NamedTuple):
    """A file of a version as it is stored."""

    sha256_hash: str
    kind: FileKind
    size_bytes: int

    @property
    def name(self) -> str:
        """Next to an export, or in a snapshot."""
        return f"bundles/{self.sha256_hash}.{self.kind}"


class Revocation(msgspec.Struct, frozen=True):
    """Why and since when a version is revoked."""

    reason: str
    revoked_at: datetime


class Version(Declared, frozen=True, kw_only=True):
    """One published version. Its bundle never changes; yanking and deprecation may.

    `bundle_url` is None if the bundle is stored here, under its hash. `manifest` is the author's
    text, None for imported versions without one. `permissions` always include those of its
    capabilities, and its details those of the manifest, also for versions that were stored without
    them.
    """

    version: SemVer
    bundle_url: str | None
    bundle_size: int
    sha256_hash: str
    published_at: datetime
    is_yanked: bool = False
    yanked_reason: str | None = None
    deprecation_message: str | None = None
    style: Style | None = None
    manifest: str | None = None
    revocation: Revocation | None = None
    attached: tuple[AttachedFile, ...] = ()
    readme_words: str = ""
    """Of an attached README, for search."""

    def __post_init__(self) -> None:
        if self.manifest is not None and may_state_capabilities(self.manifest):
            complete = with_capabilities(self.permissions, capabilities_in(self.manifest))
            msgspec.structs.force_setattr(self, "permissions", complete)
        if self.manifest is not None and not all(getattr(self, it) for it in DETAIL_FIELDS):
            for name, value in details_in(self.manifest).items():
                if not getattr(self, name):
                    msgspec.structs.force_setattr(self, name, value)

    @property
    def requested(self) -> tuple[Permission, ...]:
        """Its permissions, with its capabilities in full."""
        return requested(self.permissions, self.manifest)

    @property
    def stored_files(self) -> list[VersionFile]:
        """Its files that are stored here, not linked to."""
        files = []
        if self.bundle_url is None:
            files.append(VersionFile(self.sha256_hash, "js", self.bundle_size))
        if self.style is not None:
            files.append(VersionFile(self.style.sha256_hash, "css", self.style.size_bytes))
        files += [VersionFile(it.sha256_hash, it.kind, it.size_bytes) for it in self.attached]
        return files

    @property
    def is_withdrawn(self) -> bool:
        """Whether it is shown as yanked: it was, or it is revoked."""
        return self.is_yanked or self.revocation is not None

    @property
    def withdrawn_reason(self) -> str | None:
        return self.yanked_reason if self.revocation is None else self.revocation.reason

    def with_revocation(self, revocation: Revocation | None) -> "Version":
        return msgspec.structs.replace(self, revocation=revocation)

    @property
    def number(self) -> str:
        """The full version, including build metadata."""
        return self.version.text

    @property
    def identity(self) -> str:
        """The version without build metadata, which identifies it."""
        return self.number.partition("+")[0]


def parse_key(key: str) -> tuple[Scope, WidgetName]:
    """`scope/name`, or as people write it, `@scope/name`."""
    scope, slash, name = key.removeprefix("@").partition("/")
    if not slash:
        raise InvalidName(f"{key[:80]!r} is not a widget: write scope and name, such as ann/clock.")
    return Scope.parse(scope), WidgetName.parse(name)


def runs_on(sdk: SemVer, *, sdk_version: str, is_yanked: bool) -> bool:
    """Whether a version is compatible: not yanked, and its SDK range admits the SDK."""
    return not is_yanked and is_compatible(sdk_version, sdk)


def newness(version: Version) -> tuple[datetime, SemVer]:
    """The sort key of *newest*: when it was published, then SemVer precedence."""
    return (version.published_at, version.version)


def newest_first(versions: list[Version]) -> tuple[Version, ...]:
    return tuple(sorted(versions, key=newness, reverse=True))


class Widget(msgspec.Struct, frozen=True, kw_only=True):
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

    @property
    def latest(self) -> Version | None:
        """The newest version that is neither yanked nor revoked."""
        return next((version for version in self.versions if not version.is_withdrawn), None)

    @property
    def text(self) -> tuple[str, str | None, str | None]:
        """The texts shown to people, which do not depend on the version."""
        return (self.display_name, self.description, self.icon)

    def next_instant(self, now: datetime) -> datetime:
        """The time at which a version published now counts as published: after all others.

        *Newest* means published last, so a clock that was set back must not put a new version
        behind an old one. Raises StoreUnavailable if the newest is dated so far ahead that either
        its date or the clock is wrong: it is unknown which.
        """
        if not self.versions:
            return now
        newest = self.versions[0]
        if newest.published_at - now > MAX_BEHIND:
            raise StoreUnavailable(
                f"The newest version of {self.scope}/{self.name}, {newest.number}, is dated "
                f"{iso(newest.published_at)}, and the server's clock says {iso(now)}. Nothing was "
                "published. The operator of this catalog must correct the clock; or, if the date "
                f"is wrong, run: widget-catalog version redate {self.scope}/{self.name}"
            )
        return max(now, newest.published_at + _MILLISECOND)

    def redated(self, now: datetime) -> "Widget":
        """This widget without versions dated after `now`; their order stays."""
        last = now
        versions = []
        for version in self.versions:  # Newest first.
            at = min(version.published_at, last)
            versions.append(msgspec.structs.replace(version, published_at=at))
            last = at - _MILLISECOND if at < version.published_at else last
        return self.with_versions(versions)

    def with_versions(self, versions: list[Version]) -> "Widget":
        """This widget with these versions, sorted."""
        return msgspec.structs.replace(self, versions=newest_first(versions))


class Totals(NamedTuple):
    """How much is listed; a scope counts if one of its widgets is."""

    widgets: int
    versions: int
    scopes: int
    downloads: int


def checked_reason(field: str, text: str) -> str:
    """Why a version is yanked, deprecated or revoked."""
    if error := line_error(text, MAX_REASON):
        raise InvalidRequest(f"{field}: {error}")
    return text.strip()
