"""The routes of /install, for the tests of all routes: `tests/support/routes.py`."""

from typing import Any

# For browser tests.
PAGES = ("/install",)

BODIES: dict[tuple[str, str], Any] = {}
STEP_UP: tuple[Any, ...] = ()
