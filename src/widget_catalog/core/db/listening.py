"""Listening: how a node follows the writes of others, and which nodes use a database.

A node's follower sends a fingerprint of its secrets as its application name. So running nodes know
about each other, and nothing is stored. Any user of the server can choose such a name, so only
those who may write to the catalog count.
"""

import contextlib
import hmac
import secrets as random
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple, Self

from ..errors import DatabaseUnusable
from .postgresql import connection_string, is_read_only, ping

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


# The server serializes notifying transactions, of all users: do not wait for them for long.
_NOTIFY = "SELECT set_config('lock_timeout', '1s', true), pg_notify(%s, %s)"


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


# NOTIFY has no permissions, so the channel is random, and only those who can read our tables know
# it. The first listener chooses it.
_CHOOSE_CHANNEL = (
    "INSERT INTO channels (id, name) VALUES (1, 'widget_catalog_' || %s) ON CONFLICT DO NOTHING"
)
_READ_CHANNEL = "SELECT name FROM channels"
# Not a change, but counts: see `Listening.notify_counts`.
_COUNTS = "counts"
_READ_STATE = (
    "SELECT (SELECT coalesce(max(seq), 0) FROM changes), version_num, "
    "current_setting('transaction_read_only') FROM alembic_version"
)
_READ_OLDEST_WRITER = (
    "SELECT coalesce((SELECT oldest_writer FROM schema_support), version_num) FROM alembic_version"
)
# Settings that the server reports when they change, since PostgreSQL 14.
_REPORTED = ("default_transaction_read_only", "in_hot_standby")
_BECAME_READ_ONLY = "The server has become read-only."
# How long a notification may take.
_TIMEOUT_S = 5.0
# After this long without a response, the server is considered lost. On a busy machine, a healthy
# one may take two seconds.
_SILENT_S = 4.0


def require_notifications(url: str) -> None:
    """Raises DatabaseUnusable if a connection to this address receives no notifications, because a
    pooler gives it another connection of the server for every transaction. Errors of the database
    are left to those who use it.
    """
    import psycopg  # Slow to load.

    address = connection_string(url)
    with contextlib.suppress(psycopg.Error), psycopg.connect(address, autocommit=True) as one:
        (pid,) = one.execute("SELECT pg_backend_pid()").fetchone() or (0,)
        if pid == one.info.backend_pid:
            return  # The server itself: a pooler has numbers of its own.
        channel = f"widget_catalog_{random.token_hex(16)}"
        one.execute(f"LISTEN {channel}".encode())
        # While the pooler may give the connection that listens to somebody else.
        with psycopg.connect(address, autocommit=True) as two:
            two.execute("SELECT pg_notify(%s, '')", [channel])
        if not list(one.notifies(timeout=_TIMEOUT_S, stop_after=1)):
            raise DatabaseUnusable(
                "The database cannot be used through this connection pooler: it shares connections "
                "between transactions, so that nodes are not notified of changes. Use its session "
                "mode (PgBouncer: pool_mode=session), or the address of the server itself."
            )


class ReadOnlyServer(Exception):
    """It was demoted or made read-only; another server may take over."""


class Heard(NamedTuple):
    """What other nodes, or this one, have notified of."""

    changes: bool
    counts: bool


class Listening:
    """A connection that receives a notification for every change, and now and then for counts."""

    def __init__(self, url: str, secrets: Sequence[str]) -> None:
        """Raises ReadOnlyServer if a host responds, but none accepts writes."""
        import psycopg  # Slow to load.

        from .limited_connection import LimitedConnection

        self._secrets = secrets
        self._channel = ""
        address = connection_string(url, follower_name(secrets))
        try:
            self.connection = LimitedConnection.connect(address, autocommit=True)
        except psycopg.Error as error:
            if is_read_only(error):
                raise ReadOnlyServer(str(error)) from error
            raise
        self.connection.limit(_SILENT_S)

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
        self.connection.execute("SET synchronous_commit = off")
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
            query = (_APPLIED.format(applied_seq) + _NOTIFY).encode()
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
