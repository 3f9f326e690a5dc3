"""Resolving: what a dashboard should do about each of its widgets, on its SDK.

Each widget is one read of the replica, so the cost does not depend on the size of the catalog. The
result is cached until the widget changes.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import NamedTuple

import msgspec
from zstandard import DICT_TYPE_RAWCONTENT, ZstdCompressionDict, ZstdCompressor, ZstdDecompressor

from widget_contract.capabilities import (
    Permission,
    PermissionChanges,
    in_words,
    listed,
    names_of,
    permission_changes,
    requested,
)
from widget_contract.semver import Range, SemVer
from widget_contract.version_files import STYLE, file_path
from widget_contract.wire import Shape
from widget_contract.wire_running import ConfigVersionChange, ResolveStatus

from ...core.clock import format_days, iso
from ..model.widgets import runs_on
from ..replica.cache import CacheByWidget
from ..replica.reader import Reading, ReplicaReader
from ..replica.records import DocumentRecord, Outline, decode_outline, decode_styles
from ..replica.rendering import with_cdn
from ..replica.versions import find_manifest
from .entry_comparison import (
    config_change,
    decode_permissions,
    known_changes,
    permission_changes_of,
    permissions_text,
)
from .revocations import RevocationCache


class Installed(NamedTuple):
    """A widget of the dashboard by its `scope/name`, and its installed version, if any.

    `range` is None if it admits every version; `range_text` is as sent.
    """

    key: str
    version: SemVer | None
    range: Range | None
    range_text: str | None = None


class Resolve(NamedTuple):
    sdk: SemVer
    min_age_days: float
    widgets: Sequence[Installed]


class _Result(Shape, frozen=True):
    """`wire.ResolveResult`, with entries that are already encoded as JSON."""

    id: str
    status: ResolveStatus
    installed: msgspec.Raw | None = None
    offer: msgspec.Raw | None = None
    latest_version: str | None = None
    permissions_added: Sequence[str] = ()
    permissions_removed: Sequence[str] = ()
    message: str = ""
    config_version_change: ConfigVersionChange | None = None


_encode = msgspec.json.Encoder().encode

_SLICE_S = 0.001
_NO_CHANGES = PermissionChanges()
# The number of new capabilities in a message, and of entities or services in each.
_FEW = 5
# Comparisons of permissions up to this total length are cached.
_SHORT_BYTES = 200
# Memory of a cached result besides its bytes.
_OVERHEAD_BYTES = 320
_FASTEST = -1

# The marker of this field in an entry. It cannot occur in text, where quotes are escaped.
_PUBLISHED, _PUBLISHED_BYTES = b',"publishedAt":"', 24


class TimeSlice:
    """Splits long work of one task on the event loop into slices of a millisecond."""

    def __init__(self) -> None:
        self._ends_at = time.perf_counter() + _SLICE_S

    @property
    def is_over(self) -> bool:
        return time.perf_counter() >= self._ends_at

    async def let_others_run(self) -> None:
        """If the slice is over, yield to other tasks, and start the next one."""
        if self.is_over:
            await asyncio.sleep(0)
            self._ends_at = time.perf_counter() + _SLICE_S


@dataclass
class Resolver:
    reader: ReplicaReader
    revocations: RevocationCache
    cdn_url: str
    known: CacheByWidget[bytes]
    """Results by SDK, installed version and range, packed. The owner drops those of changed
    widgets.
    """
    packing: "_Packing | None" = None

    async def results(
        self, asked: Resolve, now: datetime, time_slice: TimeSlice, note: Callable[[int], None]
    ) -> list[bytes]:
        """The results for all widgets, each as JSON; equal requests share one. `note` is called
        with the size of each, and may end it.
        """
        choice = _Choice(asked, now)
        # Hashing versions and ranges takes a while, and few requests repeat a widget.
        has_repeated = len({it.key for it in asked.widgets}) < len(asked.widgets)
        repeated: dict[tuple[object, ...], bytes] = {}
        results: list[bytes] = []
        left = iter(asked.widgets)
        while len(results) < len(asked.widgets):
            await time_slice.let_others_run()
            with self.reader.snapshot() as reading:
                for asking in left:
                    if not has_repeated:
                        results.append(self._known_result(reading, choice, asking))
                        note(len(results[-1]))
                    else:
                        # Before the cache, so that a response does not depend on it. Messages
                        # have the version as it was sent, which equal ones are not.
                        version = None if asking.version is None else asking.version.text
                        same = asking.key, version, asking.range
                        if same not in repeated:
                            repeated[same] = self._known_result(reading, choice, asking)
                            note(len(repeated[same]))
                        results.append(repeated[same])
                    if time_slice.is_over:
                        break
        return results

    def _known_result(self, reading: Reading, choice: "_Choice", asked: Installed) -> bytes:
        """From the cache, unless it depends on the current time."""
        if choice.days:
            return _encode(self._result(reading, choice, asked))
        version = None if asked.version is None else asked.version.text
        key = _shared_key(choice.sdk.text, version, asked.range_text)
        known = self.known.get(asked.key, key)
        if known is not None and self.packing is not None:
            return self.packing.unpack(known)
        result = self._result(reading, choice, asked)
        encoded = _encode(result)
        if result.status != "unknown":
            self.packing = self.packing or _Packing(encoded)
            packed = self.packing.pack(encoded)
            size = len(packed) + sum(2 * len(it) for it in key if it) + _OVERHEAD_BYTES
            self.known.offer(asked.key, key, packed, size)
        return encoded

    def _result(self, reading: Reading, choice: "_Choice", asked: Installed) -> _Result:
        key = asked.key
        record = self.reader.find(reading, key)
        if record is None:
            return _Result(key, "unknown", message=f"This catalog does not know {key}.")
        installed, offer, latest = choice.look_at(record, asked)
        is_listed, revoked = record.is_listed, None
        if installed is not None and installed[2]:
            scope, _, name = key.partition("/")
            revoked = self.revocations.find(scope, name, installed[0])
        if not is_listed:
            if not revoked:
                message = f"{key} is no longer listed: what is installed can stay, without updates."
                return _Result(key, "unlisted", message=message)
            offer = None
        status = "revoked" if revoked else _status(asked, installed, offer)
        entry = offered = None
        if installed is not None:
            entry = record.entry(*installed[3:])
        if offer is installed:
            offered = entry
        elif offer is not None:
            offered = record.entry(*offer[3:])
        changes = _NO_CHANGES
        if offer is not None and offered is not None and offered is not entry:
            old = _Asking(installed, b"[]" if entry is None else permissions_text(entry))
            changes = self._compare(
                reading, record.id, old, _Asking(offer, permissions_text(offered))
            )
        message = _message(key, status, choice, asked, installed, offer, latest)
        if installed is not None and offer is not None and changes.added:
            message += _may_also(offer[0], changes)
        return _Result(
            key,
            status,
            None if entry is None else msgspec.Raw(with_cdn(entry, self.cdn_url)),
            None
            if offer is None or offered is None
            else msgspec.Raw(self._offered(record, key, offer[0], offered)),
            latest if is_listed else None,
            names_of(changes.added),
            names_of(changes.removed),
            message,
            config_change(entry, offered),
        )

    def _offered(self, record: DocumentRecord, key: str, number: str, entry: bytes) -> bytes:
        """The entry of an offer, with the URL of its style sheet."""
        entry = with_cdn(entry, self.cdn_url)
        if not record.styles or number not in decode_styles(record.styles):
            return entry
        scope, _, name = key.partition("/")
        url = self.cdn_url + file_path(scope, name, number, STYLE)
        return b'%b,"cssUrl":%b}' % (entry[:-1], _encode(url))

    def _compare(
        self, reading: Reading, widget_id: int, old: "_Asking", new: "_Asking"
    ) -> PermissionChanges:
        """What the offer adds to the installed version, and what it drops."""
        before, after = old.permissions, new.permissions
        is_short = len(before) + len(after) <= _SHORT_BYTES
        known = (known_changes if is_short else permission_changes_of)(before, after)
        if known is not None:
            return known
        return permission_changes(
            self._requested(reading, widget_id, old), self._requested(reading, widget_id, new)
        )

    def _requested(
        self, reading: Reading, widget_id: int, asking: "_Asking"
    ) -> Sequence[Permission]:
        manifest = None
        if asking.version is not None:
            identity = asking.version[0].partition("+")[0]
            manifest = find_manifest(self.reader, reading, widget_id, identity)
        return requested(decode_permissions(asking.permissions), manifest)


class _Packing:
    """Compresses results against the first one, with which they have most of their text in common:
    to a third, and reading one again takes a microsecond.
    """

    def __init__(self, example: bytes) -> None:
        shared = ZstdCompressionDict(example, dict_type=DICT_TYPE_RAWCONTENT)
        shared.precompute_compress(level=_FASTEST)
        self.pack = ZstdCompressor(_FASTEST, dict_data=shared, write_dict_id=False).compress
        self.unpack = ZstdDecompressor(dict_data=shared).decompress


class _Asking(NamedTuple):
    """A version, if any, and its permissions as JSON."""

    version: Outline | None
    permissions: bytes


class _Choice:
    """Which version to offer. Results are cached, because most widgets of a dashboard are for the
    same few SDKs.
    """

    def __init__(self, asked: Resolve, now: datetime) -> None:
        self.sdk = asked.sdk
        self.days = days = asked.min_age_days
        # Versions published after this time are not offered, unless they are installed.
        self._newest = iso(now - timedelta(days=days)).encode() if days else None
        self._runs: dict[str, bool] = {}

    def look_at(
        self, record: DocumentRecord, asked: Installed
    ) -> tuple[Outline | None, Outline | None, str | None]:
        """The installed version, the newest compatible one, and the number of the latest. The
        outline is sorted newest first.
        """
        outline = record.outline
        versions = decode_outline(outline)
        installed = None
        if asked.version is not None:
            identity = asked.version.text.partition("+")[0]
            has_build = b"+" in outline
            for version in versions:
                if version[0] == identity or (
                    has_build and version[0].partition("+")[0] == identity
                ):
                    installed = version
                    break
        allowed, newest, runs = asked.range, self._newest, self._runs
        offer = latest = None
        for version in versions:
            number, sdk_version, is_yanked, start, length = version
            if is_yanked:
                continue
            if latest is None:
                latest = number
            is_compatible = runs.get(sdk_version)
            if is_compatible is None:
                is_compatible = runs_on(self.sdk, sdk_version=sdk_version, is_yanked=False)
                runs[sdk_version] = is_compatible
            if not is_compatible:
                continue
            if allowed is not None and not allowed.admits(SemVer.parse(number)):
                continue
            if newest is not None and version is not installed:
                entry = record.entry(start, length)
                if _published_at(entry) > newest:
                    continue
            offer = version
            break
        return installed, offer, latest


@lru_cache(1_000)
def _shared_key(sdk: str, version: str | None, range_text: str | None) -> tuple[str | None, ...]:
    """One object for all equal ones: many widgets are asked for alike."""
    return sdk, version, range_text


def _published_at(entry: bytes) -> bytes:
    start = entry.index(_PUBLISHED) + len(_PUBLISHED)
    return entry[start : start + _PUBLISHED_BYTES]


def _status(asked: Installed, installed: Outline | None, offer: Outline | None) -> ResolveStatus:
    if installed is not None and installed[2]:
        return "yanked"
    if offer is None:
        return "incompatible"
    if asked.version is None:
        return "install"
    if offer is installed:
        return "current"
    # Neither the installed version nor a newer one is compatible: an update is never an older
    # version.
    return "incompatible" if _is_older(offer, installed) else "update"


def _is_older(offer: Outline, installed: Outline | None) -> bool:
    """Published earlier, and with a lower number: 2.0.0 is no downgrade from a later 1.3.0."""
    if installed is None or offer[3] < installed[3]:  # Newer versions come first.
        return False
    return SemVer.parse(offer[0]).sort_key < SemVer.parse(installed[0]).sort_key


def _may_also(number: str, changes: PermissionChanges) -> str:
    words = [in_words(it, _FEW) for it in changes.added if not isinstance(it, str)]
    return f" {number} may also {listed(words, _FEW)}." if words else ""


def _message(
    key: str,
    status: ResolveStatus,
    choice: _Choice,
    asked: Installed,
    installed: Outline | None,
    offer: Outline | None,
    latest: str | None,
) -> str:
    number = "" if asked.version is None else asked.version.text
    other = "" if offer is None else offer[0]
    if status == "current":
        return f"{key} {number} is up to date."
    if status == "install":
        return f"{key} {other} can be installed."
    if status == "incompatible" and offer is not None:
        return f"{key} {number} does not fit; {other}, an older version, does."
    if status == "incompatible" and latest is None:
        return f"No version of {key} is available."
    if status == "incompatible":
        within = " in this range" if asked.range is not None else ""
        aged = f" that is at least {format_days(choice.days)} old" if choice.days else ""
        return f"No version of {key}{within}{aged} runs on SDK {choice.sdk.text}."
    if status == "update":
        if installed is None:
            return f"{key} {number} is not known here. {other} can be installed."
        return f"{key} can be updated from {number} to {other}."
    instead = f"Use {other} instead." if other else "There is no other version that fits."
    if status == "revoked":
        return f"{key} {number} was revoked: unload it. {instead}"
    return f"{key} {number} was taken back by its author. {instead}"
