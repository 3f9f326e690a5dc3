"""What an accepted import does when a version is published meanwhile."""

from ..catalog.events import PublishBegun
from ..catalog.store.drafts import write_drafts
from ..catalog.store.staging import list_staged
from ..core.actors import Actor
from ..core.db.engine import Transaction
from ..core.hooks import Hooks


def _write_staged(tx: Transaction, _by: Actor, event: PublishBegun) -> None:
    """Write what the import still has for this widget: the new version comes after it."""
    if staged := list_staged(tx, event.scope, event.name):
        write_drafts(tx, staged)


HOOKS: Hooks = {PublishBegun: _write_staged}
