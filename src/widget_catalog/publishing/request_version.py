"""Requests to publish a version: all checks, before the bundle is uploaded."""

from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from ..catalog.accepted_import import settle_widget
from ..catalog.store.events import require_no_mirror
from ..catalog.store.revocations import find_refusal
from ..catalog.store.rows import StoredWidget
from ..catalog.store.widgets import find_widget
from ..catalog.widgets import Widget
from ..core.actors import Actor, Right
from ..core.clock import from_ms
from ..core.credentials import new_id
from ..core.db.engine import Snapshot, Store
from ..core.errors import Conflict, NotAllowed, NotFound
from ..core.files.contract import Kind
from ..organizations.permissions import require
from .quotas import (
    NO_QUOTAS,
    Load,
    Quotas,
    check_document_size,
    check_may_publish,
    make_room_for_request,
)
from .store import LIFETIME_MS, PublishRequest, add_request, find_request
from .wanted_version import FileSpec, Wanted, fields_of, read_wanted


class Planned(NamedTuple):
    """A widget as it is stored, if it is, and as it would be with the version."""

    stored: StoredWidget | None
    widget: Widget
    load: Load


def request_version(
    store: Store,
    actor: Actor,
    body: Mapping[str, object],
    max_bundle_bytes: int,
    quotas: Quotas = NO_QUOTAS,
) -> PublishRequest:
    """Create a request. It is stored as a row until it is confirmed or expires after an hour."""
    wanted = read_wanted(body, max_bundle_bytes)
    with store.publishing() as tx:
        settle_widget(tx, wanted.scope, wanted.manifest.name)
        check_gates(tx.connection, actor, wanted, quotas, tx.at_ms)
        manifest = wanted.manifest
        make_room_for_request(tx, actor, quotas, wanted.scope, manifest.name, manifest.version.text)
        style = wanted.style or FileSpec(0, "")
        request = PublishRequest(
            id=new_id(),
            account_id=actor.account_id,
            scope=wanted.scope,
            name=manifest.name,
            version=manifest.version.text,
            bundle_size=wanted.bundle.size_bytes,
            sha256_hash=wanted.bundle.sha256_hash,
            css_size=style.size_bytes or None,
            css_sha256_hash=style.sha256_hash or None,
            manifest=manifest.text,
            beside=msgspec.json.encode(fields_of(body)).decode(),
            created_at=tx.at_ms,
            expires_at=tx.at_ms + LIFETIME_MS,
            confirmed_at=None,
        )
        add_request(tx, request)
    return request


def check_version(
    store: Store,
    actor: Actor,
    body: Mapping[str, object],
    max_bundle_bytes: int,
    quotas: Quotas = NO_QUOTAS,
) -> Wanted:
    """A dry run: the same checks, and nothing is stored."""
    wanted = read_wanted(body, max_bundle_bytes)
    with store.reading() as connection:
        check_gates(connection, actor, wanted, quotas, store.now_ms())
    return wanted


def announced_size(store: Store, request_id: str, kind: Kind) -> int:
    """The announced size of a file. NotFound if its request has ended, and Conflict if it is
    published already: nothing can be uploaded then.
    """
    with store.reading() as connection:
        found = find_request(connection, request_id)
    size = None if found is None else (found.css_size if kind == "css" else found.bundle_size)
    if found is None or size is None or found.expires_at <= store.now_ms():
        raise NotFound("This request has ended. Request a new one.")
    if found.confirmed_at is not None:
        raise Conflict("This version is published: nothing more can be uploaded for it.")
    return size


def check_gates(
    connection: Snapshot, actor: Actor, wanted: Wanted, quotas: Quotas, now_ms: int
) -> Planned:
    """The checks of a request, repeated when it is confirmed."""
    require_no_mirror(connection)
    manifest = wanted.manifest
    require(connection, actor, Right.PUBLISH, wanted.scope, manifest.name)
    stored = find_widget(connection, wanted.scope, manifest.name)
    identity = manifest.version.text.partition("+")[0]
    for version in stored.widget.versions if stored is not None else ():
        if version.identity == identity:
            yanked = " (and yanked)" if version.is_withdrawn else ""
            raise Conflict(
                f"{wanted.scope}/{manifest.name} {version.number} is already published{yanked}. A "
                "published version never changes: choose another number."
            )
    sha256_hash = wanted.bundle.sha256_hash
    if reason := find_refusal(connection, wanted.scope, manifest.name, sha256_hash):
        raise NotAllowed(
            f"The operator has revoked this bundle ({reason.rstrip('.')}): the same bytes cannot "
            "be published again. Change the module."
        )
    widget = wanted.added_to(stored.widget if stored is not None else None, from_ms(now_ms))
    check_document_size(widget, quotas)
    load = Load(wanted.size_bytes, is_new_widget=stored is None)
    check_may_publish(connection, actor, quotas, load, now_ms)
    return Planned(stored, widget, load)
