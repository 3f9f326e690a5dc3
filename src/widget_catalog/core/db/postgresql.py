"""Connections to PostgreSQL.

libpq tries the hosts of an address in order, and finds the one that accepts writes.
"""

import contextlib
from collections.abc import Callable
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from ..errors import DatabaseUnusable
from .schema import channels

# Defaults, unless the URL sets them. A host that does not respond is given up soon, and so is a
# broken connection; of several hosts, the one that accepts writes is used.
_DEFAULTS = {
    "connect_timeout": "2",
    "keepalives_idle": "5",
    "keepalives_interval": "2",
    "keepalives_count": "3",
    "tcp_user_timeout": "6000",
    "target_session_attrs": "read-write",
}
# Set on the server for each connection, so that locks of a lost node are released soon.
_HEALTH = {"tcp_keepalives_idle": "5", "tcp_keepalives_interval": "2", "tcp_keepalives_count": "3"}
# The same for a node that hangs on a running machine. Commands may be slow for good reasons.
_SERVICE_HEALTH = {**_HEALTH, "idle_in_transaction_session_timeout": "60s"}
# No statement of a request takes this long: its commit may wait for a lost standby.
LONGEST_S = 20.0
# Of every engine but the one for people's requests: commands, counts and the follower.
FEW_CONNECTIONS = 4
# How long to wait for one of the connections of a pool.
_POOL_TIMEOUT_S = 5

# The server serializes notifying transactions, of all users: do not wait for them for long.
_NOTIFY = sa.select(
    sa.func.set_config("lock_timeout", "1s", True), sa.func.pg_notify(channels.c.name, "")
)
_READ_ONLY = "25006"
# libpq's message for a server rejected by target_session_attrs=read-write. It has no error code.
_NOT_CONNECTED = "session is read-only"


def connection_string(url: str, program: str = "") -> str:
    """For libpq. Raises ValueError, without quoting any of it, if it is invalid."""
    # Slow to load, so only imported if PostgreSQL is used.
    import psycopg
    from psycopg.conninfo import conninfo_to_dict, make_conninfo

    try:
        given = conninfo_to_dict(url)
        defaults = _DEFAULTS | ({"application_name": program} if program else {})
        return make_conninfo(url, **{k: v for k, v in defaults.items() if k not in given})
    except psycopg.ProgrammingError:
        raise ValueError("is not a valid PostgreSQL connection URI.") from None


def postgresql_engine(
    url: str,
    program: str = "",
    *,
    is_service: bool = False,
    lost_at_s: Callable[[], float] | None = None,
    max_connections: int = FEW_CONNECTIONS,
) -> Engine:
    """The address is passed to libpq unchanged: it may name several hosts, and files for TLS.
    `lost_at_s` is when their server was found silent: see `LimitedConnection`.
    """
    address = connection_string(url, program)
    engine = sa.create_engine(
        "postgresql+psycopg://",
        pool_pre_ping=True,
        pool_size=max_connections,
        max_overflow=0,
        pool_timeout=_POOL_TIMEOUT_S,
        pool_use_lifo=True,
        isolation_level="REPEATABLE READ",
        hide_parameters=True,
    )
    engine.dialect.do_ping = ping  # type: ignore[method-assign, assignment]

    @sa.event.listens_for(engine, "do_connect")
    def open_one(_dialect: Any, _record: Any, _arguments: Any, options: dict[str, Any]) -> Any:
        from .limited_connection import LimitedConnection  # Slow to load.

        opened = LimitedConnection.connect(address, **options)
        opened.limit(LONGEST_S if is_service else None, lost_at_s)
        return opened

    # Before SQLAlchemy's own first query, which fails with a database in another encoding.
    @sa.event.listens_for(engine, "connect", insert=True)
    def set_up(connection: Any, _record: Any) -> None:
        encoding = connection.info.parameter_status("server_encoding")
        if encoding != "UTF8":
            raise DatabaseUnusable(
                f"The database has the encoding {encoding}, and must have UTF8. Create it with "
                "CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0."
            )
        health = _SERVICE_HEALTH if is_service else _HEALTH
        settings = ", ".join(
            f"set_config('{name}', '{value}', false)" for name, value in health.items()
        )
        connection.execute(f"SELECT {settings}")
        connection.commit()

    @sa.event.listens_for(engine, "handle_error")
    def leave_read_only_server(context: Any) -> None:
        # The server still responds, so the pool would keep all connections to it.
        if is_read_only(context.original_exception):
            context.is_disconnect = True

    return engine


def ping(connection: Any) -> bool:
    """Wait for a response of the server process, without a transaction: a lone Sync message of the
    protocol, for which even the shortest query would be too much. Raises an error of the driver.
    """
    with connection.pipeline():
        return True


def is_read_only(error: BaseException) -> bool:
    """Whether a server accepts no writes, according to itself, or to libpq when it connects.

    Errors with a code come from the server, and their text may quote user input, so only the code
    is used.
    """
    code: str | None = getattr(error, "sqlstate", None)
    return code == _READ_ONLY or (code is None and _NOT_CONNECTED in str(error))


def notify(connection: Connection) -> None:
    """Notify all nodes of a committed transaction.

    Not as part of it: any user of the server can fill the queue of notifications, which makes
    transactions that notify fail. Without a notification, nodes find the change five seconds
    later.
    """
    with contextlib.suppress(sa.exc.SQLAlchemyError):
        connection.execution_options(isolation_level="AUTOCOMMIT").execute(_NOTIFY)
