"""Revocations in memory: they are few, and checked for every bundle."""

from collections.abc import Mapping

import msgspec

from widget_contract.wire_running import Revocation

from ...core.http.content import Content
from ..replica.reader import ReplicaReader
from ..replica.records import damaged, unseal
from ..replica.rendering import RevokedVersion

_NONE: Mapping[str, str] = {}

_decode = msgspec.json.Decoder(list[RevokedVersion]).decode


_Row = tuple[str, str, RevokedVersion]
"""Scope and name of a widget, and a revoked version of it."""


def list_revocations(reader: ReplicaReader) -> list[_Row]:
    """Of all widgets, listed or not; newest first."""
    rows: list[_Row] = []
    with reader.snapshot() as reading, reading.cursor(reader.file.revocations) as cursor:
        for key, record in cursor:
            widget_id = int.from_bytes(key, "big")
            index_row = reader.find_index_row(reading, widget_id)
            if index_row is None:
                raise damaged(f"the index row of widget {widget_id}")
            revoked = _decode(unseal(key, record, f"the revocations of widget {widget_id}"))
            rows += [(index_row.scope, index_row.name, it) for it in revoked]
    rows.sort(key=lambda it: (it[0], it[1], it[2].version))
    return sorted(rows, key=lambda it: it[2].at, reverse=True)


class RevocationCache:
    def __init__(self, reader: ReplicaReader) -> None:
        self._reader = reader
        self.clear()

    def clear(self) -> None:
        """Drop them after a change; they are read again on next use."""
        self._by_version: dict[tuple[str, str, str], RevokedVersion] | None = None
        self._reasons: dict[tuple[str, str], dict[str, str]] = {}
        self._entries = b""
        self._content: Content | None = None
        self._revision = -1

    def find(self, scope: str, name: str, version: str) -> RevokedVersion | None:
        """The revocation of this version, if any. `version` includes build metadata."""
        return self._read().get((scope, name, version))

    def reasons_of(self, scope: str, name: str) -> Mapping[str, str]:
        """The revoked versions of a widget, each with the reason."""
        self._read()
        return self._reasons.get((scope, name), _NONE)

    def content(self, revision: int) -> Content:
        """All of them, as of this number of the feed."""
        if self._content is None or self._revision != revision:
            self._read()
            body = b'{"revision":%d,"revocations":%b}' % (revision, self._entries)
            self._content, self._revision = Content(body), revision
        return self._content

    def _read(self) -> dict[tuple[str, str, str], RevokedVersion]:
        if self._by_version is None:
            rows = list_revocations(self._reader)
            self._by_version = {(scope, name, it.version): it for scope, name, it in rows}
            for scope, name, revoked in rows:
                self._reasons.setdefault((scope, name), {})[revoked.version] = revoked.reason
            entries = [
                Revocation(
                    revoked.sha256_hash,
                    f"{scope}/{name}",
                    revoked.version,
                    revoked.reason,
                    revoked.at,
                )
                for scope, name, revoked in rows
            ]
            self._entries = msgspec.json.encode(entries)
        return self._by_version
