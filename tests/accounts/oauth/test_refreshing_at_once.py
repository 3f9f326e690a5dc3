"""Two processes refresh the same sign-in at the same moment, on both databases."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from accounts.oauth.program import CLIENTS, WANTED, code_fields, refresh_fields
from widget_catalog.accounts.oauth.serving import OAuthConfig, OAuthResponse, authorize, exchange
from widget_catalog.accounts.oauth.store import (
    find_pair_by_refresh,
    has_successors,
    keep_successor,
    remove_successors,
    rotate_pair,
)
from widget_catalog.accounts.settings import parse_clients
from widget_catalog.accounts.sign_in import identify_bearer
from widget_catalog.accounts.store import add_account, take_scope
from widget_catalog.core.actors import Account, Actor, Via, Visitor
from widget_catalog.core.db.engine import Store
from widget_contract.names import Scope

HOUSE = OAuthConfig(parse_clients(CLIENTS), "https://catalog.example", 180 * 86_400_000)
AT_ONCE = 6


@pytest.fixture
def ann(store: Store) -> Account:
    with store.writing() as tx:
        take_scope(tx, Scope("ann"), "personal")
        return add_account(tx, Scope("ann"), "ann@example.org", None, is_operator=False)


def sign_in(store: Store, account: Account) -> dict[str, Any]:
    visitor = Visitor(Actor(via=Via.SESSION, account=account))
    response = authorize(store, HOUSE, list(WANTED.items()), visitor)
    assert isinstance(response, OAuthResponse)
    code = dict(parse_qsl(urlsplit(response.location or "").query))["code"]
    return exchange(store, HOUSE, list(code_fields(code).items()), "192.0.2.1").body


def test_all_who_refresh_at_once_get_the_same_pair_and_stay_signed_in(
    store: Store, ann: Account
) -> None:
    tokens = sign_in(store, ann)
    together = Barrier(AT_ONCE)

    def refresh(_: int) -> OAuthResponse:
        together.wait()
        return exchange(
            store, HOUSE, list(refresh_fields(tokens["refresh_token"]).items()), "192.0.2.1"
        )

    with ThreadPoolExecutor(AT_ONCE) as threads:
        responses = list(threads.map(refresh, range(AT_ONCE)))

    assert {it.status for it in responses} == {200}
    (access_token,) = {it.body["access_token"] for it in responses}
    (refresh_token,) = {it.body["refresh_token"] for it in responses}
    assert identify_bearer(store, access_token, "192.0.2.1").actor.name == "ann"
    again = exchange(store, HOUSE, list(refresh_fields(refresh_token).items()), "192.0.2.1")
    assert again.status == 200


def test_a_successor_is_kept_until_it_is_removed(store: Store, ann: Account) -> None:
    tokens, now = sign_in(store, ann), store.now_ms()
    with store.writing() as tx:
        query = "SELECT access_hash, refresh_hash FROM oauth_tokens"
        access_hash, refresh_hash = tx.connection.exec_driver_sql(query).one()
        rotate_pair(tx, access_hash)
        keep_successor(tx, access_hash, "sealed")
        assert tokens["refresh_token"] != refresh_hash

    for instant, expected in ((now, "sealed"), (now + 1, None)):
        with store.writing() as tx:
            assert has_successors(tx.connection, instant) is (expected is None)
            remove_successors(tx, instant)
            pair = find_pair_by_refresh(tx.connection, refresh_hash)
            assert pair is not None
            assert pair.successor == expected
