"""The state of the OAuth server, on both databases."""

import pytest

from widget_catalog.accounts.oauth.store import (
    GRACE_MS,
    Code,
    Device,
    Grant,
    TokenPair,
    add_code,
    add_device,
    add_grant,
    add_pair,
    find_access,
    find_code,
    find_device,
    find_device_by_user_code,
    find_grant,
    find_pair,
    find_pair_by_refresh,
    remove_device,
    remove_expired,
    remove_grant,
    remove_grants,
    rotate_pair,
    update_device,
    use_code,
)
from widget_catalog.accounts.store import add_account, take_scope
from widget_catalog.core.actors import Account
from widget_catalog.core.db.engine import Store
from widget_contract.names import Scope


@pytest.fixture
def ann(store: Store) -> Account:
    with store.writing() as tx:
        take_scope(tx, Scope("ann"), "personal")
        return add_account(tx, Scope("ann"), "ann@example.org", None, is_operator=False)


def a_code(ann: Account, name: str, expires_at: int) -> Code:
    return Code(name, "g", ann.id, "tool", "http://localhost/", "challenge", "", expires_at, None)


def a_pair(name: str, grant_id: str, now_ms: int, refresh_ms: int = 1000) -> TokenPair:
    ends = (now_ms + 100, now_ms + refresh_ms)
    return TokenPair(f"access {name}", f"refresh {name}", grant_id, now_ms, *ends, None)


def a_grant(ann: Account, id_: str) -> Grant:
    return Grant(id_, ann.id, "tool", "openid", 1)


def test_a_code_is_kept_and_marked_as_used(store: Store, ann: Account) -> None:
    code = a_code(ann, "c", store.now_ms() + 1)
    with store.writing() as tx:
        add_code(tx, code)
        use_code(tx, "c")

    with store.reading() as connection:
        assert find_code(connection, "c") == code._replace(used_at=store.now_ms())
        assert find_code(connection, "other") is None


def test_a_pair_is_found_by_either_secret_until_its_grant_is_ended(
    store: Store, ann: Account
) -> None:
    now = store.now_ms()
    with store.writing() as tx:
        for id_ in ("g", "h"):
            add_grant(tx, a_grant(ann, id_))
            add_pair(tx, a_pair(id_, id_, now))
    with store.reading() as connection:
        assert find_pair(connection, "access g") == a_pair("g", "g", now)
        assert find_pair(connection, "refresh g") == a_pair("g", "g", now)
        assert find_pair_by_refresh(connection, "refresh g") == a_pair("g", "g", now)
        assert find_pair_by_refresh(connection, "access g") is None
        assert find_access(connection, "access g", now) == (a_grant(ann, "g"), ann)
        assert find_access(connection, "access g", now + 100) is None

    with store.writing() as tx:
        remove_grant(tx, "g")

    with store.reading() as connection:
        assert find_grant(connection, "g") is None
        assert find_pair(connection, "access g") is None
        assert find_access(connection, "access h", now) == (a_grant(ann, "h"), ann)


def test_a_rotated_pair_is_soon_invalid_but_still_known(store: Store, ann: Account) -> None:
    now = store.now_ms()
    with store.writing() as tx:
        add_grant(tx, a_grant(ann, "g"))
        pair = a_pair("g", "g", now)._replace(access_expires_at=now + 2 * GRACE_MS)
        add_pair(tx, pair)
        rotate_pair(tx, "access g")

    with store.reading() as connection:
        assert find_access(connection, "access g", now + GRACE_MS - 1) is not None
        assert find_access(connection, "access g", now + GRACE_MS) is None
        rotated = find_pair_by_refresh(connection, "refresh g")
        assert rotated == pair._replace(rotated_at=now)


def test_what_is_over_is_forgotten_and_grants_without_tokens_with_it(
    store: Store, ann: Account
) -> None:
    now = store.now_ms()
    with store.writing() as tx:
        add_code(tx, a_code(ann, "old", now))
        add_code(tx, a_code(ann, "new", now + 1))
        for id_ in ("g", "h"):
            add_grant(tx, a_grant(ann, id_))
        add_pair(tx, a_pair("old", "g", now, refresh_ms=0))
        add_pair(tx, a_pair("other", "h", now, refresh_ms=0))
        add_pair(tx, a_pair("new", "h", now, refresh_ms=1))
        add_device(tx, Device("old", "AAAA", "tool", "", now, None, None, False))
        add_device(tx, Device("new", "BBBB", "tool", "", now + 1, None, None, False))

        remove_expired(tx)

    with store.reading() as connection:
        assert [find_code(connection, it) is None for it in ("old", "new")] == [True, False]
        assert [find_grant(connection, it) is None for it in ("g", "h")] == [True, False]
        pairs = [find_pair(connection, f"access {it}") for it in ("old", "other", "new")]
        assert [it is None for it in pairs] == [True, True, False]
        assert [find_device(connection, it) is None for it in ("old", "new")] == [True, False]


def test_all_of_an_account_is_ended_at_once(store: Store, ann: Account) -> None:
    now = store.now_ms()
    with store.writing() as tx:
        add_grant(tx, a_grant(ann, "g"))
        add_pair(tx, a_pair("g", "g", now))
        add_code(tx, a_code(ann, "c", now + 1))
        add_device(tx, Device("mine", "AAAA", "tool", "", now + 1, None, ann.id, False))
        add_device(tx, Device("nobody's", "BBBB", "tool", "", now + 1, None, None, False))

        remove_grants(tx, ann.id)

    with store.reading() as connection:
        assert find_access(connection, "access g", now) is None
        assert find_code(connection, "c") is None
        assert find_device(connection, "mine") is None
        assert find_device(connection, "nobody's") is not None


def test_a_device_waits_is_let_in_and_is_gone(store: Store, ann: Account) -> None:
    device = Device("d", "BCDFGHJK", "tool", "openid", store.now_ms() + 1, None, None, False)
    with store.writing() as tx:
        add_device(tx, device)
        update_device(tx, "d", account_id=ann.id, last_polled_at=5)
        found = find_device_by_user_code(tx.connection, "BCDFGHJK")
        assert found == device._replace(account_id=ann.id, last_polled_at=5)
        remove_device(tx, "d")
        assert find_device_by_user_code(tx.connection, "BCDFGHJK") is None
