"""With several hosts in an address, a lost one delays at most the first connection."""

import contextlib
import socket
from collections.abc import Iterator

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from support.postgresql import execute, new_database
from widget_catalog.core.db.listening import Listening
from widget_catalog.core.db.postgresql import begin_with, is_read_only, postgresql_engine

# Waiting for a host that does not respond takes longer than a test may take.
FOR_EVER = {"connect_timeout": "3600", "sslmode": "disable"}


@pytest.fixture
def lost() -> Iterator[tuple[str, int]]:
    """A host that accepts connections and never responds."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()


def hosts_of(address: str) -> list[tuple[str, str]]:
    given = conninfo_to_dict(address)
    hosts, ports = str(given["host"]).split(","), str(given["port"]).split(",")
    return list(zip(hosts, ports, strict=True))


def test_the_hosts_are_tried_from_the_given_one_on() -> None:
    address = "postgresql://one:1,two:2,three:3/catalog"
    for number, order in ((0, "123"), (1, "231"), (2, "312"), (7, "231")):
        assert "".join(port for _, port in hosts_of(begin_with(address, number))) == order


def test_hosts_may_share_a_port() -> None:
    address = "postgresql://ann:secret@/catalog?host=one,two&port=7&sslmode=require"
    assert hosts_of(begin_with(address, 1)) == [("two", "7"), ("one", "7")]
    kept = conninfo_to_dict(begin_with(address, 1))
    assert (kept["dbname"], kept["user"], kept["sslmode"]) == ("catalog", "ann", "require")
    assert conninfo_to_dict(begin_with("postgresql:///catalog", 1)) == {"dbname": "catalog"}


def test_an_address_that_libpq_refuses_is_left_to_it() -> None:
    address = "postgresql:///catalog?host=a,b,c&port=1,2"
    assert conninfo_to_dict(begin_with(address, 1)) == conninfo_to_dict(address)


def test_a_host_that_says_nothing_is_given_up_for_the_next_one(
    postgresql_url: str, lost: tuple[str, int]
) -> None:
    address = with_lost(postgresql_url, lost, connect_timeout="2")
    with contextlib.closing(Listening(address, ())) as listening:
        assert listening.host == 1
        assert listening.connection.execute("SELECT 1").fetchone() == (1,)


def test_a_follower_begins_with_the_host_that_it_found(
    postgresql_url: str, lost: tuple[str, int]
) -> None:
    with contextlib.closing(Listening(with_lost(postgresql_url, lost), (), 1)) as listening:
        assert listening.host == 1


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


def test_connections_of_a_node_begin_with_the_host_that_was_found(
    postgresql_url: str, lost: tuple[str, int]
) -> None:
    engine = postgresql_engine(with_lost(postgresql_url, lost), first_host=lambda: 1)
    with engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT 1").scalar() == 1
    engine.dispose()


def with_lost(url: str, lost: tuple[str, int], **more: str) -> str:
    """The address of this server, after one that says nothing."""
    real = conninfo_to_dict(url)
    return make_conninfo(
        url,
        host=f"{lost[0]},{real['host']}",
        port=f"{lost[1]},{real.get('port', 5432)}",
        **(FOR_EVER | more),
    )
