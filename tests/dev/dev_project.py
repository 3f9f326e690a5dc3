"""A small project for `./dev`, with a scripted installer."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from requirements.install import PROJECTS

from support.ending import EndingProcess

ROOT = Path(__file__).parents[2]

_UV = """\
#!/bin/sh
echo "$2" >> "$PROJECT/calls"
for number in $(seq 100); do echo "line $number of uv"; done
case "$UV_WILL" in
  wait) while [ ! -e "$PROJECT/go-on" ]; do sleep 0.02; done ;;
  fail) echo "error: no such package"; exit 2 ;;
  "fill the disk") echo "error: No space left on device (os error 28)"; exit 2 ;;
esac
"""


class DevProject:
    """A folder with ./dev in it, and `uv` on the path."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.programs = folder / "programs"
        for path in ("dev", "requirements/install.py", "requirements/steps.py"):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / path, folder / path)
        for project in PROJECTS:
            (folder / project).mkdir(parents=True, exist_ok=True)
            (folder / project / "pyproject.toml").write_text("")
        for kind in ("runtime", "dev", "uv"):
            (folder / "requirements" / f"{kind}.txt").write_text("")
        self.add_program(self.programs / "uv", _UV)

    @property
    def log(self) -> str:
        return (self.folder / ".cache" / "set-up.log").read_text()

    @property
    def calls(self) -> list[str]:
        """The commands of the installer: `sync`, `install` …"""
        calls = self.folder / "calls"
        return calls.read_text().split() if calls.exists() else []

    def pin(self, kind: str, requirement: str) -> None:
        text = f"{requirement} --hash=sha256:{'0' * 64}\n"
        (self.folder / "requirements" / f"{kind}.txt").write_text(text)

    def add_program(self, path: Path, text: str) -> None:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)

    def start(
        self, *arguments: str, through: Sequence[str] = (), **environment: str
    ) -> EndingProcess[str]:
        return EndingProcess(
            [*through, sys.executable, self.folder / "dev", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self._environment(environment),
            start_new_session=True,
        )

    def run(self, *arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
        with self.start(*arguments, **environment) as process:
            out, err = process.communicate(timeout=120)
        return subprocess.CompletedProcess(arguments, process.returncode, out, err)

    def _environment(self, more: Mapping[str, str]) -> dict[str, str]:
        path = f"{self.programs}{os.pathsep}{os.defpath}"
        return {"PATH": path, "HOME": str(self.folder), "PROJECT": str(self.folder), **more}
