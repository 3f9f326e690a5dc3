"""A server that no longer accepts writes still responds: nodes leave it, and find another one."""

from collections.abc import Iterator

import httpx
import pytest

from support.nodes import environment_of
from support.people import PASSWORD, request_body
from support.postgresql_pair import PostgresqlPair, PostgresqlServer, postgresql_pair
from support.service import NO_CERTIFICATES, Service, run_command, running_service, wait_for
from support.widgets import ndjson, widget_line

CLOCK = "/api/v1/widgets/acme/clock"
PUBLISH = "/api/widgets/publish"
READY = "/healthz/ready"
REQUEST = request_body("ann/clock", "1.0.0", b"export function mount() {}\n")
# The aim is 10 s; the machine may be busy.
BACK_S = 60.0
OURS = "FROM pg_stat_activity WHERE application_name LIKE 'widget-catalog%'"


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PostgresqlPair]:
    with postgresql_pair(tmp_path_factory.mktemp("servers") / "database") as made:
        yield made


class Site:
    """A node of two workers. Every request uses a new connection, so either may serve it."""

    def __init__(self, service: Service) -> None:
        self.service = service
        self._headers: dict[str, str] = {}
        session = self.ask("POST", "/api/auth/sign-in", {"username": "ann", "password": PASSWORD})
        self._headers["cookie"] = session.headers["set-cookie"].partition(";")[0]
        self._headers["x-csrf-token"] = session.json()["csrfToken"]

    def ask(self, method: str, path: str, body: object = None) -> httpx.Response:
        with httpx.Client(verify=NO_CERTIFICATES, timeout=60) as client:
            url = f"{self.service.url}{path}"
            return client.request(method, url, json=body, headers=self._headers)

    def statuses(self, method: str, path: str, body: object = None) -> set[int]:
        return {self.ask(method, path, body).status_code for _ in range(8)}

    def wait_for_writes(self) -> None:
        """Both workers then have connections in their pools."""
        wait_for(lambda: self.statuses("POST", CLOCK) == {200}, BACK_S)
        wait_for(lambda: self.statuses("POST", PUBLISH, REQUEST) == {200}, BACK_S)

    def _is_every_write_refused(self) -> bool:
        """Before, a host that is slow to respond may be reported as unreachable."""
        for path, body in ((CLOCK, None), (PUBLISH, REQUEST)):
            for refused in [self.ask("POST", path, body) for _ in range(8)]:
                if refused.status_code != 503:
                    return False
                assert refused.headers["retry-after"] == "5"
                if "database takes no writes just now" not in refused.json()["error"]:
                    return False
        return True

    def wait_for_refusals(self) -> None:
        wait_for(self._is_every_write_refused, BACK_S)
        for path in (CLOCK, "/api/v1/widgets/search?q=clock", READY, "/"):
            assert self.statuses("GET", path) == {200}
        wait_for(lambda: "the database has taken no writes for" in self.ask("GET", READY).text)


@pytest.fixture(scope="module")
def site(pair: PostgresqlPair, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("node")
    environment = environment_of(pair.url)
    (folder / "widgets.ndjson").write_bytes(ndjson(widget_line("acme/clock")))
    for command in (
        ("import", str(folder / "widgets.ndjson")),
        ("account", "create", "ann", "--email", "ann@example.org", "--password-stdin"),
    ):
        data = ("--data", str(folder / "data"))
        done = run_command(*command, *data, stdin=PASSWORD.encode(), environment=environment)
        assert done.returncode == 0, done.stderr
    with running_service(folder / "data", "--workers", "2", environment=environment) as service:
        yield Site(service)


def count_of(server: PostgresqlServer) -> int:
    ((count,),) = server.execute("SELECT sum(count) FROM downloads")
    return int(count)


def test_writes_come_back_when_the_server_takes_them_again(
    pair: PostgresqlPair, site: Site
) -> None:
    site.wait_for_writes()

    pair.primary.set_read_only(True)
    site.wait_for_refusals()
    assert "The database takes no writes. Reads go on." in site.service.log
    # A server that is demoted by a restart closes all connections, and rejects new ones like this.
    pair.primary.execute(
        f"SELECT pg_terminate_backend(pid) {OURS.removeprefix('SELECT count(*) ')}"
    )
    site.wait_for_refusals()
    before = count_of(pair.primary)

    pair.primary.set_read_only(False)
    site.wait_for_writes()
    assert count_of(pair.primary) > before


def test_another_server_takes_over_while_the_former_primary_responses_reads(
    pair: PostgresqlPair, site: Site
) -> None:
    site.wait_for_writes()
    former = pair.primary
    former.set_read_only(True)
    site.wait_for_refusals()
    before = count_of(former)

    pair.fail_over(None)

    site.wait_for_writes()
    assert count_of(former) == before
    assert count_of(pair.primary) > before
    shown = site.ask("GET", CLOCK).json()["widget"]["downloadCount"]
    assert shown == count_of(pair.primary)
