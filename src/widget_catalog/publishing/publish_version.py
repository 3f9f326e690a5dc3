"""Publishes a requested version: verifies its uploads and makes it public, atomically. Before that,
its author can view or discard it; what is never confirmed is removed.

The published bytes are the ones that were hashed: they are copied under their hash, where nobody
can write to them, before the transaction that adds the version begins. So no lock is held
meanwhile, and a version never refers to a missing file.
"""

import contextlib
import hashlib
import time
from collections.abc import Callable
from functools import partial
from typing import BinaryIO, NamedTuple

import msgspec

from widget_contract.capabilities import (
    Permission,
    PermissionChanges,
    permission_changes,
    requested,
)
from widget_contract.manifests import Manifest, parse_manifest
from widget_contract.names import Scope
from widget_contract.version_files import BUNDLE, is_picture, kind_of

from ..catalog.model.events import PublishBegun, Published
from ..catalog.model.widgets import Version
from ..catalog.replica.rendering import render
from ..catalog.store.files import are_present, list_marked, remove_unused
from ..catalog.store.widgets import add_widget, find_widget, replace_widget
from ..core import hooks
from ..core.actors import Actor
from ..core.db.engine import Snapshot, Store
from ..core.errors import BundleNotFound, BundleRefused, InvalidRequest, NotFound, StoreUnavailable
from ..core.files.contract import Bundles, Uploads
from ..core.jobs.parallel import map_parallel
from .picture_checks import NO_PICTURES, Checked, SentPicture
from .quotas import NO_QUOTAS, Quotas, count_publication
from .request_version import WantedVersion, check_limits, plan_version
from .store import (
    FileSpec,
    PublishRequest,
    confirm_request,
    end_request,
    find_request,
    list_ended,
    list_request_ids,
    remove_requests,
)
from .uploaded_files import UploadedFiles

# Pauses before the files are stored again, if another process removes them as unused.
_PAUSES_S = (0.1, 0.3, 1.0)
# Ended requests that are removed at once.
_BATCH = 100


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
    checked: Checked = NO_PICTURES,
) -> PublishRequest:
    """Confirm a request, whose pictures are `checked`. Idempotent: a confirmed request may be
    confirmed again.
    """
    request = _get_now(store, actor, request_id)
    for pause_s in _PAUSES_S:
        if request.confirmed_at is not None:
            return request
        files = UploadedFiles(store, bundles, uploads, request, checked)
        try:
            files.put_all()
        except InvalidRequest:
            # A concurrent duplicate of this request may have confirmed it, and consumed the files.
            request = _get_now(store, actor, request_id)
            if request.confirmed_at is None:
                raise
            return request
        with contextlib.suppress(_Removed):
            request = _publish_or_clean_up(store, bundles, actor, request, quotas, files)
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
    files: UploadedFiles,
) -> PublishRequest:
    try:
        return _publish(store, bundles, actor, request.id, quotas, files)
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
            remove_unused(store, bundles, files.new)
        raise


def _publish(
    store: Store,
    bundles: Bundles,
    actor: Actor,
    request_id: str,
    quotas: Quotas,
    files: UploadedFiles,
) -> PublishRequest:
    with store.publishing() as tx:
        request = _get_request(tx.connection, actor, request_id, tx.at_ms)
        if request.confirmed_at is None:
            wanted = _wanted_of(request)._replace(
                attached=files.attached, readme_words=files.readme_words
            )
            hooks.call(tx, actor, PublishBegun(scope=wanted.scope, name=wanted.name))
            planned = plan_version(tx.connection, actor, wanted, tx.at_ms)
            document = render(planned.widget)  # Once: it is measured here, and shown to readers.
            size = document.detail_bytes
            check_limits(tx.connection, actor, planned, size, quotas, tx.at_ms)
            if not are_present(tx.connection, bundles, files.keys):
                raise _Removed
            event, prepared = _published(request), tx.prepare(document)
            if planned.stored is None:
                add_widget(tx, planned.widget, actor, event, prepared=prepared)
            else:
                old = planned.stored
                replace_widget(tx, old, planned.widget, actor, event, prepared=prepared)
            count_publication(tx, actor, planned.load)
            confirm_request(tx, request.id)
    return request


def _get_now(store: Store, actor: Actor, request_id: str) -> PublishRequest:
    with store.reading() as connection:
        return _get_request(connection, actor, request_id, store.now_ms())


def _get_request(
    connection: Snapshot, actor: Actor, request_id: str, now_ms: int
) -> PublishRequest:
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
        files=[it.path for it in request.attached] or None,
    )


def _wanted_of(request: PublishRequest) -> WantedVersion:
    """The content of the request, parsed again; it was validated when it was created."""
    manifest = parse_manifest(request.manifest, msgspec.json.decode(request.beside))
    return WantedVersion(Scope(request.scope), manifest, request.files)


class PendingVersion(NamedTuple):
    """An unconfirmed version, for its author."""

    request: PublishRequest
    manifest: Manifest
    is_new_widget: bool
    previous: Version | None
    """The version that is offered now."""

    @property
    def requested(self) -> tuple[Permission, ...]:
        return requested(self.manifest.permissions, self.manifest.text)

    @property
    def permission_changes(self) -> PermissionChanges:
        before = self.previous.requested if self.previous is not None else ()
        return permission_changes(before, self.requested)

    @property
    def repeats_notes(self) -> bool:
        """Whether the release notes were left in the manifest since the last version."""
        before = self.previous.release_notes if self.previous is not None else None
        return bool(before) and before == self.manifest.release_notes


def view_pending(store: Store, actor: Actor, request_id: str) -> PendingVersion:
    """An own request; NotFound otherwise, and when it has expired."""
    with store.reading() as connection:
        request = _get_request(connection, actor, request_id, store.now_ms())
        wanted = _wanted_of(request)
        stored = find_widget(connection, wanted.scope, wanted.name)
    previous = stored.widget.latest if stored is not None else None
    return PendingVersion(request, wanted.manifest, stored is None, previous)


class PendingModule(NamedTuple):
    """An uploaded bundle that nobody has published yet."""

    scope: str
    sha256_hash: str
    content: bytes


def read_module(
    store: Store,
    uploads: Uploads,
    actor: Actor,
    request_id: str,
    is_wanted: Callable[[str], bool],
) -> PendingModule | None:
    """The bundle of an own request, if it is wanted by its hash. NotFound if it is not there."""
    request = _get_now(store, actor, request_id)
    if request.confirmed_at is not None or not is_wanted(request.sha256_hash):
        return None
    with read_pending_file(store, uploads, actor, request_id, BUNDLE) as content:
        return PendingModule(request.scope, request.sha256_hash, content.read())


def read_pending_file(
    store: Store, uploads: Uploads, actor: Actor, request_id: str, path: str
) -> BinaryIO:
    """The uploaded file, only for its author."""
    request = _get_now(store, actor, request_id)
    try:
        return uploads.open(request.id, path, request.files[path].size_bytes)
    except (BundleNotFound, KeyError):
        raise NotFound("This file was not uploaded, or it is published already.") from None


def list_pictures(
    store: Store, uploads: Uploads, actor: Actor, request_id: str
) -> tuple[str, list[SentPicture]]:
    """Their scope, and the uploaded pictures, which are to be checked before they are published."""
    request = _get_now(store, actor, request_id)
    if request.confirmed_at is not None:
        return request.scope, []
    read = partial(_read, uploads, request.id)
    sent = [
        SentPicture(spec.sha256_hash, kind_of(path), partial(read, path, spec))
        for path, spec in request.files.items()
        if is_picture(path)
    ]
    return request.scope, sent


def _read(uploads: Uploads, request_id: str, path: str, announced: FileSpec) -> bytes | None:
    """None if it is not the announced file: publishing says what is wrong."""
    try:
        with uploads.open(request_id, path, announced.size_bytes + 1) as upload:
            content = upload.read()
    except (BundleNotFound, BundleRefused, OSError):
        return None
    is_announced = hashlib.sha256(content).hexdigest() == announced.sha256_hash
    return content if is_announced else None


def discard_pending(store: Store, uploads: Uploads, actor: Actor, request_id: str) -> None:
    """End a request, and remove its uploads. A confirmed one is kept."""
    with store.publishing() as tx:
        request = _get_request(tx.connection, actor, request_id, tx.at_ms)
        if request.confirmed_at is not None:
            return
        end_request(tx, request.id)
    uploads.remove(request.id)


def tidy_uploads(store: Store, bundles: Bundles, uploads: Uploads) -> None:
    """Remove leftovers of ended requests, and of killed receivers, at every start and periodically.
    Nobody waits while files are removed.
    """
    uploads.remove_leftovers()
    bundles.remove_leftovers()
    while _remove_ended(store, bundles):
        pass
    with store.reading() as connection:
        abandoned = list_marked(connection) - list_marked(connection, after_ms=store.now_ms())
    remove_unused(store, bundles, abandoned)
    _remove_uploads(store, uploads)


def _remove_ended(store: Store, bundles: Bundles) -> bool:
    """Remove a batch of ended requests; returns whether there was any."""
    with store.reading() as connection:
        ended = list_ended(connection, store.now_ms(), _BATCH)
    if not ended.ids:
        return False
    # Nearly always there is none: only a confirmation that was killed leaves its files.
    found = map_parallel(lambda it: bundles.stat(*it) and it, sorted(ended.files))
    remove_unused(store, bundles, [it for it in found if it is not None])
    with store.writing() as tx:
        remove_requests(tx, ended.ids)
    return True


def _remove_uploads(store: Store, uploads: Uploads) -> None:
    """Remove those without a request. They are listed first: an upload comes after its request."""
    found = uploads.list_requests()
    if not found:
        return
    with store.reading() as connection:
        known = list_request_ids(connection)
    for _ in map_parallel(uploads.remove, sorted(found - known)):
        pass
