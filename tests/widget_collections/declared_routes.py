"""The routes of collections, for the tests of all routes: `tests/support/routes.py`."""

from typing import Any

from support.routes import Form
from widget_catalog.core.http.routing import StepUp

# For browser tests.
PAGES = ("/operate/collections",)

# Chosen so that an accepted request has no effect.
BODIES: dict[tuple[str, str], Any] = {
    ("POST", "/api/collections"): {"title": ""},
    ("PUT", "/api/collections/{slug}"): {"title": "x"},
    ("POST", "/api/collections/{slug}/move"): {"position": 1},
}

STEP_UP = (
    # The operator can undo it.
    (
        StepUp.NONE,
        """
POST /api/collections
PUT /api/collections/{slug}
DELETE /api/collections/{slug}
POST /api/collections/{slug}/move
POST /operate/collections
POST /operate/collections/{slug}
POST /operate/collections/{slug}/widgets
POST /operate/collections/{slug}/move
POST /operate/collections/{slug}/delete
""",
    ),
)

# One that is rejected, of each form.
FORMS = {
    "collection": Form(
        "olly",
        "/operate/collections",
        {"title": "", "slug": "A b", "text": "x" * 3000},
        ("create-title", "create-slug", "create-text"),
        prefix="create-",
    ),
}
