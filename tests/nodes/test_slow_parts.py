"""What a node needs is made slow, one part after the other. The log of slow requests and the
metrics name that part, so it is found from the outside.
"""

import contextlib
import json
import re
import secrets
import shutil
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import NamedTuple

import httpx
import psycopg
import pytest

from support.nodes import RunningNode, Traveller, a_node, environment_of
from support.passwords import REAL_PASSWORDS
from support.people import PASSWORD
from support.relay import Relay
from support.s3 import rclone, settings_of
from support.service import free_port, run_command, wait_for

JS = b"export function mount() {}\n"
# Much longer than a busy machine needs for everything else.
SLOW_DATABASE_S, SLOW_STORE_S, HELD_S = 0.1, 1.2, 3.0
# A count is refused after five seconds.
COUNT_HELD_S = 1.5
# Other parts consist of these.
INNERMOST = (
    *("lock", "statement", "commit", "object_store", "bounded_work", "password_hashing"),
    "counting",
)


class Slowed(NamedTuple):
    node: RunningNode
    object_store: Relay
    metrics_port: int

    def slowest_in_log(self, request_id: str) -> str:
        log = self.node.service.log_file
        wait_for(lambda: f'"{request_id}"' in log.read_text())
        total: Counter[str] = Counter()
        for line in log.read_text().splitlines():
            entry = json.loads(line) if line.startswith("{") else {}
            if entry.get("request_id") == request_id:
                assert entry["message"] == "A request was slow."
                total.update(entry["parts_ms"])
        return max(INNERMOST, key=lambda it: total[it])

    def ask_until_logged(self, ask: Callable[[str], None]) -> str:
        """The id of the first request that is logged: not at once, if many were slow before."""
        asked: list[str] = []

        def is_logged() -> bool:
            asked.append(f"asked-{secrets.token_hex(4)}")
            ask(asked[-1])
            return f'"{asked[-1]}"' in self.node.service.log_file.read_text()

        wait_for(is_logged)
        return asked[-1]

    def measure_parts(self) -> dict[str, float]:
        """Seconds in total, from the metrics."""
        text = httpx.get(f"http://127.0.0.1:{self.metrics_port}/metrics", timeout=60).text
        name = r'^widget_catalog_part_seconds_sum\{part="(\w+)"\} (\S+)$'
        found = {part: float(it) for part, it in re.findall(name, text, re.MULTILINE)}
        return {it: found.get(it, 0) for it in INNERMOST}

    def slowest_since(self, before: dict[str, float]) -> str:
        now = self.measure_parts()
        return max(now, key=lambda it: now[it] - before[it])


@pytest.fixture(scope="module")
def slowed(tmp_path_factory: pytest.TempPathFactory, database: str) -> Iterator[Slowed]:
    folder = tmp_path_factory.mktemp("nodes")
    metrics_port = free_port()
    with (
        pytest.MonkeyPatch.context() as patch,
        rclone(tmp_path_factory.mktemp("store")) as port,
        Relay(("127.0.0.1", port)) as store,
    ):
        patch.setenv(REAL_PASSWORDS, "1")
        kept = settings_of(store.port)
        seen = {
            "log_format": "json",
            "metrics_port": str(metrics_port),
        }
        account = ("account", "create", "ann", "--email", "ann@example.org", "--password-stdin")
        done = run_command(
            *(*account, "--data", str(folder / "command")),
            stdin=PASSWORD.encode(),
            environment=environment_of(database, **kept),
        )
        assert done.returncode == 0, done.stderr
        with a_node(folder / "node", database, **kept, **seen) as node:
            yield Slowed(node, store, metrics_port)


@pytest.fixture(scope="module")
def ann(slowed: Slowed) -> Traveller:
    return Traveller(slowed.node, "ann")


def publish(slowed: Slowed, ann: Traveller, request_id: str) -> None:
    ann.headers["x-request-id"] = request_id
    published = ann.publish(f"ann/{request_id}", "1.0.0", JS, slowed.node)
    assert published.status_code == 200, published.text


@contextlib.contextmanager
def holding(database: str, lock: str, held_s: float = HELD_S) -> Iterator[None]:
    """Another process holds this lock for a while, from entering on."""
    held = threading.Event()

    def hold() -> None:
        with psycopg.connect(database) as other:
            other.execute(lock.encode())
            held.set()
            time.sleep(held_s)

    thread = threading.Thread(target=hold)
    thread.start()
    assert held.wait(60)
    yield
    thread.join()


def test_a_slow_database_is_named(slowed: Slowed, ann: Traveller) -> None:
    before = slowed.measure_parts()
    slowed.node.relay.delay_s = SLOW_DATABASE_S
    try:
        publish(slowed, ann, "database")
    finally:
        slowed.node.relay.delay_s = 0

    assert slowed.slowest_in_log("database") == "statement"
    assert slowed.slowest_since(before) == "statement"


def test_a_slow_object_store_is_named(slowed: Slowed, ann: Traveller) -> None:
    before = slowed.measure_parts()
    slowed.object_store.delay_s = SLOW_STORE_S
    try:
        publish(slowed, ann, "store")
    finally:
        slowed.object_store.delay_s = 0

    assert slowed.slowest_in_log("store") == "object_store"
    assert slowed.slowest_since(before) == "object_store"


def test_a_slow_object_store_is_named_for_a_bundle_that_is_not_in_the_cache(
    slowed: Slowed, ann: Traveller
) -> None:
    publish(slowed, ann, "cached")

    def ask(request_id: str) -> None:
        shutil.rmtree(slowed.node.service.data / "bundle-cache", ignore_errors=True)
        url = "/cdn/@ann/cached/1.0.0/index.js"
        sent = slowed.node.client.get(url, headers={"x-request-id": request_id})
        assert sent.content == JS

    slowed.object_store.delay_s = SLOW_STORE_S
    try:
        logged = slowed.ask_until_logged(ask)
    finally:
        slowed.object_store.delay_s = 0

    assert slowed.slowest_in_log(logged) == "object_store"


def test_waiting_for_another_writer_is_named(slowed: Slowed, ann: Traveller, database: str) -> None:
    before = slowed.measure_parts()
    with holding(database, "LOCK TABLE alembic_version IN SHARE UPDATE EXCLUSIVE MODE"):
        publish(slowed, ann, "lock")

    assert slowed.slowest_in_log("lock") == "lock"
    assert slowed.slowest_since(before) == "lock"


def test_a_count_that_waits_for_its_commit_is_named(
    slowed: Slowed, ann: Traveller, database: str
) -> None:
    publish(slowed, ann, "counted")

    def ask(request_id: str) -> None:
        with holding(database, "LOCK TABLE downloads IN EXCLUSIVE MODE", COUNT_HELD_S):
            url, named = "/api/v1/widgets/ann/counted", {"x-request-id": request_id}
            assert slowed.node.client.post(url, headers=named).status_code == 200

    assert slowed.slowest_in_log(slowed.ask_until_logged(ask)) == "counting"


def test_the_cost_of_passwords_is_named(slowed: Slowed) -> None:
    before = slowed.measure_parts()
    form = {"username": "ann", "password": "not hers"}
    slowed.node.client.post("/api/auth/sign-in", json=form)

    assert slowed.slowest_since(before) == "password_hashing"
