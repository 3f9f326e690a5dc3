"""Resolving: what a dashboard should do about each of its widgets, on the SDK it runs.

Costs some 15 µs a widget, whatever the size of the catalog: it is read from the replica.
"""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

import msgspec

from widget_contract.semver import Range, SemVer
from widget_contract.wire import Shape
from widget_contract.wire_running import ResolveStatus

from ..domain.clock import iso
from ..domain.widgets import runs_on
from ..replica.documents import Documents, Reading
from ..replica.records import DocumentRecord
from ..replica.rendering import Outline, with_cdn
from .revocations import Revocations
from .version_details import missing_in


class Installed(NamedTuple):
    """A widget of the dashboard's, and the version it has, if any."""

    scope: str
    name: str
    version: SemVer | None
    range: Range | None


class Resolve(NamedTuple):
    sdk: SemVer
    min_age_days: float
    widgets: Sequence[Installed]


class _Result(Shape, frozen=True):
    """`wire.ResolveResult`, with entries that are JSON already."""

    id: str
    status: ResolveStatus
    installed: msgspec.Raw | None = None
    offer: msgspec.Raw | None = None
    latest_version: str | None = None
    permissions_added: Sequence[str] = ()
    permissions_removed: Sequence[str] = ()
    message: str = ""


class _Published(msgspec.Struct, rename="camel"):
    published_at: str
    permissions: tuple[str, ...]


_decode_outline = msgspec.json.Decoder(list[Outline]).decode
_decode_published = msgspec.json.Decoder(_Published).decode
_encode = msgspec.json.Encoder().encode


class Resolver:
    def __init__(self, documents: Documents, revocations: Revocations, cdn_url: str) -> None:
        self._documents = documents
        self._revocations = revocations
        self._cdn_url = cdn_url

    def results(self, asked: Resolve, some: Sequence[Installed], now: datetime) -> list[bytes]:
        """The results for some of the widgets that are asked for, each as JSON."""
        choice = _Choice(asked, now)
        with self._documents.snapshot() as reading:
            return [_encode(self._result(reading, choice, it)) for it in some]

    def _result(self, reading: Reading, choice: "_Choice", asked: Installed) -> _Result:
        key = f"{asked.scope}/{asked.name}"
        record = self._documents.find(reading, key)
        if record is None:
            return _Result(key, "unknown", message=f"This catalog does not know {key}.")
        outline = _decode_outline(record.outline)
        installed = None if asked.version is None else _find(outline, asked.version)
        revoked = (
            installed is not None
            and installed.is_yanked
            and self._revocations.find(asked.scope, asked.name, installed.version)
        )
        is_listed = record.is_listed
        if not is_listed and not revoked:
            message = f"{key} is no longer listed: what is installed can stay, without updates."
            return _Result(key, "unlisted", message=message)
        offer = choice.find(record, outline, asked, installed) if is_listed else None
        status = "revoked" if revoked else _status(asked, installed, offer)
        entry = None if installed is None else record.entries_at(installed.place)
        offered = entry
        if offer is not installed:
            offered = None if offer is None else record.entries_at(offer.place)
        added, removed = _permissions(entry, offered)
        return _Result(
            key,
            status,
            self._shown(entry),
            self._shown(offered),
            _latest(outline) if is_listed else None,
            added,
            removed,
            _message(key, status, choice.sdk, asked, installed, offer),
        )

    def _shown(self, entry: bytes | None) -> msgspec.Raw | None:
        return None if entry is None else msgspec.Raw(with_cdn(entry, self._cdn_url))


class _Choice:
    """Which version to offer. It remembers what it has found out: a dashboard's widgets were
    mostly made for the same few SDKs."""

    def __init__(self, asked: Resolve, now: datetime) -> None:
        self.sdk = asked.sdk
        days = asked.min_age_days
        # What was published after this instant is not offered, unless it is installed.
        self._newest = iso(now - timedelta(days=days)) if days else None
        self._runs: dict[str, bool] = {}

    def find(
        self,
        record: DocumentRecord,
        outline: Sequence[Outline],
        asked: Installed,
        installed: Outline | None,
    ) -> Outline | None:
        """The newest version that fits; the outline has the newest first."""
        wanted = asked.range
        for it in outline:
            version, sdk_version, is_yanked, *_ = it
            if is_yanked:
                continue
            runs = self._runs.get(sdk_version)
            if runs is None:
                runs = runs_on(self.sdk, sdk_version=sdk_version, is_yanked=False)
                self._runs[sdk_version] = runs
            if not runs or (wanted is not None and not wanted.admits(SemVer.parse(version))):
                continue
            if self._newest is None or it is installed or self._is_old(record, it):
                return it
        return None

    def _is_old(self, record: DocumentRecord, it: Outline) -> bool:
        published_at = _decode_published(record.entries_at(it.place)).published_at
        return self._newest is not None and published_at <= self._newest


def _find(outline: Sequence[Outline], version: SemVer) -> Outline | None:
    identity = version.text.partition("+")[0]
    for it in outline:
        if it.version == identity or it.version.partition("+")[0] == identity:
            return it
    return None


def _latest(outline: Sequence[Outline]) -> str | None:
    return next((it.version for it in outline if not it.is_yanked), None)


def _status(asked: Installed, installed: Outline | None, offer: Outline | None) -> ResolveStatus:
    if installed is not None and installed.is_yanked:
        return "yanked"
    if offer is None:
        return "incompatible"
    if asked.version is None:
        return "install"
    return "current" if offer is installed else "update"


def _permissions(
    installed: bytes | None, offered: bytes | None
) -> tuple[Sequence[str], Sequence[str]]:
    """What the offer asks for besides what is installed, and what it no longer does."""
    if offered is None or offered is installed:
        return (), ()
    before = () if installed is None else _decode_published(installed).permissions
    after = _decode_published(offered).permissions
    if before == after:
        return (), ()
    return missing_in(before, after), missing_in(after, before)


def _message(
    key: str,
    status: ResolveStatus,
    sdk: SemVer,
    asked: Installed,
    installed: Outline | None,
    offer: Outline | None,
) -> str:
    """A sentence for a person."""
    number = "" if asked.version is None else asked.version.text
    other = "" if offer is None else offer.version
    instead = f" Use {other} instead." if other else " There is no other version that fits."
    if status == "current":
        return f"{key} {number} is up to date."
    if status == "install":
        return f"{key} {other} can be installed."
    if status == "revoked":
        return f"{key} {number} was revoked: unload it.{instead}"
    if status == "yanked":
        return f"{key} {number} was taken back by its author.{instead}"
    if status == "incompatible":
        within = " in this range" if asked.range is not None else ""
        return f"No version of {key}{within} runs on SDK {sdk.text}."
    if installed is None:
        return f"{key} {number} is not known here. {other} can be installed."
    if offer is not None and offer.start > installed.start:  # Newer ones stand before older ones.
        return f"{key} {number} does not fit; {other}, an older version, does."
    return f"{key} can be updated from {number} to {other}."
