"""Hashing passwords has a separate pool: many sign-ins do not delay other requests."""

import json
from collections import Counter
from pathlib import Path

from support.people import PASSWORD
from support.site import Sent
from support.site_with_people import BuiltPeople, People

_JSON = {"content_type": "application/json"}


def a_sign_in(address: str) -> Sent:
    body = json.dumps({"username": "ann", "password": "not the password"}).encode()
    return "POST", "/api/auth/sign-in", body, {**_JSON, "x_forwarded_for": address}


def a_registration(number: int) -> Sent:
    body = {"username": "ann", "email": f"{number}@example.org", "password": PASSWORD}
    headers = {**_JSON, "x_forwarded_for": f"198.51.100.{number}"}
    return "POST", "/api/auth/register", json.dumps(body).encode(), headers


def test_signed_in_people_do_not_wait_for_a_crowd_that_signs_in(
    built_people: BuiltPeople, tmp_path: Path
) -> None:
    settings = {"trust_forwarded_for": True, "registration": "open"}
    with People(built_people, tmp_path / "d", **settings) as people:
        crowd = [a_sign_in(f"203.0.113.{i}") for i in range(16)]
        crowd += [a_registration(i) for i in range(16)]
        signed_in: Sent = ("GET", "/api/auth/session", b"", people.ann.headers)

        arrived = people.site.together([*crowd, signed_in])

    numbers = [number for number, _ in arrived]
    statuses = Counter(response.status for _, response in arrived)
    assert statuses == {401: 16, 409: 16, 200: 1}
    # It was sent last, and all requests of the crowd before it are queued for a thread.
    assert numbers.index(len(crowd)) < len(crowd) / 4


def test_one_address_has_few_places_where_passwords_are_hashed(
    built_people: BuiltPeople, tmp_path: Path
) -> None:
    with People(built_people, tmp_path / "d", trust_forwarded_for=True) as people:
        flood = [a_sign_in("203.0.113.1") for _ in range(40)]

        arrived = dict(people.site.together([*flood, a_sign_in("203.0.113.2")]))

    busy = [it for it in arrived.values() if it.status == 503]
    # Two are being hashed, four are queued.
    assert len(busy) == 34
    assert (busy[0].headers["retry-after"], busy[0].json()) == (
        "2",
        {"error": "Too many people are signing in at this moment. Try again in a few seconds."},
    )
    assert arrived[len(flood)].status == 401


def test_clients_take_turns_so_that_one_does_not_delay_the_others(
    built_people: BuiltPeople, tmp_path: Path
) -> None:
    with People(built_people, tmp_path / "d", trust_forwarded_for=True) as people:
        # All from one /64: one client.
        flood = [a_sign_in(f"2001:db8::{i}") for i in range(6)]
        others = [a_sign_in("203.0.113.2"), a_sign_in("203.0.113.3")]

        arrived = people.site.together([*flood, *others])

    assert {response.status for _, response in arrived} == {401, 429}
    order = [number for number, _ in arrived]
    # Of the flood, only the two that were started and at most two queued ones come first.
    assert max(order.index(len(flood)), order.index(len(flood) + 1)) <= 5


def test_more_than_the_pool_takes_are_asked_to_retry(
    built_people: BuiltPeople, tmp_path: Path
) -> None:
    with People(built_people, tmp_path / "d", trust_forwarded_for=True) as people:
        crowd = [a_sign_in(f"203.0.113.{i}") for i in range(80)]

        statuses = Counter(it.status for _, it in people.site.together(crowd))
        after = people.site.together([a_sign_in("203.0.113.200")])

    assert statuses == {401: 66, 503: 14}
    assert after[0][1].status == 401


def test_a_full_pool_makes_room_for_a_client_that_has_no_place_yet(
    built_people: BuiltPeople, tmp_path: Path
) -> None:
    with People(built_people, tmp_path / "d", trust_forwarded_for=True) as people:
        crowd = [a_sign_in(f"203.0.113.{i // 4}") for i in range(68)]

        arrived = dict(people.site.together([*crowd, a_sign_in("203.0.113.200")]))

    assert arrived[len(crowd)].status == 401
    assert Counter(it.status for it in arrived.values()) == {401: 66, 503: 3}
