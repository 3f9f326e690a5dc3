"""PostgreSQL: connections, notification of other nodes' writes, and which nodes use a database.

A node's follower sends a fingerprint of its secrets as its application name. So running nodes know
about each other, and nothing is stored. Any user of the server can choose such a name, so only
those who may write to the catalog count.
"""

import contextlib
import hmac
import secrets as random
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from .hosts import begin_with, find_host
from .schema import channels
from .table_locks import FIND_PUBLISHER, LockHolder, holder_in

if TYPE_CHECKING:
    from .engine import Store


_FOLLOWER = "widget-catalog follower"
# PostgreSQL truncates application names to 63 characters.
_SHOWN = 4

OTHER_FOLLOWERS = f"""
    SELECT application_name, coalesce(host(client_addr), 'the machine of the database')
    FROM pg_stat_activity
    WHERE datname = current_database() AND starts_with(application_name, '{_FOLLOWER} ')
        AND has_table_privilege(usesysid, to_regclass('changes'), 'INSERT')
    ORDER BY 2, 1
"""  # noqa: S608


# The last query of a node says what it has applied: other nodes of the same user can read it there,
# and it costs no query of its own.
_APPLIED = "/* applied {} */ "
_APPLIED_BY_OTHERS = f"""
    SELECT max(substring(query FROM 'applied ([0-9]{{1,18}})')::bigint) FROM pg_stat_activity
    WHERE datname = current_database() AND starts_with(application_name, '{_FOLLOWER} ')
        AND has_table_privilege(usesysid, to_regclass('changes'), 'INSERT')
        AND pid <> pg_backend_pid() AND starts_with(query, '/* applied ')
"""  # noqa: S608


def follower_name(secrets: Sequence[str]) -> str:
    return f"{_FOLLOWER} {','.join(_fingerprints(secrets))}"


def find_strangers(followers: Iterable[Sequence[str]], secrets: Sequence[str]) -> list[str]:
    """The addresses of nodes that do not accept this one's signatures, or vice versa.

    `followers` are rows of `OTHER_FOLLOWERS`.
    """
    own = _fingerprints(secrets)
    found = set()
    for name, address in followers:
        theirs = name.removeprefix(_FOLLOWER).strip().split(",")
        if own[0] not in theirs or theirs[0] not in own:
            found.add(address)
    return sorted(found)


def describe_strangers(addresses: Sequence[str]) -> str:
    return (
        f"There is a node with another secret_key at {', '.join(addresses)}. Uploads, sign-ins and "
        "codes of authenticator apps that change nodes are refused until all nodes have the same."
    )


def _fingerprints(secrets: Sequence[str]) -> list[str]:
    """Short, and useless for finding the secret, which is random."""
    return [hmac.digest(it.encode(), b"fingerprint", "sha256").hex()[:8] for it in secrets[:_SHOWN]]


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

# NOTIFY has no permissions, so the channel is random, and only those who can read our tables know
# it. The first listener chooses it.
_CHOOSE_CHANNEL = (
    "INSERT INTO channels (id, name) VALUES (1, 'widget_catalog_' || %s) ON CONFLICT DO NOTHING"
)
_READ_CHANNEL = "SELECT name FROM channels"
# Not a change, but counts: see `Listening.notify_counts`.
_COUNTS = "counts"
# The server serializes notifying transactions, of all users: do not wait for them for long.
_NOTIFY = sa.select(
    sa.func.set_config("lock_timeout", "1s", True), sa.func.pg_notify(channels.c.name, "")
)
_READ_STATE = (
    "SELECT (SELECT coalesce(max(seq), 0) FROM changes), version_num, "
    "current_setting('transaction_read_only') FROM alembic_version"
)
_READ_OLDEST_WRITER = (
    "SELECT coalesce((SELECT oldest_writer FROM schema_support), version_num) FROM alembic_version"
)
_READ_ONLY = "25006"
# Settings that the server reports when they change, since PostgreSQL 14.
_REPORTED = ("default_transaction_read_only", "in_hot_standby")
_BECAME_READ_ONLY = "The server has become read-only."
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

    @sa.event.listens_for(engine, "connect")
    def set_up(connection: Any, _record: Any) -> None:
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


class ReadOnlyServer(Exception):
    """It was demoted or made read-only; another server may take over."""


class Heard(NamedTuple):
    """What other nodes, or this one, have notified of."""

    changes: bool
    counts: bool


class Listening:
    """A connection that receives a notification for every change, and now and then for counts."""

    def __init__(self, url: str, secrets: Sequence[str], first_host: int = 0) -> None:
        """`host` is then the one that it is connected to. Raises ReadOnlyServer if a host
        responds, but none accepts writes.
        """
        import psycopg  # Slow to load.

        self._secrets = secrets
        self._channel = ""
        address = connection_string(url, follower_name(secrets))
        try:
            self.connection = psycopg.connect(begin_with(address, first_host), autocommit=True)
        except psycopg.Error as error:
            if is_read_only(error):
                raise ReadOnlyServer(str(error)) from error
            raise
        self.host = find_host(address, self.connection)

    def check(self) -> None:
        """Return if the server responds; it costs no transaction. Raises ReadOnlyServer if it has
        become read-only: the server reports that by itself, together with its response.
        """
        ping(self.connection)
        if any(self.connection.info.parameter_status(it) == "on" for it in _REPORTED):
            raise ReadOnlyServer(_BECAME_READ_ONLY)

    def one_transaction(self) -> contextlib.AbstractContextManager[object]:
        """For several of the following. Not with BEGIN and COMMIT: the last query is read by other
        nodes.
        """
        return self.connection.pipeline()

    def read_state(self, applied_seq: int) -> tuple[int, str]:
        """The end of the feed, and the schema. Tells other nodes what this one has applied, until
        the next query. Raises ReadOnlyServer if the server takes no writes.
        """
        query = (_APPLIED.format(applied_seq) + _READ_STATE).encode()
        found = self.connection.execute(query, prepare=False).fetchone()
        newest, schema, is_read_only = found or (0, "", "off")
        if is_read_only == "on":
            raise ReadOnlyServer(_BECAME_READ_ONLY)
        return int(newest), str(schema)

    def read_oldest_writer(self) -> str:
        """The oldest schema whose releases may write; only a newer schema is sure to have it."""
        row = self.connection.execute(_READ_OLDEST_WRITER).fetchone() or ("",)
        return str(row[0])

    def find_strangers(self) -> list[str]:
        """The addresses of other nodes with another secret."""
        found = self.connection.execute(OTHER_FOLLOWERS).fetchall()
        return find_strangers(found, self._secrets)

    def find_applied_by_others(self) -> int:
        """The newest change that any other node has applied, as far as known; 0 if none is."""
        ((found,),) = self.connection.execute(_APPLIED_BY_OTHERS).fetchall()
        return int(found or 0)

    def find_publisher(self) -> LockHolder | None:
        """Who publishes at the moment."""
        return holder_in(self.connection.execute(FIND_PUBLISHER).fetchall())

    def start(self) -> bool:
        """Receive notifications from now on. The database has the schema of this release. Whether
        it did not before: then it has missed those of changes since the last look.
        """
        if self._channel:
            return False
        from psycopg import sql  # Slow to load.

        self.connection.execute(_CHOOSE_CHANNEL, [random.token_hex(16)])
        ((self._channel,),) = self.connection.execute(_READ_CHANNEL).fetchall()
        self.connection.execute(sql.SQL("LISTEN {}").format(sql.Identifier(self._channel)))
        # From here on it only notifies: nothing is lost if such a commit is.
        self.connection.execute("SET synchronous_commit = off; SET lock_timeout = '1s'")
        return True

    def wait(self, timeout_s: float) -> Heard:
        """Return on a notification, or after this long."""
        found = [it.payload for it in self.connection.notifies(timeout=timeout_s, stop_after=1)]
        return Heard(any(it != _COUNTS for it in found), _COUNTS in found)

    def notify_counts(self, applied_seq: int) -> bool:
        """Notify all nodes that counts have grown, and tell them what `read_state` does. False if
        the server refuses it for now.
        """
        if not self._channel:
            return False
        import psycopg  # Slow to load.

        try:
            query = (_APPLIED.format(applied_seq) + "SELECT pg_notify(%s, %s)").encode()
            self.connection.execute(query, [self._channel, _COUNTS], prepare=False)
        except psycopg.Error:
            if self.connection.broken:
                raise
            return False
        return True

    def close(self) -> None:
        self.connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


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


def find_nodes(store: "Store") -> list[str]:
    """Addresses of running nodes; none on SQLite."""
    if store.engine.dialect.name != "postgresql":
        return []
    with store.reading() as connection:
        followers = connection.exec_driver_sql(OTHER_FOLLOWERS).fetchall()
    return sorted({address for _, address in followers})


def find_other_secrets(store: "Store", secrets: Sequence[str]) -> list[str]:
    """A message if running nodes have other secrets than these; none on SQLite."""
    if not secrets:
        return []
    with store.reading() as connection:
        followers = connection.exec_driver_sql(OTHER_FOLLOWERS).fetchall()
    strangers = find_strangers([tuple(it) for it in followers], secrets)
    return [describe_strangers(strangers)] if strangers else []
