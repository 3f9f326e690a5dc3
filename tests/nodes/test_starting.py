"""Database errors at startup are reported in a sentence, without secrets."""

import contextlib
from pathlib import Path

import pytest
import sqlalchemy as sa

from support.commands import widget_catalog
from support.nodes import environment_of
from support.people import PASSWORD
from support.postgresql import GUARDED, execute
from support.service import free_port
from support.widgets import ndjson, widget_line

SECRET = "a-password-that-nobody-may-read"


def said_by(command: str, folder: Path, url: str) -> str:
    said = widget_catalog(
        *command.split(), "--data", folder / "data", environment=environment_of(url)
    )
    assert said.code == 1, said
    assert SECRET not in said.out + said.err
    return said.err


def test_a_server_that_is_not_there(tmp_path: Path) -> None:
    url = f"postgresql://ann:{SECRET}@127.0.0.1:{free_port()}/catalog"
    for command in ("serve", "stats", "account list"):
        said = said_by(command, tmp_path, url)
        assert said.startswith("Error: The database cannot be used: ")
        assert "failed: Connection refused. Is the server running" in " ".join(said.split())


def test_several_servers_that_are_not_there_are_named_once(tmp_path: Path) -> None:
    one, two = free_port(), free_port()
    said = said_by("stats", tmp_path, f"postgresql://ann@127.0.0.1:{one},127.0.0.1:{two}/catalog")
    refused = 'connection to server at "127.0.0.1", port {} failed: Connection refused.'
    for port in (one, two):
        assert " ".join(said.split()).count(refused.format(port)) == 1
    assert said.count("Is the server running") == 1
    assert "Multiple connection attempts" not in said


def test_a_database_that_is_not_there(tmp_path: Path, postgresql_url: str) -> None:
    url = sa.make_url(postgresql_url).set(database="nowhere").render_as_string(hide_password=False)
    assert 'database "nowhere" does not exist' in said_by("serve", tmp_path, url)


@pytest.fixture
def guarded(database: str) -> str:
    """The address for a user who needs a password, and has no permissions."""
    # Roles are shared by all databases of a server, so it may exist.
    with contextlib.suppress(sa.exc.ProgrammingError):
        execute(database, f"CREATE ROLE {GUARDED} LOGIN PASSWORD '{SECRET}'")
    return (
        sa.make_url(database)
        .set(username=GUARDED, password=SECRET)
        .render_as_string(hide_password=False)
    )


def test_a_password_that_is_wrong(tmp_path: Path, guarded: str) -> None:
    wrong = guarded.replace(SECRET, f"{SECRET}x")
    assert "password authentication failed" in said_by("serve", tmp_path, wrong)


def test_a_user_without_rights(tmp_path: Path, guarded: str) -> None:
    assert "permission denied" in said_by("serve", tmp_path, guarded)


def test_a_standby(tmp_path: Path, database: str) -> None:
    url = sa.make_url(database).update_query_dict({"options": "-cdefault_transaction_read_only=on"})
    said = said_by("serve", tmp_path, url.render_as_string(hide_password=False))
    assert said.startswith("Error: The database is read-only, like a standby: ")
    assert said.endswith("read-only.\n")


def test_a_secret_that_is_missing_or_short(tmp_path: Path, database: str) -> None:
    for secret in ("", "short", f"{SECRET}{SECRET} short"):
        environment = environment_of(database, secret_key=secret)
        said = widget_catalog("serve", "--data", tmp_path / "data", environment=environment)
        assert said.code == 2
        assert "SECRET_KEY: must have 32 characters or more" in said.err
        assert SECRET not in said.err


@pytest.mark.parametrize(
    "url",
    [
        f"mysql://ann:{SECRET}@host/x",
        f"postgresql://[{SECRET}",
        # Passwords that are not percent-encoded: a part is parsed as host, port or name.
        f"postgresql://ann:p@{SECRET}@127.0.0.1/x",
        f"postgresql://ann:{SECRET}/p@127.0.0.1/x",
        f"postgresql://ann:12/{SECRET}@127.0.0.1/x",
        f"postgresql://ann:p?@{SECRET}@127.0.0.1/x",
        "postgresql://ann@127.0.0.1:port/x",
    ],
)
def test_an_address_that_is_none(tmp_path: Path, url: str) -> None:
    said = widget_catalog("stats", "--data", tmp_path, environment=environment_of(url))
    assert said.code == 2
    assert "DATABASE: must be a PostgreSQL connection URI" in said.err
    assert SECRET not in said.err


def test_commands_work_on_what_nodes_share_and_leave_no_read_model(
    tmp_path: Path, database: str
) -> None:
    environment = environment_of(database)

    def run(*arguments: str | Path, stdin: bytes = b"", code: int = 0) -> str:
        said = widget_catalog(
            *arguments, "--data", tmp_path / "data", stdin=stdin, environment=environment
        )
        assert said.code == code, said
        return said.out + said.err

    lines = ndjson(widget_line("acme/clock", downloadCount=3))
    assert "Added 1 widget" in run("import", "-", stdin=lines)
    run(
        *("account", "create", "ann", "--email", "ann@example.org", "--password-stdin"),
        stdin=PASSWORD.encode(),
    )
    assert "ann" in run("account", "list")
    assert '"downloads":3' in run("stats")
    assert '"acme"' in run("export", "-")
    assert not (tmp_path / "data" / "replica").exists()
    assert "No problems found" in run("doctor")
    assert "use pg_dump or PITR" in run("backup", tmp_path / "backup", code=1)
    assert "secret_key" in run("secrets", "rotate", code=1)


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://ann:p%40{SECRET}@127.0.0.1:1,127.0.0.1:2/x",
        f"postgresql://ann:p?:#{SECRET}@127.0.0.1:1/x?application_name=a@b/c",
        f"postgresql:///x?host=127.0.0.1,127.0.0.1&port=1,2&user=ann@org&password={SECRET}",
    ],
)
def test_unusual_addresses_are_taken(tmp_path: Path, url: str) -> None:
    assert "Connection refused" in said_by("stats", tmp_path, url)
