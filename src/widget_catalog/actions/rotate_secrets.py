"""New keys in place of those that sign: for when somebody may have read the old ones."""

from ..domain.account_events import SecretsRotated
from ..domain.accounts import Actor
from ..store.engine import Store
from ..store.events import append
from ..store.keys import Keys


def rotate_secrets(store: Store, keys: Keys, actor: Actor) -> None:
    """In use at once, in every process. What was signed before is void."""
    with store.writing() as tx:
        append(tx, actor, SecretsRotated())
        keys.rotate()
