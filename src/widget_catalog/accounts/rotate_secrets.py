"""Rotates the signing keys, in case they were disclosed."""

from ..catalog.store.events import append
from ..core.actors import Actor
from ..core.db.engine import Store
from ..core.keys import Keys
from .events import SecretsRotated


def rotate_secrets(store: Store, keys: Keys, actor: Actor) -> None:
    """Effective immediately, in every process. Earlier signatures become invalid."""
    with store.writing() as tx:
        append(tx, actor, SecretsRotated())
        keys.rotate()
