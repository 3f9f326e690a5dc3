"""Sites on PostgreSQL respond like those on SQLite. A part of the API's tests runs here.

For all of them: SITES_ON_POSTGRESQL=postgresql://… ./dev test tests/catalog/api
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.site import ON_POSTGRESQL

TESTS = Path(__file__).parents[1]
SOME = (
    *("catalog/api/test_detail.py", "catalog/api/test_counter.py", "catalog/api/test_registry.py"),
    "accounts/test_sign_in_audit.py",
)
TIMEOUT_S = 500


@pytest.mark.timeout(TIMEOUT_S + 90)
def test_a_part_of_the_api_is_the_same_on_postgresql(postgresql_url: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "--basetemp", tmp_path / "sites", *(TESTS / it for it in SOME)],
        cwd=TESTS.parent,
        env={**os.environ, ON_POSTGRESQL: postgresql_url},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]
    assert "passed" in done.stdout
