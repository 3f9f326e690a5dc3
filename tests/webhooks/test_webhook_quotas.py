"""Changes to webhooks are limited by the hour."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from support.service import wait_for
from support.site_with_people import BuiltPeople, People


@pytest.fixture
def strict(built_people: BuiltPeople, tmp_path: Path) -> Iterator[People]:
    with People(built_people, tmp_path / "data", max_changes_per_hour=3) as people:
        people.clock.forward(days=2)
        yield people


def test_changes_to_webhooks_are_limited_by_the_hour_whatever_is_changed(strict: People) -> None:
    ann = strict.ann
    body = {"url": "https://hooks.example/", "scope": "ann"}
    hook = f"/api/webhooks/{ann.post('/api/webhooks', body).json()['id']}"
    strict.clock.forward(minutes=1)
    assert ann.post(f"{hook}/disable").status == 200
    # Requests that change nothing, or fail, are not counted.
    assert ann.post(f"{hook}/disable").status == 409
    assert ann.post(f"{hook}/ping").status == 409
    assert ann.post(f"{hook}/enable").status == 200

    refusals = [ann.post(f"{hook}/{it}") for it in ("rotate", "ping")]
    refusals += [ann.post("/api/webhooks", body)]
    for refused in refusals:
        assert (refused.status, refused.headers["retry-after"]) == (429, str(59 * 60))
        sentence = "At most 3 changes to webhooks can be made in an hour"
        assert refused.json()["error"].startswith(sentence)
    strict.clock.forward(minutes=60)
    assert ann.post(f"{hook}/ping").status == 202
    assert ann.post(f"{hook}/rotate").status == 200
    assert ann.delete(hook).status == 200
    assert ann.post("/api/webhooks", body).status == 429


def test_a_webhook_can_be_disabled_and_deleted_at_the_limit(strict: People) -> None:
    ann = strict.ann
    body = {"url": "https://hooks.example/", "scope": "ann"}
    hooks = [f"/api/webhooks/{ann.post('/api/webhooks', body).json()['id']}" for _ in range(3)]
    assert ann.post("/api/webhooks", body).status == 429

    assert ann.post(f"{hooks[0]}/disable").status == 200
    assert ann.delete(hooks[1]).status == 200

    assert ann.post(f"{hooks[0]}/enable").status == 429


def test_redeliveries_count_as_changes_to_webhooks(strict: People) -> None:
    body = {"url": "https://hooks.example/", "scope": "ann"}
    hook = f"/api/webhooks/{strict.ann.post('/api/webhooks', body).json()['id']}"
    ping = strict.ann.post(f"{hook}/ping").json()["id"]
    log = f"{hook}/deliveries"
    wait_for(lambda: strict.ann.get(log).json()["deliveries"][0]["lastAttemptAt"], 60)

    assert strict.ann.post(f"{log}/{ping}/replay").status == 202
    assert strict.ann.post(f"{hook}/rotate").status == 429
