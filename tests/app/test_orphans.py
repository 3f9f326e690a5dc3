"""The parent is killed with -9 under load: no process is left, and the next start is fast.

Whether a worker is left behind depends on timing, so many attempts are needed: KILLS=500 ./dev
test tests/app/test_orphans.py
"""

import os
import random
import time
from functools import partial
from pathlib import Path

import pytest

from support.author import Author, add_account, token_of
from support.folders import filled_folder
from support.load import CountingLoad
from support.service import is_running, running_service, wait_for
from support.widgets import widget_line
from widget_catalog.catalog.node.node import prepare_node

pytestmark = pytest.mark.slow

_KILLS = int(os.environ.get("KILLS", "2"))
_KEYS = ["acme/clock", "acme/bell"]
# The kernel ends them immediately, but the machine may be busy.
_ENDED_WITHIN_S = 10


@pytest.mark.timeout(300 + 60 * _KILLS)
def test_a_killed_parent_leaves_no_process_and_no_lock_behind(tmp_path: Path) -> None:
    data = filled_folder(tmp_path / "data", *map(widget_line, _KEYS))
    node = prepare_node(data)
    add_account(node, "ann")
    node.store.close()
    token = ""
    attempted, acknowledged = 0, 0
    for number in range(_KILLS):
        with running_service(data, "--workers", "2") as service:
            assert "writer lock" not in service.log, f"try {number}"
            token = token or token_of(service, "ann")
            workers = service.worker_pids()
            with CountingLoad(service, _KEYS) as load, Author(service.url, token) as author:
                load.wait_for(20)
                assert author.publish("ann/clock", f"1.0.{number}").status_code == 200
                time.sleep(random.Random(number).uniform(0, 0.3))
                service.process.kill()
                service.process.wait()
                wait_for(partial(_have_ended, workers), _ENDED_WITHIN_S)
        attempted += load.attempted.total()
        acknowledged += load.acknowledged.total()
    with running_service(data) as service, service.client() as client:
        assert "writer lock" not in service.log
        versions = client.get("/api/v1/widgets/ann/clock").json()["versions"]
        assert len(versions) == _KILLS
        downloads = client.get("/api/stats").json()["downloads"]
        assert acknowledged <= downloads <= attempted


def _have_ended(workers: list[int]) -> bool:
    return not any(map(is_running, workers))
