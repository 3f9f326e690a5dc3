"""Revokes a version, and undoes that. A revoked version is shown as yanked and must not run.

Only that version: anybody can publish a copy of somebody's bundle, which is not a reason to stop
the original. Revoking the bytes everywhere is a separate choice.

Its files are moved out of the served folder and kept for inspection, unless another version has
the same bytes. They are moved after the commit, and moved back before it, so that a version that
is not revoked never lacks its files; after a crash the next start completes the move.
"""

from collections.abc import Sequence

from ..catalog.model.events import Revoked, Unrevoked
from ..catalog.model.widgets import Revocation, Version, checked_reason, parse_key
from ..catalog.store.files import withdraw_files
from ..catalog.store.revocations import list_same_bundle, list_sharing, release_bytes, revoke_bytes
from ..catalog.store.rows import StoredWidget
from ..catalog.store.widgets import get_version, get_widget, replace_widget
from ..core.actors import Actor, Right
from ..core.clock import from_ms
from ..core.db.engine import Snapshot, Store, Transaction
from ..core.errors import Conflict
from ..core.files.contract import Bundles
from ..organizations.permissions import require


def revoke_version(
    store: Store, bundles: Bundles, actor: Actor, key: str, number: str, reason: str
) -> list[str]:
    """Returns the versions with the same bundle that are not revoked, as `scope/name version`."""
    checked = checked_reason("reason", reason)
    with store.publishing() as tx:
        stored, old = _find(tx.connection, actor, key, number)
        if old.revocation is None or old.revocation.reason != checked:
            _save(tx, actor, stored, old, Revocation(checked, from_ms(tx.at_ms)))
    withdraw_files(store, bundles)
    with store.reading() as connection:
        return list_sharing(connection, old.sha256_hash)


def revoke_everywhere(
    store: Store,
    bundles: Bundles,
    actor: Actor,
    key: str,
    number: str,
    reason: str,
    agreed: Sequence[str],
) -> None:
    """Revoke a version and all others with the same bundle, which nobody can publish any more.

    `agreed` are those others, as `view_same_bundle` returns them. Conflict if there are more, or
    fewer: then nothing is changed.
    """
    checked = checked_reason("reason", reason)
    with store.publishing() as tx:
        stored, old = _find(tx.connection, actor, key, number)
        others = list_same_bundle(tx.connection, stored.widget, old)
        if set(agreed) != set(others):
            raise Conflict(
                f"This also revokes {', '.join(others) or 'no other version'}. Check that, and "
                "confirm it."
            )
        revoke_bytes(tx, old.sha256_hash, checked)
        revocation = Revocation(checked, from_ms(tx.at_ms))
        if old.revocation is None or old.revocation.reason != checked:
            _save(tx, actor, stored, old, revocation, is_everywhere=True)
        for other in others:
            found = _find(tx.connection, actor, *other.split(" "))
            _save(tx, actor, *found, revocation, is_everywhere=True)
    withdraw_files(store, bundles)


def view_same_bundle(store: Store, actor: Actor, key: str, number: str) -> list[str]:
    """The other versions with the same bundle that are not revoked, as `scope/name version`."""
    with store.reading() as connection:
        stored, version = _find(connection, actor, key, number)
        return list_same_bundle(connection, stored.widget, version)


def unrevoke_version(store: Store, bundles: Bundles, actor: Actor, key: str, number: str) -> None:
    """The last one with these bytes also allows to publish them again."""
    with store.publishing() as tx:
        stored, old = _find(tx.connection, actor, key, number)
        if old.revocation is not None:
            for file in old.stored_files:
                bundles.restore(file.sha256_hash, file.kind)
            _save(tx, actor, stored, old, None)
            release_bytes(tx, old.sha256_hash)


def _find(
    connection: Snapshot, actor: Actor, key: str, number: str
) -> tuple[StoredWidget, Version]:
    scope, name = parse_key(key)
    require(connection, actor, Right.REVOKE, scope, name)
    stored = get_widget(connection, scope, name)
    return stored, get_version(stored.widget.versions, key, number)


def _save(
    tx: Transaction,
    actor: Actor,
    stored: StoredWidget,
    old: Version,
    revocation: Revocation | None,
    *,
    is_everywhere: bool = False,
) -> None:
    widget = stored.widget
    new = old.with_revocation(revocation)
    changed = widget.with_versions([new if one is old else one for one in widget.versions])
    subject = {"scope": widget.scope, "name": widget.name, "version": old.number}
    event = (
        Unrevoked(**subject)
        if revocation is None
        else Revoked(**subject, reason=revocation.reason, everywhere=is_everywhere)
    )
    replace_widget(tx, stored, changed, actor, event)
