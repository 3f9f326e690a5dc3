"""The OAuth server over time, and with concurrent requests."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from urllib.parse import parse_qsl, urlsplit

import pytest

from accounts.oauth.program import CLIENTS, DEVICE_GRANT, WANTED, code_fields, refresh_fields
from widget_catalog.accounts.create_account import create_account
from widget_catalog.accounts.oauth.devices import decide_device
from widget_catalog.accounts.oauth.grants import forget_successors
from widget_catalog.accounts.oauth.serving import (
    OAuthConfig,
    OAuthResponse,
    authorize,
    exchange,
    start_device,
)
from widget_catalog.accounts.settings import parse_clients
from widget_catalog.accounts.sign_in import identify_bearer
from widget_catalog.catalog.node.node import Node
from widget_catalog.core import clock
from widget_catalog.core.actors import Account, Actor, Via, Visitor
from widget_catalog.core.db.engine import Store
from widget_catalog.core.errors import NotFound, NotSignedIn, TooOften

HOUSE = OAuthConfig(parse_clients(CLIENTS), "https://catalog.example", 180 * 86_400_000)


class MovingClock:
    def __init__(self) -> None:
        self.at = clock.now()

    def __call__(self) -> datetime:
        return self.at

    def forward(self, **span: float) -> None:
        self.at += timedelta(**span)


@pytest.fixture
def moving() -> MovingClock:
    return MovingClock()


@pytest.fixture
def store(node: Node, moving: MovingClock) -> Iterator[Store]:
    made = Store(node.store.engine, node.folder.writer_lock, now=moving)
    yield made
    made.close()


@pytest.fixture
def ann(store: Store) -> Account:
    return create_account(store, "ann", "ann@example.org", "correct horse battery")


def visitor(account: Account) -> Visitor:
    return Visitor(Actor(via=Via.SESSION, account=account))


def new_code(store: Store, account: Account) -> str:
    response = authorize(store, HOUSE, list(WANTED.items()), visitor(account))
    assert isinstance(response, OAuthResponse)
    return dict(parse_qsl(urlsplit(response.location or "").query))["code"]


def ask(store: Store, fields: dict[str, str]) -> OAuthResponse:
    return exchange(store, HOUSE, list(fields.items()), "192.0.2.1")


def sign_in(store: Store, account: Account) -> dict[str, str]:
    return ask(store, code_fields(new_code(store, account))).body


def begin_device(store: Store) -> dict[str, str]:
    return start_device(store, HOUSE, [("client_id", "widget-cli")], "192.0.2.1").body


def poll(store: Store, begun: dict[str, str]) -> OAuthResponse:
    fields = {"grant_type": DEVICE_GRANT, "device_code": begun["device_code"]}
    return ask(store, {**fields, "client_id": "widget-cli"})


def is_good(store: Store, tokens: dict[str, str]) -> bool:
    try:
        return identify_bearer(store, tokens["access_token"], "203.0.113.7").actor.name == "ann"
    except NotSignedIn:
        return False


@pytest.mark.parametrize(("seconds", "status"), [(119, 200), (120, 400)])
def test_a_code_is_valid_for_two_minutes(
    store: Store, ann: Account, moving: MovingClock, seconds: int, status: int
) -> None:
    code = new_code(store, ann)
    moving.forward(seconds=seconds)
    assert ask(store, code_fields(code)).status == status


@pytest.mark.parametrize(("minutes", "expected"), [(59, True), (60, False)])
def test_an_access_token_is_valid_for_an_hour(
    store: Store, ann: Account, moving: MovingClock, minutes: int, expected: bool
) -> None:
    tokens = sign_in(store, ann)
    moving.forward(minutes=minutes)
    assert is_good(store, tokens) is expected


@pytest.mark.parametrize(("seconds", "expected"), [(29, True), (30, False)])
def test_after_a_refresh_the_previous_access_token_is_valid_for_half_a_minute(
    store: Store, ann: Account, moving: MovingClock, seconds: int, expected: bool
) -> None:
    """Another process may be uploading with it."""
    tokens = sign_in(store, ann)
    renewed = ask(store, refresh_fields(tokens["refresh_token"])).body
    moving.forward(seconds=seconds)
    assert is_good(store, tokens) is expected
    assert is_good(store, renewed)


@pytest.mark.parametrize(("days", "status"), [(59, 200), (60, 400)])
def test_a_refresh_token_is_valid_for_sixty_days_and_so_is_each_that_follows(
    store: Store, ann: Account, moving: MovingClock, days: int, status: int
) -> None:
    tokens = sign_in(store, ann)
    moving.forward(days=59)
    renewed = ask(store, refresh_fields(tokens["refresh_token"])).body
    moving.forward(days=days)
    assert ask(store, refresh_fields(renewed["refresh_token"])).status == status


def test_a_rotated_token_is_recognised_for_as_long_as_it_would_have_been_good(
    store: Store, ann: Account, moving: MovingClock
) -> None:
    first = sign_in(store, ann)
    second = ask(store, refresh_fields(first["refresh_token"])).body
    moving.forward(days=40)
    new_code(store, ann)  # This removes what has expired.
    third = ask(store, refresh_fields(second["refresh_token"])).body

    ask(store, refresh_fields(first["refresh_token"]))

    assert not is_good(store, third)


def test_a_device_waits_for_a_quarter_of_an_hour(
    store: Store, ann: Account, moving: MovingClock
) -> None:
    begun = begin_device(store)
    moving.forward(seconds=899)
    assert poll(store, begun).body["error"] == "authorization_pending"
    moving.forward(seconds=1)

    assert poll(store, begun).body == {
        "error": "expired_token",
        "error_description": "This device code has expired. Start again.",
    }
    with pytest.raises(NotFound):
        decide_device(store, HOUSE, visitor(ann), begun["user_code"], is_agreed=True)


def test_a_device_may_ask_every_five_seconds(store: Store, moving: MovingClock) -> None:
    begun = begin_device(store)
    errors = []
    for seconds in (0, 5, 4.6, 4, 1, 5):
        moving.forward(seconds=seconds)
        errors.append(poll(store, begun).body["error"])
    assert errors == [
        "authorization_pending",
        "authorization_pending",
        "authorization_pending",
        "slow_down",
        "slow_down",
        "authorization_pending",
    ]


def test_wrong_codes_are_forgiven_after_a_while(
    store: Store, ann: Account, moving: MovingClock
) -> None:
    begun = begin_device(store)
    for _ in range(10):
        with pytest.raises(NotFound):
            decide_device(store, HOUSE, visitor(ann), "BCDF-GHJK", is_agreed=True)
    with pytest.raises(TooOften):
        decide_device(store, HOUSE, visitor(ann), begun["user_code"], is_agreed=True)
    moving.forward(minutes=15)
    again = begin_device(store)

    decide_device(store, HOUSE, visitor(ann), again["user_code"], is_agreed=True)

    assert poll(store, again).status == 200


@pytest.mark.parametrize(("seconds", "is_refreshed"), [(0, True), (30, True), (30.001, False)])
def test_an_old_refresh_token_gets_the_same_pair_for_thirty_seconds_then_ends_the_sign_in(
    store: Store, ann: Account, moving: MovingClock, seconds: float, is_refreshed: bool
) -> None:
    old = refresh_fields(sign_in(store, ann)["refresh_token"])
    new = ask(store, old).body
    moving.forward(seconds=seconds)

    response = ask(store, old)

    expected = new | {"expires_in": 3600 - int(seconds)}
    assert (response.body == expected) is is_refreshed
    assert is_good(store, new) is is_refreshed
    assert (ask(store, refresh_fields(new["refresh_token"])).status == 200) is is_refreshed


def test_a_pair_is_kept_for_others_only_as_long_as_they_may_have_it(
    store: Store, ann: Account, moving: MovingClock
) -> None:
    def kept() -> int:
        with store.reading() as connection:
            query = "SELECT count(successor) FROM oauth_tokens"
            return int(connection.exec_driver_sql(query).scalar_one())

    first, second = sign_in(store, ann), sign_in(store, ann)
    ask(store, refresh_fields(first["refresh_token"]))
    moving.forward(seconds=30)
    forget_successors(store)
    assert kept() == 1
    moving.forward(seconds=1)
    # A refresh also removes what others have left.
    ask(store, refresh_fields(second["refresh_token"]))
    assert kept() == 1
    moving.forward(seconds=31)
    forget_successors(store)
    assert kept() == 0


def test_of_many_that_come_at_once_with_a_code_one_wins_and_then_all_is_over(
    store: Store, ann: Account
) -> None:
    """The others are indistinguishable from a thief, so everything is revoked."""
    fields = code_fields(new_code(store, ann))

    with ThreadPoolExecutor(8) as threads:
        responses = list(threads.map(lambda _: ask(store, fields), range(8)))

    assert sorted(it.status for it in responses) == [200] + [400] * 7
    (won,) = (it.body for it in responses if it.status == 200)
    assert not is_good(store, won)
    assert ask(store, refresh_fields(won["refresh_token"])).status == 400


def test_of_many_polls_at_once_one_gets_the_tokens(store: Store, ann: Account) -> None:
    begun = begin_device(store)
    decide_device(store, HOUSE, visitor(ann), begun["user_code"], is_agreed=True)

    with ThreadPoolExecutor(8) as threads:
        responses = list(threads.map(lambda _: poll(store, begun), range(8)))

    assert sorted(it.status for it in responses) == [200] + [400] * 7
