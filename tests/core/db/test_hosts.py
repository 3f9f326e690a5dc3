"""With several hosts in an address, a lost one does not delay connections to others."""

import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from support.postgresql import execute, new_database
from support.service import free_port
from widget_catalog.core.db.hosts import begin_with, connect_to_any, split_hosts
from widget_catalog.core.db.postgresql import is_read_only, postgresql_engine

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


def test_each_host_has_its_own_port_or_that_of_all() -> None:
    each = split_hosts("postgresql://ann:secret@one:1,two:2,three:3/catalog?sslmode=require")
    assert [hosts_of(it) for it in each] == [[("one", "1")], [("two", "2")], [("three", "3")]]
    assert {conninfo_to_dict(it)["sslmode"] for it in each} == {"require"}
    assert {conninfo_to_dict(it)["dbname"] for it in each} == {"catalog"}

    each = split_hosts("postgresql:///catalog?host=one,two&port=7")
    assert [hosts_of(it) for it in each] == [[("one", "7")], [("two", "7")]]

    (only,) = split_hosts("postgresql:///catalog")
    assert conninfo_to_dict(only) == {"dbname": "catalog"}


def test_the_hosts_are_tried_from_the_given_one_on() -> None:
    address = "postgresql://one:1,two:2,three:3/catalog"
    for number, order in ((0, "123"), (1, "231"), (2, "312"), (7, "231")):
        assert "".join(port for _, port in hosts_of(begin_with(address, number))) == order


def test_an_address_that_libpq_refuses_is_left_to_it() -> None:
    with pytest.raises(psycopg.OperationalError, match="port"):
        connect_to_any(split_hosts("postgresql:///catalog?host=a,b,c&port=1,2"), 0)


def test_a_host_that_says_nothing_does_not_hold_up_the_next_one(
    postgresql_url: str, lost: tuple[str, int]
) -> None:
    silent = make_conninfo("", host=lost[0], port=lost[1], **FOR_EVER)
    for addresses, first in (([silent, postgresql_url], 0), ([postgresql_url, silent], 1)):
        number, connection = connect_to_any(addresses, first)
        assert addresses[number] == postgresql_url
        with connection:
            assert connection.execute("SELECT 1").fetchone() == (1,)


def test_a_host_that_takes_over_is_found_while_another_says_nothing(
    postgresql_url: str, lost: tuple[str, int]
) -> None:
    silent = make_conninfo("", host=lost[0], port=lost[1], **FOR_EVER)
    database = new_database(postgresql_url)
    with ThreadPoolExecutor(1) as threads:
        name = conninfo_to_dict(database)["dbname"]
        execute(postgresql_url, f"ALTER DATABASE {name} SET default_transaction_read_only = on")
        standby = make_conninfo(database, target_session_attrs="read-write")

        finding = threads.submit(connect_to_any, [silent, standby], 0)
        wait([finding], timeout=1)
        assert not finding.done()
        execute(postgresql_url, f"ALTER DATABASE {name} RESET default_transaction_read_only")

        number, connection = finding.result(60)
        connection.close()
        assert number == 1


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


def test_if_no_host_takes_a_connection_each_says_why(postgresql_url: str) -> None:
    port = free_port()
    closed = make_conninfo("", host="127.0.0.1", port=port)
    missing = make_conninfo(postgresql_url, dbname="nowhere")
    with pytest.raises(psycopg.OperationalError) as raised:
        connect_to_any([closed, missing], 0)
    assert "Connection refused" in str(raised.value)
    assert '"nowhere" does not exist' in str(raised.value)


def test_connections_of_a_node_begin_with_the_host_that_was_found(
    postgresql_url: str, lost: tuple[str, int]
) -> None:
    real = conninfo_to_dict(postgresql_url)
    address = make_conninfo(
        postgresql_url,
        host=f"{lost[0]},{real['host']}",
        port=f"{lost[1]},{real.get('port', 5432)}",
        **FOR_EVER,
    )
    engine = postgresql_engine(address, first_host=lambda: 1)
    with engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT 1").scalar() == 1
    engine.dispose()
