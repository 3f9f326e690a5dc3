"""PostgreSQL: connections, and ids of transactions.

libpq tries the hosts of an address in order, each with the connection timeout. A lost machine
refuses nothing: a connection to it fails only after the timeout. So all connections of a node start
with the host that its follower has found.
"""

import contextlib
import os
import socket
import threading
import time
import weakref
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from ..errors import DatabaseUnusable
from .schema import channels

if TYPE_CHECKING:
    import psycopg

    from .engine import Store


# Defaults, unless the URL sets them. A host that does not respond is given up soon, and so is a
# broken connection; of several hosts, the one that accepts writes is used.
_DEFAULTS = {
    "connect_timeout": "3",
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
    first_host: Callable[[], int] = lambda: 0,
    max_connections: int = FEW_CONNECTIONS,
) -> Engine:
    """The address is passed to libpq unchanged: it may name several hosts, and files for TLS. Of
    several hosts, `first_host` is the number of the one to try first.
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
    def connect(_dialect: Any, _record: Any, arguments: list[str], _options: Any) -> None:
        arguments[:] = [begin_with(address, first_host())]

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
            f"set_config('{it}', '{value}', false)" for it, value in health.items()
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


_LISTS = ("host", "hostaddr", "port")


def begin_with(address: str, host: int) -> str:
    """The same address, with the hosts in order, but starting with this one."""
    from psycopg.conninfo import make_conninfo

    hosts = _hosts(address)
    first = host % len(hosts)
    hosts = [*hosts[first:], *hosts[:first]]
    return make_conninfo(
        address, **{key: ",".join(it[key] for it in hosts) for key in _LISTS if key in hosts[0]}
    )


def find_host(address: str, connection: "psycopg.Connection[Any]") -> int:
    """The number of the host that this is connected to."""
    hosts = _hosts(address)
    found = (connection.info.host, str(connection.info.port))
    for number, it in enumerate(hosts):
        if (it.get("host") or it.get("hostaddr"), it.get("port", found[1])) == found:
            return number
    return 0


def _hosts(address: str) -> list[dict[str, str]]:
    """The parts of the address for each host; one without any if libpq would reject it."""
    from psycopg.conninfo import conninfo_to_dict

    given = conninfo_to_dict(address)
    lists = {key: str(given[key]).split(",") for key in _LISTS if key in given}
    count = max((len(it) for key, it in lists.items() if key != "port"), default=1)
    if any(len(it) not in (1, count) for it in lists.values()):
        return [{}]
    return [{key: it[i % len(it)] for key, it in lists.items()} for i in range(count)]


def current_transaction(connection: Connection) -> int | None:
    """The id of this transaction, by which others find its writes; none on SQLite."""
    if connection.dialect.name != "postgresql":
        return None
    return int(connection.execute(sa.text("SELECT pg_current_xact_id()::text")).scalar_one())


def oldest_transaction(connection: Connection) -> int:
    """Every transaction with a smaller id has ended, and is visible in this snapshot."""
    query = "SELECT pg_snapshot_xmin(pg_current_snapshot())::text"
    return int(connection.execute(sa.text(query)).scalar_one())


def next_transaction(connection: Connection) -> int:
    """No transaction has this id or a larger one yet."""
    query = "SELECT pg_snapshot_xmax(pg_current_snapshot())::text"
    return int(connection.execute(sa.text(query)).scalar_one())


def transaction_horizon(store: "Store") -> int:
    """The first transaction id whose writes may not have been read yet."""
    with store.reading() as connection:
        return oldest_transaction(connection)


_LOOK_EVERY_S = 0.5
# A look that is later than this was late because this process was stopped, or its machine.
_STOPPED_S = 2.0
# No transaction of a request takes this long.
LONGEST_S = 20.0


class ConnectionWatch:
    """Closes connections that are stuck. A server whose processes hang still acknowledges packets,
    so TCP timeouts do not help; and a commit may wait for a lost standby. When a connection is shut
    down, the thread that waits on it gets an error immediately.

    One per process, with its own thread. Connections opened before `stale_before_s`, a time of
    the monotonic clock, will never respond.
    """

    def __init__(self, stale_before_s: Callable[[], float]) -> None:
        self._stale_before_s = stale_before_s
        self._lock = threading.Lock()
        self._made_at: weakref.WeakKeyDictionary[Any, float] = weakref.WeakKeyDictionary()
        self._deadlines: dict[object, tuple[float, Any]] = {}
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="connections", daemon=True)
        self._thread.start()

    def watch(self, engine: Engine) -> None:
        """Watch all new connections of this engine, from their first statement."""

        @sa.event.listens_for(engine, "connect", insert=True)
        def add(made: Any, _record: Any) -> None:
            self.add(made)

    def add(self, made: Any) -> None:
        """A connection of the driver."""
        with self._lock:
            self._made_at[made] = time.monotonic()

    @contextlib.contextmanager
    def limited(self, connection: Connection) -> Iterator[None]:
        """Shut this connection down if the block takes too long."""
        mark = object()
        until = time.monotonic() + LONGEST_S
        with self._lock:
            self._deadlines[mark] = (until, connection.connection.dbapi_connection)
        try:
            yield
        finally:
            with self._lock:
                del self._deadlines[mark]

    def close(self) -> None:
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        looked_at = time.monotonic()
        while not self._ended.wait(_LOOK_EVERY_S):
            now, before_s = time.monotonic(), looked_at
            looked_at = now
            if now - before_s > _STOPPED_S:
                continue  # Nobody has asked the server meanwhile. The follower does so now.
            with self._lock:
                late = [it for until, it in self._deadlines.values() if until < now]
                before = self._stale_before_s()
                late += [it for it, at in self._made_at.items() if at < before]
            for made in late:
                _shut_down(made)


def _shut_down(made: Any) -> None:
    """Called from another thread than the connection's, which is responsible for closing it."""
    if made.closed:
        return
    with (
        contextlib.suppress(Exception),  # It may just have been closed.
        socket.socket(fileno=os.dup(made.fileno())) as duplicate,
    ):
        duplicate.shutdown(socket.SHUT_RDWR)
