"""The routes of moderation, for the tests of all routes: `tests/support/routes.py`."""

from typing import Any

from support.routes import Form
from widget_catalog.core.http.routing import StepUp

_VERSION = "/account/widgets/acme/clock/versions/1.0.0"
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

# One that is rejected, of each form.
FORMS = {
    "report": Form(
        "",
        "/report/acme/clock",
        {"category": "none", "text": "", "version": "9.9.9", "contact": "x" * 300},
        ("category", "text", "version", "contact"),
    ),
    "revoke": Form(
        "olly", _VERSION, {"reason": ""}, ("revoke-reason",), f"{_VERSION}/revoke", "revoke-"
    ),
    "revoke everywhere": Form(
        "olly",
        _VERSION,
        {"reason": ""},
        ("revoke-everywhere-reason",),
        f"{_VERSION}/revoke-everywhere",
        "revoke-everywhere-",
    ),
    "reserve": Form(
        "olly",
        "/operate/scopes",
        {"name": "A b"},
        ("reserve-name",),
        "/operate/scopes/reserve",
        "reserve-",
    ),
    "release": Form(
        "olly",
        "/operate/scopes",
        {"name": "free"},
        ("release-name",),
        "/operate/scopes/release",
        "release-",
    ),
}
