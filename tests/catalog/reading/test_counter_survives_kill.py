"""kill -9 of the whole service, or of one worker: nothing acknowledged is lost."""

import os
import random
import signal
import time
from collections import Counter
from pathlib import Path

import pytest

from support.folders import filled_folder
from support.load import CountingLoad
from support.service import Service, is_running, run_command, running_service, wait_for
from support.widgets import widget_line
from support.wire import connections_to_every_worker

_ROUNDS = 3
_KEYS = ["acme/clock", "acme/bell", "other/lamp"]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return filled_folder(tmp_path / "data", *[widget_line(key) for key in _KEYS])


def test_counts_survive_that_all_processes_are_killed_again_and_again(data: Path) -> None:
    choose = random.Random(2)
    attempted: Counter[str] = Counter()
    acknowledged: Counter[str] = Counter()
    for turn in range(_ROUNDS):
        with running_service(data, "--workers", "2") as service:
            _assert_within(service, acknowledged, attempted)
            with CountingLoad(service, _KEYS) as load:
                load.wait_for(50)
                time.sleep(choose.uniform(0, 0.4))
                service.kill()
            assert load.statuses.keys() == {200}, turn
        attempted += load.attempted
        acknowledged += load.acknowledged
    with running_service(data) as service:
        _assert_within(service, acknowledged, attempted)
        assert service.stop() == 0
    assert acknowledged.total() >= 50 * _ROUNDS
    checked = run_command("doctor", "--data", str(data))
    assert checked.returncode == 0, checked.stderr


def test_a_killed_worker_is_replaced_while_the_others_go_on(data: Path) -> None:
    with running_service(data, "--workers", "2") as service:
        attempted: Counter[str] = Counter()
        acknowledged: Counter[str] = Counter()
        # Each of the first two once: two deaths in the same slot would be a crash loop.
        victims = service.worker_pids()
        for victim in victims:
            with connections_to_every_worker(service) as found:
                (survivor,) = (held[0] for pid, held in found.items() if pid != victim)
                with CountingLoad(service, _KEYS) as load:
                    load.wait_for(50)
                    os.kill(victim, signal.SIGKILL)
                    _wait_until_replaced(service, victim)
                    # The connection to the other worker is not affected.
                    assert survivor.ask("GET", "/api/v1/widgets/acme/clock").status == 200
                    load.wait_for(50)
            assert load.statuses.keys() == {200}
            attempted += load.attempted
            acknowledged += load.acknowledged
        with connections_to_every_worker(service) as found:
            assert not set(victims) & set(found)
            for held in found.values():
                counts = {key: _count(service, key) for key in _KEYS}
                detail = held[0].ask("GET", f"/api/v1/widgets/{_KEYS[0]}")
                assert f'"downloadCount":{counts[_KEYS[0]]},'.encode() in detail.body
        _assert_within(service, acknowledged, attempted)
        assert service.log.count("Unexpected exit from worker") == 2
        assert service.stop() == 0
    # The workers' counts match the database.
    with running_service(data) as service:
        assert {key: _count(service, key) for key in _KEYS} == counts


def test_workers_end_when_only_their_parent_is_killed(data: Path) -> None:
    with (
        running_service(data, "--workers", "2") as service,
        connections_to_every_worker(service) as found,
        CountingLoad(service, _KEYS) as load,
    ):
        load.wait_for(50)
        service.process.kill()
        service.process.wait()
        wait_for(lambda: not any(map(is_running, found)))
    with running_service(data) as service:
        _assert_within(service, load.acknowledged, load.attempted)


def _wait_until_replaced(service: Service, victim: int) -> None:
    deadline = time.monotonic() + 30
    while victim in (now := service.worker_pids()) or len(now) < 2:
        assert time.monotonic() < deadline, f"{victim} was not replaced: {now}"
        time.sleep(0.02)


def _assert_within(service: Service, acknowledged: Counter[str], attempted: Counter[str]) -> None:
    for key in _KEYS:
        assert acknowledged[key] <= _count(service, key) <= attempted[key], key


def _count(service: Service, key: str) -> int:
    with service.client() as client:
        return int(client.get(f"/api/v1/widgets/{key}").json()["widget"]["downloadCount"])
