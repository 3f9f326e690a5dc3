"""Rotates the signing keys, in case they were disclosed."""

from ..domain.account_events import SecretsRotated
from ..domain.accounts import Actor
from ..store.engine import Store
from ..store.events import append
from ..store.keys import Keys


def rotate_secrets(store: Store, keys: Keys, actor: Actor) -> None:
    """Effective immediately, in every process. Earlier signatures become invalid."""
    with store.writing() as tx:
        append(tx, actor, SecretsRotated())
        keys.rotate()
