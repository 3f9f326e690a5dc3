"""The routes of moderation, for the tests of all routes: `tests/support/routes.py`."""

from typing import Any

from widget_catalog.core.http.routing import StepUp

# For browser tests.
PAGES = ("/operate/scopes", "/operate/reports")

# Chosen so that an accepted request has no effect.
BODIES: dict[tuple[str, str], Any] = {
    ("POST", "/api/widgets/{scope}/{name}/versions/{version}/revoke"): {"reason": "Malware."},
    ("POST", "/api/widgets/{scope}/{name}/versions/{version}/unrevoke"): None,
}

# How fresh a proof each needs; if the session is enough, and why.
STEP_UP = (
    (
        StepUp.FRESH,
        """
POST /operate/scopes/assign
""",
    ),
    # Nobody is signed in there, or this is how they prove who they are.
    (
        StepUp.NONE,
        """
POST /report/{scope}/{name}
""",
    ),
    # The person can undo it.
    (
        StepUp.NONE,
        """
POST /api/widgets/{scope}/{name}/versions/{version}/revoke
POST /api/widgets/{scope}/{name}/versions/{version}/unrevoke
POST /account/widgets/{scope}/{name}/versions/{version}/revoke
POST /account/widgets/{scope}/{name}/versions/{version}/revoke-everywhere
POST /account/widgets/{scope}/{name}/versions/{version}/unrevoke
POST /operate/scopes/reserve
POST /operate/scopes/release
""",
    ),
    # Nothing lasting comes of it.
    (
        StepUp.NONE,
        """
POST /operate/reports/{id}/resolve
POST /operate/reports/{id}/dismiss
""",
    ),
)
