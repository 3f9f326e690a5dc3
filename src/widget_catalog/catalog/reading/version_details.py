"""Cached details of single versions, with the download count of the widget."""

import base64
from collections.abc import Sequence
from typing import Any

import msgspec
from msgspec import UNSET

from widget_contract.capabilities import (
    capabilities_in,
    names_of,
    permission_changes,
    requested,
)
from widget_contract.manifest_details import DeclaredDetails, details_in
from widget_contract.names import is_widget_key
from widget_contract.version_files import BUNDLE, CONTENT_TYPES, STYLE, file_path
from widget_contract.wire_running import PublishedFile, RevokedState

from ...core.http.content import MAX_INLINE_BYTES, AnyContent, Packer
from ..model.widgets import AttachedFile
from ..replica.cache import CacheByWidget, CacheRoom
from ..replica.reader import ReplicaReader
from ..replica.records import full_hash
from ..replica.rendering import RevokedVersion, is_stored_here, with_cdn
from ..replica.versions import StoredVersion, attached_in, find_version
from .details import SmallDetail
from .revocations import RevocationCache

_OVERHEAD_BYTES = 1_200


class _Bundle(msgspec.Struct, rename="camel"):
    version: str
    bundle_url: str
    bundle_size: int
    sha256_hash: str
    permissions: tuple[str, ...]


class VersionExtras(DeclaredDetails, frozen=True):
    """The details of a version, the manifest that it was published with, its files, whether its
    bundle is stored here, and the reason of its revocation, if any."""

    manifest: dict[str, Any] | None = None
    files: tuple[PublishedFile, ...] = ()
    is_here: bool = False
    revoked: RevokedState | None = None


_decode_bundle = msgspec.json.Decoder(_Bundle).decode
_decode_details = msgspec.json.Decoder(DeclaredDetails).decode
_encode = msgspec.json.Encoder().encode


class VersionDetails:
    """Cached until their widget changes."""

    def __init__(
        self,
        reader: ReplicaReader,
        revocations: RevocationCache,
        packer: Packer,
        cdn_url: str,
        max_bytes: int,
        room: CacheRoom,
    ) -> None:
        self._reader = reader
        self._revocations = revocations
        self._packer = packer
        self._cdn_url = cdn_url
        self._kept: CacheByWidget[SmallDetail] = CacheByWidget(max_bytes, room)
        self.drop, self.clear = self._kept.drop, self._kept.clear

    def content(self, key: str, slots: Sequence[int]) -> AnyContent | None:
        """The version with this `scope/name/version`; None if it does not exist or is
        not listed.
        """
        widget, _, version = key.rpartition("/")
        detail = self._kept.get(widget, version)
        if detail is None:
            if not is_widget_key(widget):
                return None
            identity = version.partition("+")[0]
            row = find_version(self._reader, widget, identity)
            if row is None:
                return None
            before, rest = row.before, self._render(widget, row)
            count = slots[row.widget_id]
            if len(before) + len(rest) > MAX_INLINE_BYTES:
                return self._packer.content([b"%b%d" % (before, count), rest])
            tag = full_hash(before + rest)
            detail = SmallDetail(row.widget_id, before, rest, tag, count)
            if version == row.number or version == identity:
                self._kept.offer(widget, version, detail, len(rest) + _OVERHEAD_BYTES)
        count = slots[detail.id]
        if count != detail.count:
            detail.show(count)
        return detail.content

    def find_extras(self, widget: str, version: str) -> VersionExtras | None:
        """What is in the response to a request for this version, and not in its entry. It takes
        half as long to make as the response, and is not cached: a page that shows it is.
        """
        row = find_version(self._reader, widget, version.partition("+")[0])
        if row is None:
            return None
        scope, _, name = widget.partition("/")
        bundle = _decode_bundle(with_cdn(row.entry, self._cdn_url))
        fields = {
            **_details(row),
            "manifest": msgspec.json.decode(_manifest(row.manifest)),
            "files": self._files(scope, name, bundle, row),
            "isHere": is_stored_here(_decode_bundle(row.entry).bundle_url),
            "revoked": _revoked(self._revocations.find(scope, name, row.number)),
        }
        return msgspec.convert(fields, VersionExtras)

    def _render(self, widget: str, row: StoredVersion) -> bytes:
        """The part after the count."""
        scope, _, name = widget.partition("/")
        entry = with_cdn(row.entry, self._cdn_url)
        bundle = _decode_bundle(entry)
        previous = None if row.previous is None else _decode_bundle(row.previous)
        allowed = () if previous is None else previous.permissions
        added, removed = permission_changes(
            requested(allowed, row.previous_manifest), requested(bundle.permissions, row.manifest)
        )
        revoked = self._revocations.find(scope, name, row.number)
        parts = (
            b',"createdAt":"%b"},"version":' % row.created_at.encode(),
            entry,
            b',"manifest":',
            _manifest(row.manifest),
            b',"files":',
            _encode(self._files(scope, name, bundle, row)),
            b',"permissionsAdded":',
            _encode(names_of(added)),
            b',"permissionsRemoved":',
            _encode(names_of(removed)),
            b',"previousVersion":',
            _encode(None if previous is None else previous.version),
            b',"revoked":',
            _encode(_revoked(revoked)),
            b",",
            _encode({"capabilities": capabilities_in(row.manifest), **_details(row)})[1:],
        )
        return b"".join(parts)

    def _files(
        self, scope: str, name: str, bundle: _Bundle, row: StoredVersion
    ) -> list[PublishedFile]:
        def extras(file: AttachedFile) -> PublishedFile:
            return _file(self._cdn_url + file_path(scope, name, bundle.version, file.path), file)

        module = AttachedFile(BUNDLE, bundle.bundle_size, bundle.sha256_hash)
        files = [_file(bundle.bundle_url, module)]
        if row.style is not None:
            files.append(extras(AttachedFile(STYLE, *row.style)))
        return files + [extras(it) for it in attached_in(row.details)]


def _details(row: StoredVersion) -> dict[str, object]:
    found = _decode_details(row.details)
    stated = {} if row.manifest is None else details_in(row.manifest)
    missing = {name: value for name, value in stated.items() if not getattr(found, name)}
    details: dict[str, object] = msgspec.to_builtins(msgspec.structs.replace(found, **missing))
    return details


def _file(url: str, file: AttachedFile) -> PublishedFile:
    digest = base64.b64encode(bytes.fromhex(file.sha256_hash)).decode()
    return PublishedFile(
        file.path,
        url,
        file.size_bytes,
        file.sha256_hash,
        f"sha256-{digest}",
        CONTENT_TYPES[file.kind],
        UNSET if file.width is None else file.width,
        UNSET if file.height is None else file.height,
    )


def _manifest(text: bytes | None) -> bytes:
    """As published. An imported manifest that is not a JSON object is omitted."""
    if text is None:
        return b"null"
    try:
        return text if isinstance(msgspec.json.decode(text), dict) else b"null"
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return b"null"


def _revoked(revoked: RevokedVersion | None) -> RevokedState | None:
    return None if revoked is None else RevokedState(revoked.reason, revoked.at)
