"""An unconfirmed version: its preview for its author, and discarding it."""

from typing import BinaryIO, NamedTuple

from widget_contract.capabilities import (
    Permission,
    PermissionChanges,
    permission_changes,
    requested,
)
from widget_contract.manifests import Manifest

from ..catalog.store.widgets import find_widget
from ..catalog.widgets import Version
from ..core.actors import Actor
from ..core.db.engine import Store
from ..core.errors import BundleNotFound, NotFound
from ..core.files.contract import Kind, Uploads
from .publish_version import get_request, wanted_of
from .store import PublishRequest, end_request


class PendingVersion(NamedTuple):
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
        request = get_request(connection, actor, request_id, store.now_ms())
        wanted = wanted_of(request)
        stored = find_widget(connection, wanted.scope, wanted.manifest.name)
    previous = stored.widget.latest if stored is not None else None
    return PendingVersion(request, wanted.manifest, stored is None, previous)


def read_pending_file(
    store: Store, uploads: Uploads, actor: Actor, request_id: str, kind: Kind
) -> BinaryIO:
    """The uploaded file, only for its author."""
    with store.reading() as connection:
        request = get_request(connection, actor, request_id, store.now_ms())
    size = (request.css_size or 0) if kind == "css" else request.bundle_size
    try:
        return uploads.open(request.id, kind, size)
    except BundleNotFound:
        raise NotFound("This file was not uploaded, or it is published already.") from None


def discard_pending(store: Store, uploads: Uploads, actor: Actor, request_id: str) -> None:
    """End a request, and remove its uploads. A confirmed one is kept."""
    with store.publishing() as tx:
        request = get_request(tx.connection, actor, request_id, tx.at_ms)
        if request.confirmed_at is not None:
            return
        end_request(tx, request.id)
    uploads.remove(request.id)
