"""The routes of webhooks, for the tests of all routes: `tests/support/routes.py`."""

from typing import Any

from support.routes import Form
from widget_catalog.core.http.routing import StepUp

# For browser tests.
PAGES = ("/account/webhooks",)

# Chosen so that an accepted request has no effect.
BODIES: dict[tuple[str, str], Any] = {
    ("POST", "/api/webhooks"): {"url": "nowhere", "scope": "acme"},
    ("POST", "/api/webhooks/{id}/rotate"): None,
    ("POST", "/api/webhooks/{id}/enable"): None,
    ("POST", "/api/webhooks/{id}/disable"): None,
    ("POST", "/api/webhooks/{id}/ping"): None,
    ("POST", "/api/webhooks/{id}/deliveries/{delivery}/replay"): None,
}

# How fresh a proof each needs; if the session is enough, and why.
STEP_UP = (
    (
        StepUp.FACTOR,
        """
POST /api/webhooks
POST /account/webhooks
POST /operate/webhooks
POST /api/webhooks/{id}/rotate
POST /account/webhooks/{id}/rotate
""",
    ),
    # It ends access, which must be possible at once.
    (
        StepUp.NONE,
        """
DELETE /api/webhooks/{id}
POST /account/webhooks/{id}/remove
POST /api/webhooks/{id}/disable
POST /account/webhooks/{id}/disable
""",
    ),
    # The person can undo it.
    (
        StepUp.NONE,
        """
POST /api/webhooks/{id}/enable
POST /account/webhooks/{id}/enable
""",
    ),
    # Nothing lasting comes of it.
    (
        StepUp.NONE,
        """
POST /api/webhooks/{id}/ping
POST /account/webhooks/{id}/ping
POST /api/webhooks/{id}/deliveries/{delivery}/replay
POST /account/webhooks/{id}/deliveries/{delivery}/replay
""",
    ),
)

# One that is rejected, of each form.
FORMS = {
    "webhook": Form(
        "ann",
        "/account/webhooks",
        {"url": "ftp://x", "scope": "acme", "type": "no"},
        ("create-url",),
        prefix="create-",
    ),
    "scope of a webhook": Form(
        "ann",
        "/account/webhooks",
        {"url": "https://hooks.example/", "scope": "A b"},
        ("create-scope",),
        prefix="create-",
    ),
    "events of a webhook": Form(
        "olly",
        "/operate/webhooks",
        {"url": "https://hooks.example/", "type": "no"},
        ("create-type",),
        prefix="create-",
    ),
}
