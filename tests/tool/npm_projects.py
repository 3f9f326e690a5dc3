"""Widgets that npm builds. The dependencies of all templates are installed once, into a cache;
projects link to them, and get the Vite plugin as it is in this repository.
"""

import functools
import hashlib
import io
import json
import os
import subprocess
import tarfile
from collections.abc import Mapping
from pathlib import Path

from filelock import FileLock

from support.archives import extract_all
from support.npm import npm_commands, run_npm
from widget_cli.scaffold import Template, begin_widget
from widget_cli.vite_plugin_package import PLUGIN, packed, plugin_files
from widget_cli.widget_folder import PLACEHOLDER_DESCRIPTION

BUILT = [it for it in Template if it.is_built]
_CACHE = Path(__file__).parents[2] / ".cache" / "npm"
_INSTALL = ("install", "--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts")


def new_project(folder: Path, template: Template, description: str = "It greets.") -> Path:
    """A new widget, ready to be built."""
    begin_widget(folder, template.value, None, template)
    for file in (folder / "widget.json", folder / "README.md"):
        file.write_text(file.read_text().replace(PLACEHOLDER_DESCRIPTION, description))
    link_dependencies(folder)
    return folder


def link_dependencies(folder: Path) -> None:
    modules = folder / "node_modules"
    modules.mkdir()
    for package in _installed_dependencies().iterdir():
        if package.name not in (".package-lock.json", ".vite"):
            (modules / package.name).symlink_to(package)
    with tarfile.open(fileobj=io.BytesIO(packed(plugin_files()))) as archive:
        extract_all(archive, modules)
    (modules / "package").rename(modules / PLUGIN)


@functools.cache
def _installed_dependencies() -> Path:
    """The newest versions that the ranges in the templates admit."""
    wanted: dict[str, str] = {}
    template = Path(__file__).parents[2] / "src" / "widget_cli" / "template"
    for file in sorted(template.glob("*/package.json")):
        for name, versions in json.loads(file.read_text())["devDependencies"].items():
            assert wanted.setdefault(name, versions) == versions, name
    del wanted[PLUGIN]
    package = json.dumps({"private": True, "devDependencies": wanted})
    folder = _CACHE / f"templates-{hashlib.sha256(package.encode()).hexdigest()[:12]}"
    folder.mkdir(parents=True, exist_ok=True)
    # Called by every pytest-xdist worker; the first one installs, the others wait.
    with FileLock(folder / "install.lock"):
        done = folder / "installed"
        if not done.exists():
            (folder / "package.json").write_text(package)
            run_npm(*_INSTALL, folder=folder)
            done.touch()
    return folder / "node_modules"


def npm_environment() -> dict[str, str]:
    """With the `npm` of the Python packages, and without colors."""
    path = f"{npm_commands()}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "NO_COLOR": "1"}


def run_script(
    folder: Path, *arguments: str, environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """`npm run --silent` with these arguments."""
    return subprocess.run(
        ["npm", "run", "--silent", *arguments],
        cwd=folder,
        env={**npm_environment(), **(environment or {})},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def built(folder: Path) -> Path:
    done = run_script(folder, "build")
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "dist" / "index.js"
