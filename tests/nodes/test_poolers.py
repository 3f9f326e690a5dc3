"""Databases and connection poolers that nodes cannot use, and how many connections they open."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest
import sqlalchemy as sa

from support.commands import widget_catalog
from support.nodes import environment_of
from support.pgbouncer import pgbouncer
from support.postgresql import execute
from support.service import run_command, running_service, wait_for
from support.widgets import ndjson, widget_line
from widget_catalog.core.db.postgresql import postgresql_engine

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1"])
def test_a_database_in_another_encoding_is_refused(
    encoding: str, postgresql_url: str, tmp_path: Path
) -> None:
    name = f"catalog_in_{encoding.lower()}"
    execute(
        postgresql_url,
        f"CREATE DATABASE {name} ENCODING '{encoding}' LOCALE 'C' TEMPLATE template0",
    )
    address = sa.make_url(postgresql_url).set(database=name).render_as_string(hide_password=False)

    said = widget_catalog(
        *("serve", "--data", tmp_path / "data"), environment=environment_of(address)
    )

    assert said.code == 1
    assert said.err.startswith(
        f"Error: The database has the encoding {encoding}, and must have UTF8."
    )


@pytest.mark.parametrize("mode", ["transaction", "statement"])
def test_a_pooler_that_shares_connections_between_transactions_is_refused(
    mode: str, database: str, tmp_path: Path
) -> None:
    with pgbouncer(tmp_path, database, mode) as address:
        said = widget_catalog(
            *("serve", "--data", tmp_path / "data"), environment=environment_of(address)
        )

    assert said.code == 1
    assert said.err.startswith("Error: The database cannot be used through this connection pooler")
    assert "pool_mode=session" in said.err


def test_a_node_follows_others_through_a_pooler_in_session_mode(
    database: str, tmp_path: Path
) -> None:
    file = tmp_path / "widgets.ndjson"
    file.write_bytes(ndjson(widget_line("acme/pooled")))
    with (
        pgbouncer(tmp_path, database, "session") as address,
        running_service(tmp_path / "node", environment=environment_of(address)) as service,
        service.client() as client,
    ):
        done = run_command(
            *("import", str(file), "--data", str(tmp_path / "data")),
            environment=environment_of(database),
        )
        assert done.returncode == 0, done.stderr
        wait_for(lambda: client.get("/api/v1/widgets/acme/pooled").status_code == 200)
        assert client.post("/api/v1/widgets/acme/pooled").status_code == 200


def test_an_engine_opens_no_more_connections_than_it_may(database: str) -> None:
    engine = postgresql_engine(database, "bounded", max_connections=3)
    count = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'bounded'"

    def work(_: int) -> None:
        with engine.connect() as connection:
            connection.execute(sa.text("SELECT pg_sleep(0.05)"))

    # A transaction would see the same processes twice.
    watcher = psycopg.connect(database, autocommit=True)
    with ThreadPoolExecutor(12) as threads, watcher as watching:
        done = threads.map(work, range(60))
        (most,) = watching.execute(count).fetchone() or (0,)
        list(done)
        (kept,) = watching.execute(count).fetchone() or (0,)
    engine.dispose()
    assert most <= kept == 3
