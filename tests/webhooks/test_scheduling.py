"""What is sent to webhooks: to a real receiver, with a store whose clock can be moved."""

from pathlib import Path

import pytest

from webhooks.receiver import Receiver
from webhooks.sending_catalog import Post
from widget_catalog.catalog.store.audit import list_entries
from widget_catalog.core.actors import COMMAND_LINE
from widget_catalog.core.errors import Conflict
from widget_catalog.webhooks import scheduling
from widget_catalog.webhooks.managing import replay_delivery, rotate_secret, send_ping, set_enabled


def test_a_change_is_sent_as_the_feed_tells_it_and_signed(post: Post, receiver: Receiver) -> None:
    post.publish("acme/before")
    hook = post.hook(receiver.url)
    post.publish("acme/clock")
    post.work()

    (got,) = receiver.received
    at = "2026-01-01T00:00:00.000Z"
    body = got.json()
    change = {"seq": 2, "at": at, "type": "published", "id": "acme/clock", "version": "1.0.0"}
    at = body["timestamp"]
    assert body == {
        "type": "published",
        "timestamp": at,
        "data": change | {"at": at, "listed": True},
    }
    assert got.id == f"msg_{hook.webhook.id}_2"
    assert got.headers["content-type"] == "application/json"
    assert int(got.headers["webhook-timestamp"]) == post.store.now_ms() // 1000
    assert got.is_signed_with(hook.secret)
    (delivery,) = post.deliveries(hook.webhook.id)
    assert (delivery.state, delivery.status, delivery.attempts) == ("delivered", 204, 1)


def test_scope_and_types_choose_what_is_sent_in_order(post: Post, receiver: Receiver) -> None:
    post.publish("acme/a", "ann/a")
    post.hook(receiver.url + "?all")
    post.hook(receiver.url + "?acme", "acme")
    post.hook(receiver.url + "?unlisted", "acme", "unlisted", "revoked")
    post.publish("acme/b", "ann/b", "acme/c")
    post.unlist("acme/b")
    post.unlist("ann/b")
    post.work()

    told: dict[str, list[str]] = {}
    for request in receiver.received:
        data = request.json()["data"]
        told.setdefault(request.path.partition("?")[2], []).append(f"{data['type']} {data['id']}")
    everything = ["published acme/b", "published ann/b", "published acme/c"]
    assert told == {
        "all": [*everything, "unlisted acme/b", "unlisted ann/b"],
        "acme": ["published acme/b", "published acme/c", "unlisted acme/b"],
        "unlisted": ["unlisted acme/b"],
    }


def test_what_is_not_listed_any_more_is_reported_without_its_version(
    post: Post, receiver: Receiver
) -> None:
    post.hook(receiver.url)
    post.publish("acme/clock")
    post.unlist("acme/clock")
    post.work()
    told = [it.json()["data"] for it in receiver.received]
    assert [(it["listed"], it["version"]) for it in told] == [(False, None), (False, None)]


def test_a_failed_delivery_is_tried_again_with_the_same_id(post: Post, receiver: Receiver) -> None:
    hook = post.hook(receiver.url)
    statuses = iter([500, 302, 200])
    receiver.respond = lambda _: next(statuses)
    post.publish("acme/clock")
    post.work()
    post.work()  # Not due yet.
    assert len(receiver.received) == 1
    (waiting,) = post.deliveries(hook.webhook.id)
    assert waiting.state == "waiting"
    assert waiting.error == "The receiver responded with 500."
    assert post.get(hook.webhook.id).failing_since == post.store.now_ms()

    post.clock.forward(seconds=5)
    post.work()
    assert post.deliveries(hook.webhook.id)[0].error == (
        "The receiver responded with 302. Redirects are not followed."
    )
    post.clock.forward(seconds=20)
    post.work()

    assert [it.path for it in receiver.received] == ["/hook"] * 3
    assert len({(it.id, it.body) for it in receiver.received}) == 1
    (delivered,) = post.deliveries(hook.webhook.id)
    assert (delivered.state, delivered.attempts, delivered.error) == ("delivered", 3, None)
    assert post.get(hook.webhook.id).failing_since is None


def test_one_event_that_a_receiver_cannot_take_does_not_hold_up_the_others(
    post: Post, receiver: Receiver
) -> None:
    post.hook(receiver.url)
    receiver.respond = lambda got: 500 if got.json()["data"]["id"] == "acme/b" else 200
    post.publish("acme/a", "acme/b", "acme/c")
    post.work()
    post.clock.forward(seconds=3)
    post.work()
    assert [it.json()["data"]["id"] for it in receiver.received] == ["acme/a", "acme/b", "acme/c"]


def test_a_delivery_is_given_up_after_a_day_and_the_webhook_after_three(post: Post) -> None:
    hook = post.hook("http://127.0.0.1:9/nobody").webhook
    post.publish("acme/clock")
    states = []
    for number in range(3 * 8 + 2):
        post.work()
        states.append((post.deliveries(hook.id)[-1].state, post.get(hook.id).disabled_at))
        post.clock.forward(hours=3)
        if number in (7, 15):
            post.publish(f"acme/clock-{number}")

    assert ("failed", None) in states
    disabled = post.get(hook.id)
    assert disabled.disabled_at is not None
    assert disabled.disabled_reason == (
        "Every delivery failed for three days. The connection failed."
    )
    assert all(it.state == "failed" for it in post.deliveries(hook.id))
    assert max(it.attempts for it in post.deliveries(hook.id)) <= 16
    with post.store.reading() as connection:
        (entry, *_), _ = list_entries(connection, None, None, 1, 10)
    assert (entry.actor, entry.via, entry.action) == ("service", "service", "disable webhook")

    with Receiver() as receiver:
        set_enabled(post.store, COMMAND_LINE, hook.id, is_enabled=True)
        post.work()
        assert receiver.received == []  # Changes from that time are not sent.


def test_a_receiver_that_is_gone_is_left_alone_at_once(post: Post, receiver: Receiver) -> None:
    hook = post.hook(receiver.url).webhook
    receiver.respond = lambda _: 410
    post.publish("acme/clock", "acme/other")
    post.work()
    post.clock.forward(days=1)
    post.work()
    assert len(receiver.received) == 1
    assert "410" in (post.get(hook.id).disabled_reason or "")
    with pytest.raises(Conflict):
        send_ping(post.store, COMMAND_LINE, hook.id)


def test_a_killed_process_leaves_what_it_claimed_to_the_next_with_the_same_id(
    post: Post, receiver: Receiver
) -> None:
    hook = post.hook(receiver.url)
    post.publish("acme/clock")
    post.work()  # This process never records the result of what it sends now.
    post.publish("acme/other")
    killed = post.another()
    killed.run_round()
    killed.wait(60)
    assert len(receiver.received) == 2

    post.work()
    assert len(receiver.received) == 2  # It is claimed.
    post.clock.forward(minutes=2)
    post.work()

    assert [it.id for it in receiver.received[1:]] == [f"msg_{hook.webhook.id}_2"] * 2
    assert {it.state for it in post.deliveries(hook.webhook.id)} == {"delivered"}


def test_two_processes_at_once_send_everything_once(post: Post, receiver: Receiver) -> None:
    post.hook(receiver.url)
    other = post.another()
    post.publish(*(f"acme/w{number}" for number in range(30)))
    for _ in range(20):
        for scheduler in (post.scheduler, other):
            scheduler.run_round()
            scheduler.wait(60)
    ids = [it.json()["data"]["id"] for it in receiver.received]
    assert sorted(ids) == sorted(set(ids))
    assert len(ids) == 30


def test_for_a_day_after_a_rotation_both_secrets_sign(post: Post, receiver: Receiver) -> None:
    before = post.hook(receiver.url)
    after = rotate_secret(post.store, COMMAND_LINE, post.box, before.webhook.id)
    post.publish("acme/a")
    post.work()
    post.clock.forward(days=1)
    post.publish("acme/b")
    post.work()
    old, new = receiver.received
    assert old.is_signed_with(before.secret)
    assert old.is_signed_with(after.secret)
    assert not new.is_signed_with(before.secret)
    assert new.is_signed_with(after.secret)


def test_without_the_key_of_the_secrets_nothing_is_sent_unsigned(
    post: Post, receiver: Receiver, tmp_path: Path
) -> None:
    hook = post.hook(receiver.url).webhook
    (tmp_path / "key").unlink()
    post.publish("acme/a")
    post.work()
    assert receiver.received == []
    assert "Rotate" in (post.deliveries(hook.id)[0].error or "")


def test_a_ping_and_a_replay_are_sent_at_once(post: Post, receiver: Receiver) -> None:
    hook = post.hook(receiver.url, None, "revoked").webhook
    ping = send_ping(post.store, COMMAND_LINE, hook.id)
    with pytest.raises(Conflict):
        send_ping(post.store, COMMAND_LINE, hook.id)
    with pytest.raises(Conflict):
        replay_delivery(post.store, COMMAND_LINE, hook.id, ping.id)
    post.work()
    replay_delivery(post.store, COMMAND_LINE, hook.id, ping.id)
    post.work()
    assert [it.json() for it in receiver.received] == [
        {
            "type": "ping",
            "timestamp": receiver.received[0].json()["timestamp"],
            "data": {"webhook": hook.id, "scope": None},
        }
    ] * 2
    assert {it.id for it in receiver.received} == {ping.id}


def test_a_webhook_that_lags_leaves_the_rest_in_the_feed(
    post: Post, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("_MAX_WAITING", 5), ("_CHANGES_AT_ONCE", 10), ("_KEPT_EACH", 7)):
        monkeypatch.setattr(scheduling, name, value)
    hook = post.hook(receiver.url).webhook
    receiver.respond = lambda _: 503
    post.publish(*(f"acme/w{number}" for number in range(35)))
    post.work()
    assert len(post.deliveries(hook.id)) == 10
    assert post.get(hook.id).position == 10

    receiver.respond = lambda _: 200
    received = len(receiver.received)
    post.clock.forward(minutes=10)
    post.work()
    ids = [it.json()["data"]["id"] for it in receiver.received[received:]]
    assert len(ids) == len(set(ids)) == 35
    post.scheduler.prune()
    assert len(post.deliveries(hook.id)) == 7
    post.clock.forward(days=8)
    post.scheduler.prune()
    assert post.deliveries(hook.id) == []
