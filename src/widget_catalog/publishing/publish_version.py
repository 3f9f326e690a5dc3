"""Publishes a requested version: verifies its uploads and makes it public, atomically.

The published bytes are the ones that were hashed: they are copied under their hash, where nobody
can write to them, before the transaction that adds the version begins. So no lock is held
meanwhile, and a version never refers to a missing file.
"""

import contextlib
import time
from typing import NamedTuple

import msgspec

from widget_contract.manifests import Manifest, parse_manifest
from widget_contract.names import Scope

from ..catalog.accepted_import import settle_widget
from ..catalog.events import Published
from ..catalog.store.files import are_present, remove_unused
from ..catalog.store.widgets import add_widget, replace_widget
from ..core.actors import Actor
from ..core.db.engine import Snapshot, Store
from ..core.errors import BundleNotFound, BundleRefused, InvalidRequest, NotFound, StoreUnavailable
from ..core.files.contract import Bundles, FileKey, Kind, Uploads
from ..core.files.hashing import hash_stream
from .quotas import NO_QUOTAS, Quotas, count_publication
from .request_version import check_gates
from .store import PublishRequest, confirm_request, find_request
from .wanted_version import FileSpec, Wanted

# Pauses before the files are stored again, if another process removes them as unused.
_PAUSES_S = (0.1, 0.3, 1.0)


class _File(NamedTuple):
    kind: Kind
    spec: FileSpec
    what: str


class _Removed(Exception):
    """Files that were stored already have been removed by another process, or are being removed,
    because nothing referred to them.
    """


def publish_version(
    store: Store,
    bundles: Bundles,
    uploads: Uploads,
    actor: Actor,
    request_id: str,
    quotas: Quotas = NO_QUOTAS,
) -> PublishRequest:
    """Confirm a request. Idempotent: a confirmed request may be confirmed again."""
    request = _get_now(store, actor, request_id)
    for pause_s in _PAUSES_S:
        if request.confirmed_at is not None:
            return request
        try:
            new = [it for it in _files(request) if _put(bundles, uploads, request, it)]
        except InvalidRequest:
            # A concurrent duplicate of this request may have confirmed it, and consumed the files.
            request = _get_now(store, actor, request_id)
            if request.confirmed_at is None:
                raise
            return request
        with contextlib.suppress(_Removed):
            request = _publish_or_clean_up(store, bundles, actor, request, quotas, new)
            uploads.remove(request.id)
            return request
        time.sleep(pause_s)
    raise StoreUnavailable("The files of this version were removed again and again. Try again.")


def _publish_or_clean_up(
    store: Store,
    bundles: Bundles,
    actor: Actor,
    request: PublishRequest,
    quotas: Quotas,
    new: list[_File],
) -> PublishRequest:
    try:
        return _publish(store, bundles, actor, request.id, quotas)
    except StoreUnavailable:
        # A commit that failed may have been applied nevertheless, so the store is asked. Even if
        # it was not, recovery after a crash may apply it, so the files stay until the request
        # expires.
        request = _get_now(store, actor, request.id)
        if request.confirmed_at is None:
            raise
        return request
    except BaseException:
        with contextlib.suppress(StoreUnavailable):
            remove_unused(store, bundles, _keys(new))
        raise


def _publish(
    store: Store, bundles: Bundles, actor: Actor, request_id: str, quotas: Quotas
) -> PublishRequest:
    with store.publishing() as tx:
        request = get_request(tx.connection, actor, request_id, tx.at_ms)
        if request.confirmed_at is None:
            wanted = wanted_of(request)
            settle_widget(tx, wanted.scope, wanted.manifest.name)
            planned = check_gates(tx.connection, actor, wanted, quotas, tx.at_ms)
            if not are_present(tx.connection, bundles, _keys(_files(request))):
                raise _Removed
            if planned.stored is None:
                add_widget(tx, planned.widget, actor, _published(request))
            else:
                replace_widget(tx, planned.stored, planned.widget, actor, _published(request))
            count_publication(tx, actor, planned.load)
            confirm_request(tx, request.id)
    return request


def _get_now(store: Store, actor: Actor, request_id: str) -> PublishRequest:
    with store.reading() as connection:
        return get_request(connection, actor, request_id, store.now_ms())


def get_request(connection: Snapshot, actor: Actor, request_id: str, now_ms: int) -> PublishRequest:
    """NotFound also for another account's request, and for an expired one."""
    request = find_request(connection, request_id)
    if request is None or request.account_id != actor.account_id or request.expires_at <= now_ms:
        raise NotFound(
            "There is no such request to publish: it was never made by you, or it has expired. "
            "Start again."
        )
    return request


def _published(request: PublishRequest) -> Published:
    return Published(
        scope=request.scope,
        name=request.name,
        version=request.version,
        sha256_hash=request.sha256_hash,
        bundle_size=request.bundle_size,
        css_sha256_hash=request.css_sha256_hash,
        css_size=request.css_size,
    )


def _files(request: PublishRequest) -> list[_File]:
    files = [_File("js", FileSpec(request.bundle_size, request.sha256_hash), "bundle")]
    if request.css_size is not None and request.css_sha256_hash is not None:
        style = FileSpec(request.css_size, request.css_sha256_hash)
        files.append(_File("css", style, "style sheet"))
    return files


def _keys(files: list[_File]) -> list[FileKey]:
    return [(it.spec.sha256_hash, it.kind) for it in files]


def _put(bundles: Bundles, uploads: Uploads, request: PublishRequest, file: _File) -> bool:
    """Verify an upload and store it; returns whether it is new."""
    try:
        # One byte more than announced is enough to refuse it.
        with uploads.open(request.id, file.kind, file.spec.size_bytes + 1) as upload:
            sha256_hash, size_bytes = hash_stream(upload)
            _check(file, sha256_hash, size_bytes)
            return bundles.put(upload, sha256_hash, file.kind)
    except BundleNotFound:
        raise InvalidRequest(f"The {file.what} was not uploaded yet.") from None
    except BundleRefused:
        raise InvalidRequest(
            f"The {file.what} was replaced while it was checked. Nothing was published."
        ) from None
    except OSError as error:
        raise StoreUnavailable(
            f"The {file.what} cannot be stored just now ({error.strerror}). Nothing was published; "
            "try again later."
        ) from error


def _check(file: _File, sha256_hash: str, size_bytes: int) -> None:
    if size_bytes > file.spec.size_bytes:
        raise InvalidRequest(
            f"The {file.what} has more than the {file.spec.size_bytes:,} bytes that were "
            "announced. Nothing was published."
        )
    if size_bytes != file.spec.size_bytes:
        raise InvalidRequest(
            f"The {file.what} has {size_bytes:,} bytes; {file.spec.size_bytes:,} were announced. "
            "Nothing was published."
        )
    if sha256_hash != file.spec.sha256_hash:
        raise InvalidRequest(
            f"The {file.what} has the SHA-256 {sha256_hash}; {file.spec.sha256_hash} was "
            "announced. Nothing was published."
        )


def wanted_of(request: PublishRequest) -> Wanted:
    """The content of the request, parsed again; it was validated when it was created."""
    manifest: Manifest = parse_manifest(request.manifest, msgspec.json.decode(request.beside))
    files = {file.kind: file.spec for file in _files(request)}
    return Wanted(Scope(request.scope), manifest, files["js"], files.get("css"))
