"""What one node receives, every node shows; and every request can go to any node."""

import os
import re
import signal
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import httpx

from support.nodes import RunningNode, Traveller, environment_of, metric_of
from support.service import run_command, wait_for
from support.widgets import ndjson, widget_line

DEPLOY = Path(__file__).parents[2] / "deploy"
MONITORING = Path(__file__).parents[2] / "docs" / "monitoring.md"
JS = b"export function mount() {}\n"


def latest(node: RunningNode, key: str) -> str | None:
    response = node.client.get(f"/api/v1/widgets/{key}")
    return response.json()["latestVersion"] if response.status_code == 200 else None


def count(node: RunningNode, key: str) -> int:
    return int(node.client.get(f"/api/v1/widgets/{key}").json()["widget"]["downloadCount"])


def wait_until_latest(node: RunningNode, key: str, version: str) -> None:
    wait_for(lambda: latest(node, key) == version)


def wait_until_count(node: RunningNode, key: str, expected: int) -> None:
    wait_for(lambda: count(node, key) == expected)


def post(node: RunningNode, key: str) -> int:
    return node.client.post(f"/api/v1/widgets/{key}").status_code


def test_each_step_of_publishing_may_go_to_another_node(
    nodes: list[RunningNode], ann: Traveller
) -> None:
    one, two = nodes

    published = ann.publish("ann/clock", "1.0.0", JS, one, two, two)

    assert published.status_code == 200, published.text
    assert latest(two, "ann/clock") == "1.0.0"  # Immediately, on the node where it was confirmed.
    wait_until_latest(one, "ann/clock", "1.0.0")
    for node in nodes:
        found = node.client.get("/cdn/@ann/clock/1.0.0/index.js")
        assert (found.status_code, found.content) == (200, JS)
        search = node.client.get("/api/v1/widgets/search?q=clock")
        assert [it["name"] for it in search.json()["widgets"]] == ["clock"]


def test_what_is_published_here_is_soon_shown_there(
    nodes: list[RunningNode], ann: Traveller
) -> None:
    one, two = nodes
    for number in range(5):
        version = f"1.1.{number}"
        assert ann.publish("ann/clock", version, JS, one).status_code == 200
        assert latest(one, "ann/clock") == version
        wait_until_latest(two, "ann/clock", version)


def test_every_acknowledged_count_of_every_node_is_shown_by_all(
    nodes: list[RunningNode], ann: Traveller
) -> None:
    for name in ("a", "b"):
        assert ann.publish(f"ann/{name}", "1.0.0", JS, nodes[0]).status_code == 200
        wait_until_latest(nodes[1], f"ann/{name}", "1.0.0")

    # In opposite orders: without a fixed order of locks, counts would deadlock.
    wanted = [(nodes[i % 2], "ann/a" if i // 2 % 2 else "ann/b") for i in range(200)]
    with ThreadPoolExecutor(8) as threads:
        assert set(threads.map(lambda it: post(*it), wanted)) == {200}

    for node in nodes:
        wait_until_count(node, "ann/a", 100)
        wait_until_count(node, "ann/b", 100)


def test_an_acknowledged_count_is_shown_at_once_where_it_was_counted(
    nodes: list[RunningNode], ann: Traveller
) -> None:
    ann.publish("ann/seen", "1.0.0", JS, nodes[0])
    for number in range(1, 21):
        assert post(nodes[0], "ann/seen") == 200
        assert count(nodes[0], "ann/seen") == number


def test_a_session_is_known_to_every_node_until_it_is_ended_at_one(
    nodes: list[RunningNode],
) -> None:
    traveller = Traveller(nodes[0], "ann")
    assert traveller.get(nodes[1], "/api/widgets/scopes").status_code == 200

    assert traveller.post(nodes[1], "/api/auth/sign-out", {}).status_code == 200

    assert traveller.get(nodes[0], "/api/widgets/scopes").status_code == 401


def test_what_a_command_imports_is_shown_by_all_with_its_counts(
    nodes: list[RunningNode], database: str, tmp_path: Path
) -> None:
    file = tmp_path / "widgets.ndjson"
    lines = [widget_line(f"acme/w{i}", downloadCount=i) for i in range(300)]
    file.write_bytes(ndjson(*lines))

    done = run_command(
        *("import", str(file), "--data", str(tmp_path / "data")),
        environment=environment_of(database),
    )

    assert done.returncode == 0, done.stderr
    for node in nodes:
        wait_until_latest(node, "acme/w299", "1.0.0")
        wait_until_count(node, "acme/w299", 299)
        found = node.client.get("/api/v1/widgets/search?scope=acme&limit=1").json()
        assert found["total"] == 300
    assert not (tmp_path / "data" / "replica").exists()


def test_a_node_whose_follower_died_goes_on_following(
    nodes: list[RunningNode], ann: Traveller
) -> None:
    one, two = nodes
    [worker] = two.service.worker_pids()

    os.kill(worker, signal.SIGKILL)

    assert ann.publish("ann/clock", "2.0.0", JS, one).status_code == 200
    wait_for(lambda: _latest_or_none(two, "ann/clock") == "2.0.0", 30)
    assert ann.publish("ann/clock", "2.0.1", JS, one).status_code == 200
    wait_until_latest(two, "ann/clock", "2.0.1")


def test_the_dashboard_and_the_alerts_name_metrics_that_a_node_has(
    nodes: list[RunningNode], metrics_port: int
) -> None:
    assert latest(nodes[0], "nobody/nothing") is None
    metrics = httpx.get(f"http://127.0.0.1:{metrics_port}/metrics", timeout=60).text
    # A metric may be there without a value, as long as there was no backup.
    told = set(re.findall(r"^(?:# TYPE )?(widget_catalog_\w+)", metrics, re.MULTILINE))

    for file in (DEPLOY / "grafana/dashboard.json", DEPLOY / "alerts.yaml"):
        named = set(re.findall(r"widget_catalog_\w+", file.read_text()))
        assert named
        assert named <= told, file
    documented = set(re.findall(r"`(widget_catalog_\w+)`", MONITORING.read_text()))
    families = {re.sub(r"_(bucket|sum|count|created)$", "", it) for it in told}
    assert families == documented


def test_metrics_show_counts_caches_connections_and_uploads(
    nodes: list[RunningNode], ann: Traveller, metrics_port: int
) -> None:
    metric = partial(metric_of, metrics_port)
    counted, missed = metric("downloads_counted_total"), 'cache_misses_total{route="detail"}'
    before = metric(missed)
    assert ann.publish("ann/metered", "1.0.0", JS, nodes[0]).status_code == 200
    assert count(nodes[0], "ann/metered") == 0
    assert {post(nodes[0], "ann/metered") for _ in range(3)} == {200}

    wait_for(lambda: metric("downloads_counted_total") >= counted + 3, 60)
    wait_for(lambda: metric(missed) > before, 60)
    assert 1 <= metric("count_commits_total") <= metric("downloads_counted_total")
    assert metric("counts_waiting") == metric("uploads_in_progress") == 0
    assert metric('database_connections{state="idle"}') > 0
    uploaded = 'requests_total{method="PUT",route="upload",status="200"}'
    assert metric(uploaded) >= 1


def _latest_or_none(node: RunningNode, key: str) -> str | None:
    try:
        return latest(node, key)
    except httpx.HTTPError:
        return None
