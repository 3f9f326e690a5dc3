"""Connection poolers: those that share connections by transaction cannot be used by nodes."""

import contextlib
import secrets

from ..errors import PoolerUnusable
from .postgresql import connection_string

# How long a notification may take.
_TIMEOUT_S = 5.0


def require_notifications(url: str) -> None:
    """Raises PoolerUnusable if a connection to this address receives no notifications, because a
    pooler gives it another connection of the server for every transaction. Errors of the database
    are left to those who use it.
    """
    import psycopg  # Slow to load.

    address = connection_string(url)
    with contextlib.suppress(psycopg.Error), psycopg.connect(address, autocommit=True) as one:
        (pid,) = one.execute("SELECT pg_backend_pid()").fetchone() or (0,)
        if pid == one.info.backend_pid:
            return  # The server itself: a pooler has numbers of its own.
        channel = f"widget_catalog_{secrets.token_hex(16)}"
        one.execute(f"LISTEN {channel}".encode())
        # While the pooler may give the connection that listens to somebody else.
        with psycopg.connect(address, autocommit=True) as two:
            two.execute("SELECT pg_notify(%s, '')", [channel])
        if not list(one.notifies(timeout=_TIMEOUT_S, stop_after=1)):
            raise PoolerUnusable(
                "The database cannot be used through this connection pooler: it shares connections "
                "between transactions, so that nodes are not notified of changes. Use its session "
                "mode (PgBouncer: pool_mode=session), or the address of the server itself."
            )
