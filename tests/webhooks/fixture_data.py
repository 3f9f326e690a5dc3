"""What `tests/core/db/schema_fixture.py` adds to the data folder of a release."""

from support.people import Person


def add_data(ann: Person) -> None:
    """A delivery waits."""
    webhook = ann.post("/api/webhooks", {"url": "https://hooks.example/x", "scope": "ann"})
    ping = ann.post(f"/api/webhooks/{webhook.json()['id']}/ping", {})
    assert ping.status == 202, ping.body
