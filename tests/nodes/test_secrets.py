"""No secret in the settings is ever revealed: not in logs, responses, pages, metrics or help."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import sqlalchemy as sa

from support.commands import widget_catalog
from support.nodes import RunningNode, Traveller, a_node, environment_of
from support.people import PASSWORD
from support.s3 import SECRET as S3_SECRET
from support.s3 import rclone, settings_of
from support.service import free_port, run_command, wait_for

IN_THE_ADDRESS = "database-password-nobody-may-read"
SECRETS = {
    "secret_key": "secret-key-of-all-nodes-that-nobody-may-read",
    "oidc_client_secret": "client-secret-that-nobody-may-read",
}
IN_SETTINGS = [IN_THE_ADDRESS, *SECRETS.values()]
ALL = [S3_SECRET, *IN_SETTINGS]


def assert_none_in(text: str) -> None:
    assert [it for it in ALL if it in text] == []


@pytest.fixture(scope="module")
def secretive(
    tmp_path_factory: pytest.TempPathFactory, database: str
) -> Iterator[tuple[RunningNode, int]]:
    """A node with every secret set, and its metrics port."""
    folder = tmp_path_factory.mktemp("secrets")
    # This server accepts any client, but receives the password nevertheless.
    url = sa.make_url(database).set(password=IN_THE_ADDRESS).render_as_string(hide_password=False)
    metrics_port = free_port()
    with rclone(folder / "store") as port, contextlib.ExitStack() as stack:
        settings = {
            **settings_of(port),
            **SECRETS,
            "oidc_issuer": "https://sign-in.example",
            "oidc_client_id": "catalog",
            "access_log": "true",
            "log_level": "debug",
            "metrics_port": str(metrics_port),
        }
        done = run_command(
            *("account", "create", "olga", "--email", "olga@example.org", "--operator"),
            *("--password-stdin", "--data", str(folder / "command")),
            stdin=PASSWORD.encode(),
            environment=environment_of(url, **settings),
        )
        assert done.returncode == 0, done.stderr
        assert_none_in(done.stdout.decode() + done.stderr.decode())
        yield stack.enter_context(a_node(folder / "node", url, **settings)), metrics_port


def test_responses_pages_metrics_and_logs_show_no_secret(
    secretive: tuple[RunningNode, int],
) -> None:
    node, metrics_port = secretive
    operator = Traveller(node, "olga")

    settings = operator.get(node, "/operate")

    assert settings.status_code == 200
    assert settings.text.count("set (hidden)") == len(IN_SETTINGS)
    assert_none_in(settings.text)
    for path in ("/api/settings", "/api/health", "/api/stats", "/api/nowhere", "/"):
        response = node.client.get(path)
        assert_none_in(response.text + str(response.headers))
    assert_none_in(httpx.get(f"http://127.0.0.1:{metrics_port}/metrics", timeout=60).text)


def test_a_database_that_goes_away_is_reported_without_its_password(
    secretive: tuple[RunningNode, int],
) -> None:
    node, _ = secretive
    credentials = {"username": "olga", "password": PASSWORD}
    node.relay.cut()
    try:
        wait_for(lambda: node.client.get("/api/health").status_code == 503, 60)
        refused = node.client.post("/api/auth/sign-in", json=credentials)
        assert refused.status_code == 503
        assert_none_in(refused.text + node.client.get("/api/health").text)
    finally:
        node.relay.restore()
    wait_for(lambda: node.client.get("/api/health").status_code == 200, 60)
    assert "The database does not answer" in node.service.log
    assert_none_in(node.service.log)


def test_help_shows_no_secret_of_the_environment(tmp_path: Path) -> None:
    url = f"postgresql://ann:{IN_THE_ADDRESS}@127.0.0.1:{free_port()}/catalog"
    settings = {**settings_of(free_port()), **SECRETS}
    said = widget_catalog("serve", "--help", environment=environment_of(url, **settings))
    assert said.code == 0
    assert_none_in(said.out + said.err)
    said = widget_catalog(
        *("serve", "--data", tmp_path / "data", "--port", "nine"),
        environment=environment_of(url, **settings),
    )
    assert said.code == 2
    assert_none_in(said.out + said.err)
