"""StoredFiles: which files a version has in this catalog's storage, from the read model."""

from typing import NamedTuple

import msgspec

from widget_contract.names import is_widget_key
from widget_contract.version_files import BUNDLE, STYLE

from ..model.widgets import AttachedFile
from ..replica.cache import ByteBoundedCache
from ..replica.reader import ReplicaReader
from ..replica.records import decode_outline, decode_styles
from ..replica.rendering import is_stored_here
from ..replica.versions import find_attached

_REMEMBERED_BYTES = 1 << 20


class FileRef(NamedTuple):
    sha256_hash: str
    size_bytes: int


class _Bundle(msgspec.Struct, rename="camel"):
    bundle_url: str
    bundle_size: int
    sha256_hash: str


_decode_bundle = msgspec.json.Decoder(_Bundle).decode


class StoredFiles:
    """Those of versions, which never change; a version's widget may be unlisted."""

    def __init__(self, reader: ReplicaReader) -> None:
        self._reader = reader
        self._found: ByteBoundedCache[tuple[str, str], FileRef] = ByteBoundedCache(
            _REMEMBERED_BYTES
        )

    def clear(self) -> None:
        self._found.clear()

    def find_bundle(self, scope: str, name: str, version: str) -> FileRef | None:
        """The bundle of this version, if it is stored here; its widget may be unlisted."""
        at = (f"{scope}/{name}", version)
        found = self._found.items.get(at)
        if found is None and is_widget_key(at[0]):
            found = self._find_bundle(*at)
            if found is not None:
                self._found.put(at, found, 500)
        return found

    def _find_bundle(self, key: str, version: str) -> FileRef | None:
        with self._reader.snapshot() as reading:
            record = self._reader.find(reading, key)
            if record is None:
                return None
            for number, _, _, *place in decode_outline(record.outline):
                if number == version:
                    bundle = _decode_bundle(record.entry(*place))
                    if is_stored_here(bundle.bundle_url):
                        return FileRef(bundle.sha256_hash, bundle.bundle_size)
        return None

    def find(self, scope: str, name: str, version: str, path: str) -> FileRef | None:
        """A file of this version that is stored here; its widget may be unlisted."""
        if path == BUNDLE:
            return self.find_bundle(scope, name, version)
        if path == STYLE:
            return self.find_style(scope, name, version)
        attached = self.list_attached(scope, name, version)
        found = next((it for it in attached if it.path == path), None)
        return None if found is None else FileRef(found.sha256_hash, found.size_bytes)

    def list_attached(self, scope: str, name: str, version: str) -> tuple[AttachedFile, ...]:
        """The README and the pictures of this version; its widget may be unlisted."""
        key = f"{scope}/{name}"
        return find_attached(self._reader, key, version) if is_widget_key(key) else ()

    def find_style(self, scope: str, name: str, version: str) -> FileRef | None:
        key = f"{scope}/{name}"
        if not is_widget_key(key):
            return None
        styles = self._reader.find_styles(key)
        found = decode_styles(styles).get(version) if styles else None
        return None if found is None else FileRef(found[1], found[0])
