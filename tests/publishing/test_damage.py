"""Damaged rows of the store: nothing is published on top of them, and the alarm is raised."""

import sqlite3

from support.site_with_people import People


def test_a_damaged_widget_takes_no_new_version_and_health_tells(people: People) -> None:
    with sqlite3.connect(people.site.node.folder.database) as database:
        database.execute("UPDATE widgets SET icon = 'mdi:wrong' WHERE scope = 'ann'")
    database.close()
    before = people.site.get("/api/v1/widgets/ann/clock").json()

    refused = people.ann.publish("ann/clock", "1.1.0")

    assert refused.status == 503
    assert refused.json()["error"].startswith(
        "The database is damaged: what it holds of the widget"
    )
    # Its document is intact, and served.
    assert people.site.get("/api/v1/widgets/ann/clock").json() == before
    health = people.site.get("/api/health")
    assert (health.status, health.json()["checks"]["database"]) == (503, "damaged")
    assert "ann/clock" in health.json()["error"]
    assert people.ann.publish("ann/other", "1.0.0").status == 200
