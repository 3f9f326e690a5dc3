"""Revocations in memory: they are few, and checked for every bundle."""

from collections.abc import Mapping

import msgspec

from widget_contract.wire_running import Revocation

from ..core.http.content import Content
from .replica.documents import Documents
from .replica.rendering import RevokedVersion
from .replica.revocations import list_revocations

_NONE: Mapping[str, str] = {}


class Revocations:
    def __init__(self, documents: Documents) -> None:
        self._documents = documents
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

    def answer(self, revision: int) -> Content:
        """All of them, as of this number of the feed."""
        if self._content is None or self._revision != revision:
            self._read()
            body = b'{"revision":%d,"revocations":%b}' % (revision, self._entries)
            self._content, self._revision = Content(body), revision
        return self._content

    def _read(self) -> dict[tuple[str, str, str], RevokedVersion]:
        if self._by_version is None:
            rows = list_revocations(self._documents)
            self._by_version = {(it.scope, it.name, it.revoked.version): it.revoked for it in rows}
            for (scope, name, version), it in self._by_version.items():
                self._reasons.setdefault((scope, name), {})[version] = it.reason
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
