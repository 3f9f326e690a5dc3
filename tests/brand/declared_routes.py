"""The routes of the brand, for the tests of all routes: `tests/support/routes.py`."""

from typing import Any

from widget_catalog.core.http.routing import StepUp

# For browser tests.
PAGES = ("/operate/brand", "/operate/brand/page")

# Chosen so that an accepted request has no effect.
BODIES: dict[tuple[str, str], Any] = {
    ("PUT", "/api/brand"): {"name": "\u202e"},
    ("PUT", "/api/brand/pages/{slug}"): {"title": "", "text": ""},
}

STEP_UP = (
    # The operator can undo it.
    (
        StepUp.NONE,
        """
PUT /api/brand
PUT /api/brand/pages/{slug}
DELETE /api/brand/pages/{slug}
POST /operate/brand
POST /operate/brand/page
POST /operate/brand/pages/{slug}
POST /operate/brand/pages/{slug}/delete
""",
    ),
)
