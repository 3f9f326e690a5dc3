"""`widget` as an author uses it: in a separate process with a separate home folder."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx

from support.commands import Said
from support.ending import EndingProcess
from support.preloaded import run_module
from widget_cli.widget_folder import PLACEHOLDER_DESCRIPTION

DESCRIPTION = "The time, large enough for the far side of the room."
PASSWORD = "correct horse battery"
_KEPT = ("PATH", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT", "COVERAGE_PROCESS_START")


class Tool:
    """A person's machine: `run` a command there. Nothing of this machine is visible."""

    def __init__(self, home: Path, url: str | None = None) -> None:
        self.home = home
        self.config = home / ".config" / "widget-cli"
        self.environment = {"WIDGET_CATALOG_URL": url} if url else {}

    def run(
        self,
        *arguments: str | Path,
        stdin: bytes = b"",
        environment: Mapping[str, str] | None = None,
        folder: Path | None = None,
    ) -> Said:
        """Run a command to its end. It never shows a stack trace."""
        done = run_module(
            "widget_cli",
            *map(str, arguments),
            stdin=stdin,
            environ=self.environ(environment),
            environment=environment,
            folder=folder or self.home,
            timeout_s=120,
        )
        said = Said(done.returncode, done.stdout.decode(), done.stderr.decode())
        assert "Traceback" not in said.out + said.err, said
        return said

    def json(self, *arguments: str | Path, **options: Any) -> Any:
        """The output of a command with --json: exactly one document."""
        said = self.run(*arguments, "--json", **options)
        assert said.code == 0, said
        return json.loads(said.out)

    def begin(self, name: str) -> Path:
        """A new widget with a description, in a folder of this name."""
        assert self.run("init", name, "--template", "plain").code == 0
        manifest = self.home / name / "widget.json"
        manifest.write_text(manifest.read_text().replace(PLACEHOLDER_DESCRIPTION, DESCRIPTION))
        return self.home / name

    def start(self, *arguments: str | Path) -> EndingProcess[str]:
        """Start a command that waits for something."""
        return EndingProcess(
            self.command(*arguments),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.environ({"PYTHONUNBUFFERED": "1"}),
            cwd=self.home,
            text=True,
        )

    def command(self, *arguments: str | Path) -> list[str]:
        return [sys.executable, "-m", "widget_cli", *map(str, arguments)]

    def environ(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        kept = {name: os.environ[name] for name in _KEPT if name in os.environ}
        own = {"HOME": str(self.home), "XDG_CONFIG_HOME": str(self.home / ".config")}
        return {**kept, **own, "NO_COLOR": "1", **self.environment, **(more or {})}


def register(client: httpx.Client, username: str) -> None:
    """Create an account; the client is then signed in as it."""
    account = {"username": username, "email": f"{username}@example.org", "password": PASSWORD}
    session = client.post("/api/auth/register", json=account)
    assert session.status_code == 201, session.text
    client.headers["X-CSRF-Token"] = session.json()["csrfToken"]
