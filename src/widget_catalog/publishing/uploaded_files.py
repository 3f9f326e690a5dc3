"""The uploads of a request: verified and stored, before the version that refers to them."""

import contextlib
import hashlib
import io
from typing import BinaryIO

from widget_contract.version_files import (
    BUNDLE,
    README,
    STYLE,
    AnnouncedFile,
    kind_of,
    thumbnail_of,
)

from ..catalog.model.widgets import AttachedFile, in_order
from ..catalog.store.attached_content import Picture, check_content, words_of
from ..catalog.store.files import remove_unused
from ..core.db.engine import Store
from ..core.errors import BundleNotFound, BundleRefused, InvalidRequest, StoreUnavailable
from ..core.files.contract import Bundles, FileKey, Kind, Uploads
from ..core.files.hashing import hash_stream
from .picture_checks import Checked, NotChecked
from .store import FileSpec, PublishRequest, add_requested_files

_WHAT = {BUNDLE: "bundle", STYLE: "style sheet", README: "README"}
_NOT_UPLOADED = "was not uploaded yet."


class UploadedFiles:
    """The uploads of a request: verified, then stored. Nothing refers to them yet."""

    def __init__(
        self,
        store: Store,
        bundles: Bundles,
        uploads: Uploads,
        request: PublishRequest,
        checked: Checked,
    ) -> None:
        self._store = store
        self._bundles = bundles
        self._uploads = uploads
        self._request = request
        self._checked = checked
        self._attached: dict[str, AttachedFile] = {}
        self.readme_words = ""
        self.keys: list[FileKey] = []
        self.new: list[FileKey] = []
        """Those that were not stored before."""

    @property
    def attached(self) -> tuple[AttachedFile, ...]:
        return in_order(self._attached)

    def put_all(self) -> None:
        """Raises InvalidRequest with all errors, but only that of the first picture that is
        refused; then nothing new is stored. Raises Busy.
        """
        errors: list[str] = []
        thumbnails = []
        try:
            for path, spec in self._request.files.items():
                try:
                    picture = self._put(path, spec, is_valid=not errors)
                except InvalidRequest as error:
                    errors.append(error.message)
                    continue
                if picture is not None:
                    thumbnails.append((thumbnail_of(path), picture))
            if errors:
                raise InvalidRequest(_joined(errors))
            self._put_thumbnails(thumbnails)
        except BaseException:
            with contextlib.suppress(StoreUnavailable):
                remove_unused(self._store, self._bundles, self.new)
            raise

    def _put(self, path: str, spec: FileSpec, *, is_valid: bool) -> Picture | None:
        """`is_valid`: there were no errors before. Otherwise nothing more is stored."""
        what = f"The {_WHAT[path]}" if path in _WHAT else path
        picture = None
        try:
            # One byte more than announced is enough to refuse it.
            with self._uploads.open(self._request.id, path, spec.size_bytes + 1) as upload:
                sha256_hash, size_bytes = hash_stream(upload)
                if problem := _difference(spec, sha256_hash, size_bytes):
                    raise InvalidRequest(f"{what} {problem}")
                content: BinaryIO = upload
                if not is_valid and path != README:
                    return None
                if path not in (BUNDLE, STYLE):
                    upload.seek(0)
                    # The bytes that are checked are those that are stored: `put` verifies the hash.
                    sent = upload.read()
                    content = io.BytesIO(sent)
                    picture = self._check(what, sent, sha256_hash, kind_of(path))
                    if path == README:
                        self.readme_words = words_of(sent)
                if is_valid:
                    self._store_file(content, sha256_hash, kind_of(path))
        except BundleNotFound:
            raise InvalidRequest(f"{what} {_NOT_UPLOADED}") from None
        except (BundleRefused, NotChecked):
            raise InvalidRequest(f"{what} was replaced while it was checked.") from None
        except OSError as error:
            raise StoreUnavailable(
                f"{what} cannot be stored just now ({error.strerror}). Nothing was published; try "
                "again later."
            ) from error
        if path not in (BUNDLE, STYLE):
            pixels = () if picture is None else (picture.width, picture.height)
            self._attached[path] = AttachedFile(path, *spec, *pixels)
        return picture

    def _put_thumbnails(self, made: list[tuple[str, Picture]]) -> None:
        if not made:
            return
        files = [
            AnnouncedFile(
                path, len(picture.thumbnail), hashlib.sha256(picture.thumbnail).hexdigest()
            )
            for path, picture in made
        ]
        # First, so that they are removed with the request if this process is killed.
        with self._store.writing() as tx:
            add_requested_files(tx, self._request.id, files)
        for file, (_, picture) in zip(files, made, strict=True):
            self._store_file(io.BytesIO(picture.thumbnail), file.sha256_hash, "webp")
            self._attached[file.path] = AttachedFile(*file, *picture.thumbnail_pixels)

    def _check(self, what: str, content: bytes, sha256_hash: str, kind: Kind) -> Picture | None:
        try:
            return check_content(content, kind, lambda _, it: self._checked.find(sha256_hash, it))
        except BundleRefused as error:
            raise InvalidRequest(f"{what} {error.message}") from None

    def _store_file(self, content: BinaryIO, sha256_hash: str, kind: Kind) -> None:
        self.keys.append((sha256_hash, kind))
        if self._bundles.put(content, sha256_hash, kind):
            self.new.append((sha256_hash, kind))


def _difference(announced: FileSpec, sha256_hash: str, size_bytes: int) -> str | None:
    if size_bytes > announced.size_bytes:
        return f"has more than the {announced.size_bytes:,} bytes that were announced."
    if size_bytes != announced.size_bytes:
        return f"has {size_bytes:,} bytes; {announced.size_bytes:,} were announced."
    if sha256_hash != announced.sha256_hash:
        return f"has the SHA-256 {sha256_hash}; {announced.sha256_hash} was announced."
    return None


def _joined(errors: list[str]) -> str:
    if all(it.endswith(_NOT_UPLOADED) for it in errors):
        return " ".join(errors)
    return " ".join([*errors, "Nothing was published."])
