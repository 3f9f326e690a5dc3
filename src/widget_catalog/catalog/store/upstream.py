"""Whether this catalog is a mirror, which refuses changes. Only the room of mirrors knows."""

from sqlalchemy.engine import Connection

from ...core.db.engine import Store, Transaction
from ...core.errors import IsMirror
from ...core.hooks import extension_point


@extension_point
def find_upstream(_connection: Connection) -> str | None:
    """The address of the catalog that this one copies."""
    return None


@extension_point
def describe_copying(_store: Store) -> str | None:
    """How far this catalog has copied the other one."""
    return None


def require_changeable(tx: Transaction) -> None:
    """Raises IsMirror, unless mirroring itself changes widgets."""
    if not tx.is_mirroring:
        require_no_mirror(tx.connection)


def require_no_mirror(connection: Connection) -> None:
    url = find_upstream(connection)
    if url is not None:
        raise IsMirror(
            f"This catalog is a mirror of {url}: widgets cannot be published or changed "
            "here. Do it there, and it will be shown here, too."
        )
