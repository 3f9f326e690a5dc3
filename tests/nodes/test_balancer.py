"""Three nodes behind deploy/haproxy.cfg: stopped, killed and frozen ones are not noticed."""

import contextlib
import os
import signal
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from catalog.replica.replica_content import flip_bits, replica_of
from support.author import Author, token_of
from support.haproxy import NO_RESPONSE, haproxy_before
from support.load import CountingLoad, ReadingLoad
from support.nodes import environment_of
from support.people import PASSWORD
from support.service import Service, free_port, run_command, wait_for
from support.widgets import ndjson, widget_line

KEYS = ["acme/clock", "acme/bell"]
MORE = [f"more/w{number}" for number in range(300)]
CLOCK = "/api/v1/widgets/acme/clock"
NODES = 3
# Longer than HAProxy needs to notice: see deploy/haproxy.cfg.
# Nodes that drain are asked meanwhile, also on a busy machine.
DRAIN_S = 4
# On demand: REQUESTS=20000.
REQUESTS = int(os.environ.get("REQUESTS", "1500"))
# More than nodes apply in a second.
IMPORTED = int(os.environ.get("IMPORTED", "12000"))
# Three with a node that responds at once; tests run in parallel with others.
LONGEST_S = 6.0


class Group:
    """Nodes on one database, each at its own port; and the ports of HAProxys in front of them."""

    def __init__(self, folder: Path, database: str) -> None:
        self.folder = folder
        self.port, self.port_without_retries = free_port(), free_port()
        self.environment = environment_of(
            database,
            base_url=f"http://127.0.0.1:{self.port}",
            drain_s=str(DRAIN_S),
            max_lag_s="1",
        )
        lines = folder / "widgets.ndjson"
        lines.write_bytes(ndjson(*[widget_line(key) for key in KEYS + MORE]))
        self.command("import", str(lines))
        account = ("account", "create", "ann", "--email", "ann@example.org")
        self.command(*account, "--password-stdin", stdin=PASSWORD.encode())
        for name in ("bundles", "uploads"):
            (folder / name).mkdir(exist_ok=True)
        self.nodes: list[Service] = []
        for number in range(NODES):
            data = folder / f"node-{number}"
            data.mkdir()
            for name in ("bundles", "uploads"):
                (data / name).symlink_to(folder / name)
            self.nodes.append(Service(data, environment=self.environment))

    def command(self, *arguments: str, stdin: bytes = b"") -> None:
        data = str(self.folder / "command")
        done = run_command(*arguments, "--data", data, stdin=stdin, environment=self.environment)
        assert done.returncode == 0, done.stderr

    def start(self, index: int) -> None:
        former = self.nodes[index]
        self.nodes[index] = Service(former.data, port=former.port, environment=self.environment)

    def restart(self, index: int) -> None:
        assert self.nodes[index].stop(60) == 0
        self.start(index)

    @contextlib.contextmanager
    def frozen(self, index: int) -> Iterator[None]:
        """All of its processes stop, and the kernel keeps its connections open."""
        os.killpg(self.nodes[index].process.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.killpg(self.nodes[index].process.pid, signal.SIGCONT)


@pytest.fixture(scope="module")
def group(tmp_path_factory: pytest.TempPathFactory, database: str) -> Iterator[Group]:
    folder = tmp_path_factory.mktemp("group")
    made = Group(folder, database)
    ports = [it.port for it in made.nodes]
    try:
        with (
            haproxy_before(ports, folder / "haproxy", port=made.port),
            haproxy_before(
                ports, folder / "no-retries", port=made.port_without_retries, retries=False
            ),
        ):
            yield made
    finally:
        for node in made.nodes:
            node.kill()


@pytest.mark.timeout(900)
def test_a_rolling_restart_fails_no_request_even_if_none_is_repeated(group: Group) -> None:
    with (
        ReadingLoad(group.port_without_retries, CLOCK, pause_s=0.02) as reads,
        CountingLoad(group.port_without_retries, KEYS, clients=3, pause_s=0.02) as counts,
    ):
        for index in range(NODES):
            group.restart(index)
            _wait_until_in_rotation(group, index)
        wait_for(lambda: reads.answered + counts.attempted.total() >= REQUESTS, 600)

    print(f"{reads.answered} reads, {counts.attempted.total()} counts; {reads.longest_s:.2f} s")
    assert reads.failures == []
    assert counts.failures == []


def test_a_node_that_is_told_to_stop_says_so_and_serves_on(group: Group) -> None:
    node = group.nodes[0]
    with node.client() as client:
        assert client.get("/healthz/ready").status_code == 200
        began = time.monotonic()
        node.process.send_signal(signal.SIGTERM)
        wait_for(lambda: client.get("/healthz/ready").status_code == 503, 5)

        ready = client.get("/healthz/ready")
        assert ready.text == "draining: this node is about to stop\n"
        assert client.get("/healthz/ready?unready=404").status_code == 404
        assert client.get("/healthz/live").status_code == 200
        assert httpx.get(node.url + CLOCK).status_code == 200, "A new connection."
        assert client.post(CLOCK).status_code == 200, "An open one."
    assert node.process.wait(60) == 0, node.log
    assert time.monotonic() - began >= DRAIN_S
    group.start(0)


def test_a_second_signal_stops_it_at_once(group: Group) -> None:
    node = group.nodes[0]
    with node.client() as client:
        node.process.send_signal(signal.SIGTERM)
        wait_for(lambda: client.get("/healthz/ready").status_code == 503, 5)
    began = time.monotonic()
    node.process.send_signal(signal.SIGTERM)
    assert node.process.wait(60) == 0, node.log
    assert time.monotonic() - began < DRAIN_S
    group.start(0)


def test_nobody_waits_for_a_frozen_node(group: Group) -> None:
    _wait_until_in_rotation(group, 0)
    with (
        ReadingLoad(group.port, CLOCK, clients=6, pause_s=0.02) as reads,
        CountingLoad(group.port, KEYS, clients=3, pause_s=0.02) as counts,
    ):
        reads.wait_for(50)
        with group.frozen(1):
            began = time.monotonic()
            reads.wait_for(50)
            counts.wait_for(50)
            # Longer than a database may be silent: afterwards the node must not take it for lost.
            time.sleep(max(0.0, began + 6 - time.monotonic()))
        reads.wait_for(50)

    assert reads.failures == []
    assert reads.longest_s < LONGEST_S
    # A count is not repeated: the frozen node may have it. Each client may have sent one there.
    assert len(counts.failures) <= 3, counts.failures
    assert "The database does not answer." not in group.nodes[1].log


def test_a_restarted_node_serves_at_once_when_the_others_are_killed(group: Group) -> None:
    group.nodes[0].kill()
    time.sleep(1.5)  # HAProxy has noticed.
    with ReadingLoad(group.port, CLOCK, clients=12, pause_s=0.005) as reads:
        reads.wait_for(20)
        group.start(0)
        with ThreadPoolExecutor() as at_once:
            list(at_once.map(Service.kill, group.nodes[1:]))
        reads.wait_for(50)
    for index in (1, 2):
        group.start(index)

    assert reads.failures == []
    assert reads.longest_s < LONGEST_S


def test_what_is_not_ready_anywhere_is_served_all_the_same(group: Group) -> None:
    """All nodes drain at once: the balancer knows no ready node, and asks them."""
    with contextlib.ExitStack() as opened:
        balancer = httpx.Client(base_url=f"http://127.0.0.1:{group.port}")
        client = opened.enter_context(balancer)
        nodes = [opened.enter_context(it.client()) for it in group.nodes]
        assert {it.get("/healthz/ready").status_code for it in (client, *nodes)} == {200}
        for node in group.nodes:
            node.process.send_signal(signal.SIGTERM)
        wait_for(lambda: {it.get("/healthz/ready").status_code for it in nodes} == {503}, 5)
        before = client.get(CLOCK)
        counted = client.post(CLOCK)
    for index, node in enumerate(group.nodes):
        assert node.process.wait(60) == 0
        group.start(index)
    assert (before.status_code, counted.status_code) == (200, 200)
    with httpx.Client(base_url=f"http://127.0.0.1:{group.port}") as client:
        after = client.get(CLOCK).json()["widget"]["downloadCount"]
    assert after == before.json()["widget"]["downloadCount"] + 1, "A change is sent once."


def test_a_damaged_replica_is_rebuilt_and_nobody_notices(group: Group) -> None:
    node = group.nodes[1]
    damaged = replica_of(node.data)
    flip_bits(node.data, 400, seed=1)
    balancer = f"http://127.0.0.1:{group.port}"
    with node.client() as direct, httpx.Client(base_url=balancer, timeout=30) as client:
        paths = [f"/api/v1/widgets/{key}" for key in MORE]
        statuses = Counter(client.get(path).status_code for path in paths)
        refused = Counter(direct.get(path).status_code for path in paths)

        assert statuses == {200: len(paths)}
        assert refused.keys() <= {200, 503}
        wait_for(lambda: replica_of(node.data) != damaged, 60)
        wait_for(lambda: direct.get("/healthz/ready").text == "ok\n", 60)
        assert {direct.get(path).status_code for path in paths} == {200}
        assert direct.get("/api/health").status_code == 200
    assert "The read model is damaged, and is rebuilt." in node.log


@pytest.mark.timeout(600)
def test_a_large_import_does_not_take_all_nodes_out_of_rotation(group: Group) -> None:
    lines = group.folder / "large.ndjson"
    lines.write_bytes(ndjson(*[widget_line(f"large/w{it}") for it in range(IMPORTED)]))
    samples: list[list[str]] = []
    with ThreadPoolExecutor(1) as beside, contextlib.ExitStack() as opened:
        clients = [opened.enter_context(node.client()) for node in group.nodes]
        importing = beside.submit(group.command, "import", str(lines))
        last = f"/api/v1/widgets/large/w{IMPORTED - 1}"
        deadline = time.monotonic() + 300
        while time.monotonic() < deadline:
            samples.append([it.get("/healthz/ready").text for it in clients])
            if importing.done() and all(it.get(last).status_code == 200 for it in clients):
                break
            time.sleep(0.05)
        importing.result()

    texts = Counter(text.strip() for sample in samples for text in sample)
    assert any("behind" in text for text in texts), f"It was too fast to show anything: {texts}"
    away = [it for it in samples if not any(text.startswith("ok") for text in it)]
    assert away == [], texts


def test_event_streams_and_uploads_pass_through(group: Group) -> None:
    balancer = f"http://127.0.0.1:{group.port}"
    js = b"export default 1;".ljust(2_000_000, b"\n")
    accept = {"accept": "text/event-stream"}
    with (
        Author(balancer, token_of(group.nodes[0], "ann")) as author,
        httpx.Client(base_url=balancer, timeout=30) as client,
        # With since=0, a node would send megabytes while the client sleeps, and then disconnect it.
        client.stream("GET", "/api/v1/widgets/changes", headers=accept) as stream,
    ):
        lines = stream.iter_lines()
        assert next(lines).startswith("retry:")
        time.sleep(2.5)  # Longer than other reads may pause.

        published = author.publish("ann/large", "1.0.0", js)

        assert published.status_code == 200, published.text
        assert any("ann/large" in line for line in lines), "The stream was cut off."
        assert client.get("/cdn/@ann/large/1.0.0/index.js").content == js


def test_without_any_node_the_error_has_the_form_of_the_api(tmp_path: Path) -> None:
    with haproxy_before([free_port(), free_port()], tmp_path / "haproxy") as port:
        for ask in (httpx.get, httpx.post):
            response = ask(f"http://127.0.0.1:{port}/api/v1/widgets/search", timeout=60)
            assert response.status_code == 503
            assert response.json() == {"error": NO_RESPONSE}
            headers = response.headers
            assert headers["content-type"] == "application/json"
            assert headers["access-control-allow-origin"] == "*"
            assert (headers["retry-after"], headers["cache-control"]) == ("5", "no-store")


def _wait_until_in_rotation(group: Group, index: int) -> None:
    """Until the node is ready, and HAProxy has had time to see it."""
    with group.nodes[index].client() as client:
        wait_for(lambda: client.get("/healthz/ready").status_code == 200, 60)
    time.sleep(1)
