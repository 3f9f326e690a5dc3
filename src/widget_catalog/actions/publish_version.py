"""Publishing: a requested version whose files have come is checked and made public, whole.

The bytes that are published are the ones that were hashed: they are copied under their
hash, which nobody can write to afterwards, inside the transaction that adds the version.
"""

from typing import NamedTuple

import msgspec

from widget_contract.manifests import Manifest, parse_manifest
from widget_contract.names import Scope

from ..bundles.local import LocalBundles, hash_file
from ..bundles.store import Kind
from ..bundles.uploads import LocalUploads
from ..domain.accounts import Actor
from ..domain.errors import (
    BundleNotFound,
    BundleRefused,
    InvalidRequest,
    NotFound,
    StoreUnavailable,
)
from ..domain.events import Published
from ..store.engine import Snapshot, Store, Transaction
from ..store.publishing import PublishRequest, confirm_request, find_request
from ..store.widgets import add_widget, replace_widget
from .quotas import NO_QUOTAS, Quotas, count_publication
from .request_version import check_gates
from .staged_import import settle_widget
from .wanted_version import FileSpec, Wanted


class _File(NamedTuple):
    kind: Kind
    spec: FileSpec
    what: str


def publish_version(
    store: Store,
    bundles: LocalBundles,
    uploads: LocalUploads,
    actor: Actor,
    request_id: str,
    quotas: Quotas = NO_QUOTAS,
) -> PublishRequest:
    """Confirm a request. One that is confirmed already stays so: it may be repeated."""
    with store.reading() as connection:
        request = get_request(connection, actor, request_id, store.now_ms())
    if request.confirmed_at is not None:
        return request
    # Before the lock is asked for: whatever is wrong with the upload delays nobody else.
    try:
        for file in _files(request):
            _check_upload(uploads, request, file)
    except InvalidRequest:
        # Unless it was confirmed just now, by the same request sent twice: that took the files.
        with store.reading() as connection:
            request = get_request(connection, actor, request_id, store.now_ms())
        if request.confirmed_at is None:
            raise
        return request
    try:
        request = _publish(store, bundles, uploads, actor, request_id, quotas)
    except StoreUnavailable:
        # A commit that failed may be kept all the same: what counts is what the store says now.
        with store.reading() as connection:
            request = get_request(connection, actor, request_id, store.now_ms())
        if request.confirmed_at is None:
            raise
    uploads.remove(request.id)
    return request


def _publish(
    store: Store,
    bundles: LocalBundles,
    uploads: LocalUploads,
    actor: Actor,
    request_id: str,
    quotas: Quotas,
) -> PublishRequest:
    with store.writing() as tx:
        request = get_request(tx.connection, actor, request_id, tx.at_ms)
        if request.confirmed_at is None:
            wanted = _wanted(request)
            settle_widget(tx, wanted.scope, wanted.manifest.name)
            planned = check_gates(tx.connection, actor, wanted, quotas, tx.at_ms)
            for file in _files(request):
                _take_in(tx, bundles, uploads, request, file)
            if planned.stored is None:
                add_widget(tx, planned.widget, actor, _published(request))
            else:
                replace_widget(tx, planned.stored, planned.widget, actor, _published(request))
            count_publication(tx, actor, planned.load)
            confirm_request(tx, request.id)
    return request


def get_request(connection: Snapshot, actor: Actor, request_id: str, now_ms: int) -> PublishRequest:
    """NotFound for a foreign one too, and for one whose time is over."""
    request = find_request(connection, request_id)
    if request is None or request.account_id != actor.account_id or request.expires_at <= now_ms:
        raise NotFound(
            "There is no such request to publish: it was never made by you, or it has expired. "
            "Begin again."
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


def _check_upload(uploads: LocalUploads, request: PublishRequest, file: _File) -> None:
    try:
        sha256_hash, size_bytes = hash_file(uploads.path_of(request.id, file.kind))
    except BundleNotFound:
        raise InvalidRequest(f"The {file.what} was not uploaded yet.") from None
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


def _take_in(
    tx: Transaction,
    bundles: LocalBundles,
    uploads: LocalUploads,
    request: PublishRequest,
    file: _File,
) -> None:
    sha256_hash = file.spec.sha256_hash
    try:
        is_new = bundles.put_file(uploads.path_of(request.id, file.kind), sha256_hash, file.kind)
    except FileNotFoundError:
        raise InvalidRequest(f"The {file.what} was not uploaded yet.") from None
    except BundleRefused:
        raise InvalidRequest(
            f"The {file.what} was replaced while it was checked. Nothing was published."
        ) from None
    if is_new:
        tx.undo.callback(bundles.remove, sha256_hash, file.kind)


def _wanted(request: PublishRequest) -> Wanted:
    """What was asked for, read again: it was found right when it was taken in."""
    manifest: Manifest = parse_manifest(request.manifest, msgspec.json.decode(request.beside))
    files = {file.kind: file.spec for file in _files(request)}
    return Wanted(Scope(request.scope), manifest, files["js"], files.get("css"))
