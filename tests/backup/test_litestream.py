"""Litestream, as described in the operators' guide: a copy of the database at most a second old."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from backup.backups import catalog_with_bundles
from support.commands import widget_catalog
from support.load import CountingLoad
from support.service import clean_environment, running_service, wait_for
from widget_catalog.catalog.node.node import prepare_node

_LITESTREAM = Path(sys.executable).with_name("litestream")
_KEYS = ["acme/w0", "acme/w1"]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return catalog_with_bundles(tmp_path)


def test_what_was_acknowledged_two_turns_before_everything_died_is_in_the_replica(
    data: Path, tmp_path: Path
) -> None:
    replica, restored = tmp_path / "replica", tmp_path / "restored"

    def turns() -> int:
        return sum(1 for it in replica.rglob("*.ltx"))

    with running_service(data, "--workers", "2") as service:
        replicating = subprocess.Popen(
            [_LITESTREAM, "replicate", data / "catalog.db", replica.as_uri()],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=clean_environment(),
        )
        try:
            with CountingLoad(service, _KEYS, clients=2, pause_s=0.01) as load:
                load.wait_for(50)
                promised, seen = load.acknowledged.copy(), turns()
                wait_for(lambda: turns() >= seen + 2)
                replicating.kill()
                service.kill()
                assert load.statuses.keys() == {200}
        finally:
            replicating.kill()
            replicating.wait()

    restored.mkdir()
    subprocess.run(
        [_LITESTREAM, "restore", "-o", restored / "catalog.db", replica.as_uri()],
        check=True,
        capture_output=True,
    )
    shutil.copytree(data / "bundles", restored / "bundles")

    assert widget_catalog("doctor", "--data", restored).code == 0
    node = prepare_node(restored)
    for number, key in enumerate(_KEYS):
        # Initially, the widget had as many downloads as its own number.
        assert promised[key] <= node.counts.slots[number + 1] - number <= load.attempted[key]
    node.store.close()
