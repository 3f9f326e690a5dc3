"""npm's own `semver`, for tests that compare with it."""

from pathlib import Path

import pytest

from support.npm import node_binary, npm_package


@pytest.fixture(scope="session")
def node() -> Path:
    return node_binary()


@pytest.fixture(scope="session")
def npm_folder() -> Path:
    """A folder in which a script can `require("semver")`."""
    return npm_package("semver", "7.8.6")
