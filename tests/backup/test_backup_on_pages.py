"""What the operator's pages tell about backups."""

import re
from pathlib import Path

import pytest

from support.browsing import browser_of
from support.service import run_command
from support.site_with_people import People

pytestmark = pytest.mark.slow


def test_the_overview_tells_when_the_last_backup_was_made(people: People, tmp_path: Path) -> None:
    olly = browser_of(people.olly)

    def told() -> str:
        olly.get("/operate")
        return olly.page.one("main").text

    assert "Last backupnone recorded" in told()
    data = str(people.site.settings.data)
    done = run_command("backup", str(tmp_path / "copy"), "--data", data)
    assert done.returncode == 0, done
    assert re.search(r"Last backup\d+ \w+ 20\d\d, \d\d:\d\d UTC", told())
