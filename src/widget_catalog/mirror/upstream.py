"""Upstream: widgets of the mirrored catalog as local values, with their files
verified and stored.
"""

import re
import tempfile
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, BinaryIO, NamedTuple, cast

import httpx
import msgspec
from msgspec import UNSET

from widget_catalog_client import (
    Catalog,
    PublishedFile,
    Settings,
    VersionDetail,
    VersionEntry,
    WidgetDetail,
)
from widget_contract.errors import CatalogError
from widget_contract.manifest_details import details_of
from widget_contract.texts import printable
from widget_contract.version_files import BUNDLE, STYLE, is_path, kind_of, max_bytes_of
from widget_contract.wire import RegistryWidget, WidgetHead

from ..catalog.model.widgets import MAX_REASON, Revocation, Version, Widget
from ..catalog.store.attached_content import check_content, stored_words
from ..core.clock import from_ms, iso
from ..core.errors import BundleRefused
from ..core.files.contract import Bundles, Kind
from ..core.files.verified_bundles import is_intact
from ..transfer.export_catalog import name_files
from ..transfer.ndjson import ImportedBundle, Rules, decode_line

_HASH = re.compile("[0-9a-f]{64}")
_WIDGET_KEYS = tuple(it.encode_name for it in msgspec.structs.fields(WidgetHead))
_FILE_KEYS = {BUNDLE: "bundleFile", STYLE: "cssFile"}
_IN_MEMORY_BYTES = 1 << 20
# Tolerance for a clock of the other catalog that is ahead of ours.
_CLOCK_SKEW = timedelta(days=1)


class MirrorError(CatalogError):
    """A widget of the upstream cannot be copied."""


class Head(NamedTuple):
    """A widget as listed by the upstream. A registry does not include the creation time."""

    scope: str
    name: str
    widget: WidgetHead
    versions: tuple[VersionEntry, ...]
    created_at: str | None = None

    @property
    def id(self) -> str:
        return f"{self.scope}/{self.name}"


def head_in_registry(scope: str, widget: RegistryWidget) -> Head:
    return Head(scope, widget.name, widget, widget.versions)


def head_in_detail(found: WidgetDetail, known: Widget) -> Head:
    """A detail has `false` where a registry has `null`."""
    head = found.widget
    is_official = (
        known.is_official if head.is_official is bool(known.is_official) else head.is_official
    )
    widget = msgspec.structs.replace(head, is_official=is_official)
    return Head(str(known.scope), str(known.name), widget, found.versions, head.created_at)


class Upstream:
    """The upstream's state in one round of mirroring. Used by several threads.

    `elsewhere` downloads files from other hosts than the upstream's.
    """

    def __init__(
        self,
        catalog: Catalog,
        elsewhere: Catalog,
        settings: Settings,
        bundles: Bundles,
        max_bundle_bytes: int,
        now_ms: int,
    ) -> None:
        self.catalog = catalog
        self._elsewhere = elsewhere
        self._base_url = settings.base_url.rstrip("/") + "/"
        self._own = tuple({f"{settings.cdn_base_url.rstrip('/')}/", f"{self._base_url}cdn/"})
        self._revoked = {
            (revocation.id, revocation.version.partition("+")[0]): (
                revocation.reason,
                revocation.at,
            )
            for revocation in catalog.revocations().revocations
        }
        self._bundles = bundles
        self._max_bundle_bytes = max_bundle_bytes
        self._rules = Rules(from_ms(now_ms) + _CLOCK_SKEW, is_lenient=True)

    def copy(self, head: Head, known: Widget | None) -> Widget:
        """The widget as it should be here. Its files are stored when this returns."""
        before = {it.identity: it for it in known.versions} if known is not None else {}
        created_at = iso(known.created_at) if known is not None else head.created_at
        sizes: dict[str, int] = {}
        lines = []
        for entry in head.versions:
            old = before.get(entry.version.partition("+")[0])
            if old is not None and self._has_all(head, entry, old):
                line = _known_line(entry, old, sizes)
            else:
                detail = self.catalog.version(head.id, entry.version)
                created_at = created_at or detail.widget.created_at
                line = self._new_line(head, entry, detail, sizes)
            if "bundleFile" in line:
                del line["bundleUrl"]
            lines.append(line)
        if created_at is None:
            created_at = self.catalog.detail(head.id).widget.created_at
        fields = msgspec.to_builtins(head.widget)
        widget = {
            **{key: fields[key] for key in _WIDGET_KEYS},
            "scope": head.scope,
            "name": head.name,
            "createdAt": created_at,
            "versions": lines,
        }
        return self.with_revocations(self._decoded(widget, sizes), before)

    def with_revocations(self, widget: Widget, before: Mapping[str, Version]) -> Widget:
        """The versions with the upstream's revocations. For a revoked version it is not known
        whether it was yanked, too.
        """
        versions = []
        for version in widget.versions:
            revocation = self._revocation(f"{widget.scope}/{widget.name}", version.identity)
            is_yanked, reason = version.is_yanked, version.yanked_reason
            if revocation is not None:
                old = before.get(version.identity)
                is_yanked = old is not None and old.is_yanked
                reason = old.yanked_reason if old is not None else None
            versions.append(
                msgspec.structs.replace(
                    version, revocation=revocation, is_yanked=is_yanked, yanked_reason=reason
                )
            )
        return widget.with_versions(versions)

    def _revocation(self, widget_id: str, identity: str) -> Revocation | None:
        found = self._revoked.get((widget_id, identity))
        if found is None:
            return None
        reason, at = found
        try:
            moment = datetime.fromisoformat(at)
            # Without a time zone, it is UTC.
            moment = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).astimezone(UTC)
        except (ValueError, OverflowError):
            raise MirrorError(f"{identity} is said to be revoked at {at[:40]!r}.") from None
        # The version must not run here either, so an invalid reason is cleaned up, not rejected.
        return Revocation(printable(reason)[:MAX_REASON], moment)

    def _has_all(self, head: Head, entry: VersionEntry, old: Version) -> bool:
        """Whether the files of a version are here. A published version never changes."""
        if (old.sha256_hash, old.bundle_size) != (entry.sha256_hash, entry.bundle_size):
            raise MirrorError(
                f"version {old.number} is said to have the SHA-256 {entry.sha256_hash[:64]}, and "
                f"has {old.sha256_hash} here. A published version never changes."
            )
        is_revoked = (head.id, old.identity) in self._revoked
        return old.bundle_url is None or is_revoked or not self._is_own(entry.bundle_url)

    def _new_line(
        self, head: Head, entry: VersionEntry, detail: VersionDetail, sizes: dict[str, int]
    ) -> dict[str, Any]:
        line = _line(entry) | details_of(detail)
        if detail.manifest is not None:
            line["manifest"] = msgspec.json.encode(detail.manifest).decode()
        is_revoked = (head.id, entry.version.partition("+")[0]) in self._revoked
        # Files of revoked versions are not served. They are fetched when the revocation is
        # withdrawn.
        if is_revoked:
            return line
        for file in detail.files:
            if not is_path(file.path):
                continue  # Of a newer release.
            stated = (file.sha256_hash, file.size)
            if file.path == BUNDLE and stated != (entry.sha256_hash, entry.bundle_size):
                raise MirrorError(f"two hashes or sizes are stated for {entry.version}.")
            if not self._is_own(file.url):
                continue  # Hosted elsewhere, as on the other catalog.
            self._take(file, kind_of(file.path))
            sizes[file.sha256_hash] = file.size
            if file.path in _FILE_KEYS:
                line[_FILE_KEYS[file.path]] = file.sha256_hash
                continue
            attached: dict[str, Any] = {"path": file.path, "file": file.sha256_hash}
            if file.width is not UNSET and file.height is not UNSET:
                attached |= {"width": file.width, "height": file.height}
            line.setdefault("files", []).append(attached)
        return line

    def _take(self, file: PublishedFile, kind: Kind) -> None:
        if _HASH.fullmatch(file.sha256_hash) is None:
            raise MirrorError(f"{file.url} is said to have the SHA-256 {file.sha256_hash[:80]!r}.")
        most = max_bytes_of(kind, self._max_bundle_bytes)
        if file.size > most:
            allows = (
                "the setting max_bundle_bytes allows"
                if file.path in _FILE_KEYS
                else "such a file may have"
            )
            raise MirrorError(f"{file.url} has {file.size:,} bytes; {allows} {most:,}.")
        if is_intact(self._bundles, file.sha256_hash, kind, file.size):
            return
        reached = msgspec.structs.replace(file, url=self._reached(file.url))
        is_there = _origin_of(reached.url) == _origin_of(self.catalog.url)
        source = self.catalog if is_there else self._elsewhere
        with tempfile.SpooledTemporaryFile(_IN_MEMORY_BYTES) as copy:
            stream = cast(BinaryIO, copy)
            source.download_bundle(reached, stream)
            if file.path not in _FILE_KEYS:
                stream.seek(0)
                try:
                    check_content(stream.read(), kind)
                except BundleRefused as error:
                    raise MirrorError(f"{file.url} {error.message}") from None
            self._bundles.put(stream, file.sha256_hash, kind)

    def _is_own(self, url: str) -> bool:
        return url.startswith(self._own)

    def _reached(self, url: str) -> str:
        """A URL of the catalog, below the address at which we reach it, which may differ from its
        own.
        """
        if url.startswith(self._base_url):
            return f"{self.catalog.url}/{url.removeprefix(self._base_url)}"
        return url

    def _decoded(self, line: dict[str, Any], sizes: Mapping[str, int]) -> Widget:
        def imported(name: str, kind: Kind, _makes_thumbnail: bool) -> ImportedBundle:
            words = stored_words(self._bundles, name, kind, sizes[name])
            return ImportedBundle(name, sizes[name], words=words)

        return decode_line(msgspec.json.encode(line), imported, self._rules).widget


def _origin_of(url: str) -> tuple[str, str, int | None]:
    """Scheme, host and port of a URL, as the library that connects parses it."""
    try:
        parsed = httpx.URL(url)
        return parsed.scheme, parsed.host, parsed.port
    except httpx.InvalidURL:
        raise MirrorError(f"{url[:200]!r} is not the URL of a file.") from None


def _line(entry: VersionEntry) -> dict[str, Any]:
    line: dict[str, Any] = msgspec.to_builtins(entry)
    del line["scope"], line["name"]
    return line


def _known_line(entry: VersionEntry, old: Version, sizes: dict[str, int]) -> dict[str, Any]:
    line = _line(entry) | details_of(old) | name_files(old, lambda it: it.sha256_hash)
    for file in old.stored_files:
        sizes[file.sha256_hash] = file.size_bytes
    if old.manifest is not None:
        line["manifest"] = old.manifest
    return line
