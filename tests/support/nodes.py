"""Nodes that share a PostgreSQL, each in a separate process and through a separate relay."""

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import httpx
import sqlalchemy as sa
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from support.people import PASSWORD, request_body
from support.relay import Relay
from support.service import Service, free_port, run_command, running_service
from support.site import SECRET_KEY

# All nodes have one public URL, behind a load balancer that does not exist here.
PUBLIC = "http://catalog.example"


class RunningNode(NamedTuple):
    service: Service
    relay: Relay
    client: httpx.Client


def relay_to(database: str) -> Relay:
    given = conninfo_to_dict(database)
    host, port = str(given.get("host", "127.0.0.1")), int(given.get("port", 5432) or 5432)
    return Relay(f"{host}/.s.PGSQL.{port}" if host.startswith("/") else (host, port))


def through(relay: Relay, database: str) -> str:
    """The address of the database behind a relay."""
    given = conninfo_to_dict(database)
    address = sa.URL.create(
        "postgresql",
        username=str(given.get("user", "postgres")),
        password=str(given["password"]) if given.get("password") else None,
        host="127.0.0.1",
        port=relay.port,
        database=str(given["dbname"]),
        query={"sslmode": "disable"},
    )
    assert make_conninfo(address.render_as_string(hide_password=False))
    return address.render_as_string(hide_password=False)


def environment_of(database: str, **more: str) -> dict[str, str]:
    """With a free port, because another service may be running on the usual one."""
    port = str(free_port())
    settings = {
        "database": database, "secret_key": SECRET_KEY, "base_url": PUBLIC, "port": port,
        "drain_s": "0", **more
    }  # fmt: skip
    return {f"WIDGET_CATALOG_{name.upper()}": value for name, value in settings.items()}


@contextlib.contextmanager
def a_node(folder: Path, database: str, *arguments: str, **settings: str) -> Iterator[RunningNode]:
    """Its bundles are in a folder shared by all nodes."""
    folder.mkdir()
    for name in ("bundles", "uploads"):
        (folder.parent / name).mkdir(exist_ok=True)
        (folder / name).symlink_to(folder.parent / name)
    with relay_to(database) as relay:
        environment = environment_of(through(relay, database), **settings)
        with (
            running_service(folder, *arguments, environment=environment) as service,
            service.client() as client,
        ):
            yield RunningNode(service, relay, client)


@contextlib.contextmanager
def two_nodes(
    folder: Path, database: str, *metrics_ports: int, **settings: str
) -> Iterator[list[RunningNode]]:
    """With one account, ann."""
    done = run_command(
        *("account", "create", "ann", "--email", "ann@example.org", "--password-stdin"),
        *("--data", str(folder / "command")),
        stdin=PASSWORD.encode(),
        environment=environment_of(database),
    )
    assert done.returncode == 0, done.stderr
    with contextlib.ExitStack() as stack:
        both = [
            a_node(folder / str(port), database, metrics_port=str(port), max_lag_s="1", **settings)
            for port in metrics_ports
        ]
        yield [stack.enter_context(it) for it in both]


def metric_of(port: int, name: str) -> float:
    text = httpx.get(f"http://127.0.0.1:{port}/metrics", timeout=60).text
    found = re.search(rf"^widget_catalog_{re.escape(name)} (\S+)$", text, re.MULTILINE)
    return float(found[1]) if found else 0


class Traveller:
    """A client whose every request may go to another node."""

    def __init__(self, node: RunningNode, username: str) -> None:
        credentials = {"username": username, "password": PASSWORD}
        session = node.client.post("/api/auth/sign-in", json=credentials)
        assert session.status_code == 200, session.text
        node.client.cookies.clear()
        self.headers = {
            "cookie": session.headers["set-cookie"].partition(";")[0],
            "x-csrf-token": session.json()["csrfToken"],
        }

    def get(self, node: RunningNode, path: str) -> httpx.Response:
        return node.client.get(path, headers=self.headers)

    def post(self, node: RunningNode, path: str, body: object) -> httpx.Response:
        return node.client.post(path, json=body, headers=self.headers)

    def publish(self, key: str, version: str, js: bytes, *at: RunningNode) -> httpx.Response:
        """Request, upload and confirm at these nodes; returns the response of the first step that
        fails.
        """
        asking, taking, confirming = at if len(at) == 3 else at * 3
        requested = self.post(asking, "/api/widgets/publish", request_body(key, version, js))
        if requested.status_code != 200:
            return requested
        # With an object store the host differs.
        url = requested.json()["uploadUrl"].replace(PUBLIC, taking.service.url)
        uploaded = taking.client.put(url, content=js)
        if uploaded.status_code != 200:
            return uploaded
        confirm = {"action": "confirm", "versionId": requested.json()["versionId"]}
        return self.post(confirming, "/api/widgets/publish", confirm)
