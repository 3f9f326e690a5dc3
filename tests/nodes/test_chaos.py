"""The short form of ./dev chaos --nodes: restarts under load, and some errors once."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TIMEOUT_S = 800


@pytest.mark.timeout(TIMEOUT_S + 90)
def test_nothing_acknowledged_is_lost_whatever_happens_to_nodes_and_database(
    tmp_path: Path,
) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "chaos", "--nodes", "--minutes", "0"],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), "TMPDIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        said, _ = process.communicate(timeout=TIMEOUT_S)
    finally:
        if process.poll() is None:
            process.terminate()  # It stops everything that it has started.
            process.wait(60)
    assert process.returncode == 0, said
    assert "Nothing that was acknowledged is lost; all nodes show the same." in said
