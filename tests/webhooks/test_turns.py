"""Whose webhooks are served next: nobody waits for the slow receivers of others."""

import time
from collections import Counter

import pytest

from accounts.stored_accounts import an_account, an_organization
from webhooks.receiver import Receiver
from webhooks.sending_catalog import Post
from widget_catalog.core.actors import COMMAND_LINE, Actor, Via
from widget_catalog.webhooks.managing import send_ping
from widget_catalog.webhooks.model import Webhook
from widget_catalog.webhooks.scheduling import Turns

pytestmark = pytest.mark.slow

_SLOW_S = 3


def a_webhook(id_: str, owner: str, scope: str | None = None) -> Webhook:
    return Webhook(id_, scope, "https://hooks.example/", (), "", 0, owner, 0)


def owners(webhooks: list[Webhook]) -> Counter[str]:
    return Counter(it.owner for it in webhooks)


def test_slow_receivers_of_one_owner_do_not_delay_the_ping_of_another(post: Post) -> None:
    """An owner of three organizations with twelve receivers, and 300 changes for each of them."""
    mallory = an_account(post.store, "mallory")
    slugs = ("red", "green", "blue")
    for slug in slugs:
        an_organization(post.store, slug, owner=mallory)
    by = Actor(via=Via.SESSION, account=mallory)

    def respond_slowly(_: object) -> int:
        time.sleep(_SLOW_S)
        return 200

    with Receiver(respond_slowly) as slow, Receiver() as quick:
        for slug in slugs:
            for number in range(4):
                post.hook(f"{slow.url}?{number}", slug, by=by)
        post.publish(*(f"{slug}/w{number}" for slug in slugs for number in range(100)))
        for _ in range(10):
            post.scheduler.run_round()
        ann = Actor(via=Via.SESSION, account=an_account(post.store, "ann"))
        hook = post.hook(quick.url, "ann", by=ann).webhook
        send_ping(post.store, ann, hook.id)

        until = time.monotonic() + 2 * _SLOW_S
        while not quick.received and time.monotonic() < until:
            post.scheduler.run_round()
            time.sleep(0.05)

        assert quick.types == ["ping"]
        post.scheduler.wait(60)


def test_an_owner_has_at_most_four_of_the_slots() -> None:
    due = [a_webhook(f"m{number}", "mallory", f"scope-{number}") for number in range(30)]
    due += [a_webhook("a", "ann")]

    assert owners(Turns().choose(due, [])) == {"mallory": 4, "ann": 1}
    assert owners(Turns().choose(due, due[:3])) == {"mallory": 1, "ann": 1}


def test_webhooks_added_on_the_command_line_count_for_their_scope() -> None:
    operator = COMMAND_LINE.name
    due = [a_webhook(f"{scope}{number}", operator, scope) for scope in "ab" for number in range(9)]

    assert owners(Turns().choose(due, [])) == {"a": 4, "b": 4}


def test_when_all_slots_are_taken_the_owner_without_one_is_next() -> None:
    """However long the deliveries of the others have waited."""
    turns = Turns()
    many = [a_webhook(f"{owner} {i}", owner) for owner in "abcdefgh" for i in range(4)]
    busy = turns.choose(many, [])
    assert owners(busy) == dict.fromkeys("abcdefgh", 2)

    (chosen,) = turns.choose([*many, a_webhook("n", "newcomer")], busy[1:])

    assert chosen.owner == "newcomer"


def test_owners_take_turns() -> None:
    turns = Turns()
    due = [a_webhook(f"w{number}", f"owner-{number}") for number in range(40)]
    served = [it.owner for _ in range(5) for it in turns.choose(due, [])]

    assert sorted(served) == sorted([it.owner for it in due] * 2)
