"""The short form of ./dev chaos: everything that can happen to one machine, once."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

TIMEOUT_S = 500


@pytest.mark.timeout(TIMEOUT_S + 90)
def test_nothing_acknowledged_is_lost_whatever_happens_to_the_machine(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "chaos", "--minutes", "0"],
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), "TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Nothing that was acknowledged is lost" in done.stdout
