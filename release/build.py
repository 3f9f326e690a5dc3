"""Builds wheels, source distributions, npm packages and SHA256SUMS from the tracked files."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

# What the repository says of itself; a release names its own.
PLACEHOLDERS = ("https://git.example/widget-catalog", "authors@widget-catalog.example")
PROJECTS = (".", "contract", "cli", "clients/python")
NPM = ("clients/js", "clients/vite", "clients/cli", "clients/create")
SUMS = "SHA256SUMS"


def build(
    root: Path, target: Path, replaced: Mapping[str, str], index: str | None = None
) -> list[Path]:
    """Build everything into `target`, which is emptied. The same files give the same bytes."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "source"
        _copy_tracked(root, source)
        for project in PROJECTS:
            _replace(source / project / "pyproject.toml", replaced)
        for package in NPM:
            _replace(source / package / "package.json", replaced)
        for project in PROJECTS:
            _run(source, "hatchling", "build", "-d", str(target), folder=source / project)
        options = ["--index", index] if index else []
        _run(source, "pack", str(target), *options, folder=source / "clients")
    files = sorted(target.iterdir())
    lines = [f"{hashlib.sha256(it.read_bytes()).hexdigest()}  {it.name}\n" for it in files]
    (target / SUMS).write_text("".join(lines))
    return [*files, target / SUMS]


def _copy_tracked(root: Path, target: Path) -> None:
    """What git knows, as it is in the folder: nothing else gets into a package."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=root, capture_output=True, check=True)
    for name in filter(None, listed.stdout.decode().split("\0")):
        if (root / name).is_symlink() or (root / name).exists():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(root / name, target / name, follow_symlinks=False)


def _replace(file: Path, replaced: Mapping[str, str]) -> None:
    text = file.read_text("utf-8")
    for before, after in replaced.items():
        text = text.replace(before, after)
    if file.suffix == ".json":
        json.loads(text)
    file.write_text(text, "utf-8")


def _run(source: Path, module: str, *arguments: str, folder: Path) -> None:
    """Run a module on the sources of the copy."""
    environment = {**os.environ, "PYTHONPATH": str(source / "src")}
    command = [sys.executable, "-m", module, *arguments]
    done = subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        sys.exit(f"{module} in {folder.relative_to(source)} failed:\n{done.stdout}{done.stderr}")
