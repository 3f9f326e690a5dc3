"""Removes leftovers of unconfirmed requests: at every start, and periodically."""

from ..catalog.store.files import list_marked, remove_unused
from ..core.db.engine import Store
from ..core.files.contract import Bundles, Uploads
from ..core.files.hashing import map_parallel
from .store import list_ended, list_request_ids, remove_requests

_BATCH = 100


def tidy_uploads(store: Store, bundles: Bundles, uploads: Uploads) -> None:
    """Remove leftovers of ended requests, and of killed receivers. Nobody waits while files are
    removed.
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
