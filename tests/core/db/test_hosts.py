"""Of several hosts in an address, one that accepts writes is found; and a server that hangs is not
waited for without end.
"""

import socket
import time
from collections.abc import Iterator

import psycopg
import pytest
import sqlalchemy as sa
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from support.nodes import relay_to, through
from support.postgresql import execute, new_database
from support.relay import Relay
from widget_catalog.core.db.limited_connection import LimitedConnection
from widget_catalog.core.db.listening import Listening
from widget_catalog.core.db.postgresql import is_read_only, postgresql_engine

# Waiting for a host that does not respond takes longer than a test may take.
FOR_EVER = {"connect_timeout": "3600", "sslmode": "disable"}


@pytest.fixture
def lost() -> Iterator[tuple[str, int]]:
    """A host that accepts connections and never responds."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()


def test_a_host_that_says_nothing_is_given_up_for_the_next_one(
    postgresql_url: str, lost: tuple[str, int]
) -> None:
    address = with_lost(postgresql_url, lost, connect_timeout="2")
    with Listening(address, ()) as listening:
        assert listening.connection.execute("SELECT 1").fetchone() == (1,)


def test_a_server_that_takes_no_writes_is_known_by_its_code_or_by_libpq(
    postgresql_url: str,
) -> None:
    database = new_database(postgresql_url)
    name = conninfo_to_dict(database)["dbname"]
    execute(postgresql_url, f"ALTER DATABASE {name} SET default_transaction_read_only = on")

    with pytest.raises(psycopg.OperationalError) as refused:
        psycopg.connect(database, target_session_attrs="read-write")
    assert is_read_only(refused.value)
    with psycopg.connect(database, autocommit=True) as connection:
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction) as failed:
            connection.execute("CREATE TABLE t (x TEXT)")
        assert is_read_only(failed.value)
        # The message may quote user input.
        said = "RAISE unique_violation USING MESSAGE = 'session is read-only'"
        with pytest.raises(psycopg.errors.UniqueViolation) as quoted:
            connection.execute(f"DO $$ BEGIN {said}; END $$")
        assert not is_read_only(quoted.value)


def test_a_wait_for_a_server_that_hangs_has_an_end(hanging: tuple[str, Relay]) -> None:
    url, relay = hanging
    with LimitedConnection.connect(url, autocommit=True) as connection:
        connection.limit(0.5)
        assert connection.execute("SELECT 1").fetchone() == (1,)
        relay.silence()

        with pytest.raises(psycopg.OperationalError, match="does not respond"):
            connection.execute("SELECT 2")
        assert connection.closed, "or the next statement would read this response"


def test_connections_are_replaced_once_their_server_was_found_silent(
    hanging: tuple[str, Relay],
) -> None:
    url, relay = hanging
    lost_at_s = 0.0
    engine = postgresql_engine(url, lost_at_s=lambda: lost_at_s)
    with engine.connect() as used, engine.connect() as idle:
        former = {it.exec_driver_sql("SELECT pg_backend_pid()").scalar() for it in (used, idle)}
        idle.close()
        relay.silence()
        lost_at_s = time.monotonic()

        with pytest.raises(sa.exc.OperationalError):
            used.exec_driver_sql("SELECT 1")
    relay.restore()
    with engine.connect() as one, engine.connect() as two:
        made = {it.exec_driver_sql("SELECT pg_backend_pid()").scalar() for it in (one, two)}
    assert not former & made
    engine.dispose()


@pytest.fixture
def hanging(postgresql_url: str) -> Iterator[tuple[str, Relay]]:
    """The address of a server that can be silenced."""
    with relay_to(postgresql_url) as relay:
        yield through(relay, postgresql_url), relay


def with_lost(url: str, lost: tuple[str, int], **more: str) -> str:
    """The address of this server, after one that says nothing."""
    real = conninfo_to_dict(url)
    return make_conninfo(
        url,
        host=f"{lost[0]},{real['host']}",
        port=f"{lost[1]},{real.get('port', 5432)}",
        **(FOR_EVER | more),
    )
