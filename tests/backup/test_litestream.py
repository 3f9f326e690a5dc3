"""Litestream, as described in the operators' guide: a copy of the database at most a second old."""

import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from backup.backups import catalog_with_bundles
from support.commands import widget_catalog
from support.load import CountingLoad
from support.service import clean_environment, running_service, wait_for

pytestmark = pytest.mark.slow

_GUIDE = Path("docs/backup.md")
_LITESTREAM = Path(sys.executable).with_name("litestream")
_KEYS = ["acme/w0", "acme/w1"]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return catalog_with_bundles(tmp_path)


def _command_of_the_guide(verb: str, folder: Path) -> list[str]:
    """With the folders of this test."""
    lines = _GUIDE.read_text().splitlines()
    (line,) = [it for it in lines if it.startswith(f"$ litestream {verb} ")]
    _, *arguments = shlex.split(line.removeprefix("$ ").removesuffix(" &"))
    at = {"file:///mnt/standby/": f"{folder.as_uri()}/standby/", "data/": f"{folder}/data/"}
    at["restored/"] = f"{folder}/restored/"
    for old, new in at.items():
        arguments = [new + it.removeprefix(old) if it.startswith(old) else it for it in arguments]
    return [str(_LITESTREAM), *arguments]


def test_what_was_acknowledged_two_turns_before_everything_died_is_restored_and_served(
    data: Path, tmp_path: Path
) -> None:
    assert data == tmp_path / "data"
    standby, restored = tmp_path / "standby", tmp_path / "restored"

    def turns() -> int:
        return sum(1 for it in standby.rglob("*.ltx"))

    with running_service(data, "--workers", "2") as service:
        replicating = subprocess.Popen(
            _command_of_the_guide("replicate", tmp_path),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=clean_environment(),
        )
        try:
            with CountingLoad(service, _KEYS, clients=2, pause_s=0.01) as load:
                load.wait_for(50)
                shutil.copytree(data / "bundles", standby / "bundles")
                promised, seen = load.acknowledged.copy(), turns()
                wait_for(lambda: turns() >= seen + 2)
                replicating.kill()
                service.kill()
                assert load.statuses.keys() == {200}
        finally:
            replicating.kill()
            replicating.wait()

    restored.mkdir()
    command = _command_of_the_guide("restore", tmp_path)
    subprocess.run(command, check=True, capture_output=True)
    shutil.copytree(standby / "bundles", restored / "bundles")

    assert widget_catalog("doctor", "--data", restored).code == 0
    with running_service(restored) as service, service.client() as client:
        for key in _KEYS:
            shown = client.get(f"/api/v1/widgets/{key}").json()["widget"]["downloadCount"]
            # Initially, the widget had as many downloads as its own number.
            number = int(key[-1])
            assert promised[key] <= shown - number <= load.attempted[key]
        assert client.get("/cdn/@acme/w1/1.0.0/index.js").status_code == 200
