"""Names, addresses and passwords; and permissions in a scope."""

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from widget_catalog.core.actors import (
    COMMAND_LINE,
    RESERVED,
    RULES,
    TOKEN_RIGHTS,
    Account,
    Actor,
    Limits,
    Right,
    Role,
    Standing,
    Via,
    email_error,
    is_allowed,
    parse_username,
    password_error,
    reserved_names,
)
from widget_catalog.core.errors import InvalidAccount, NotAllowed
from widget_contract.names import Scope, is_name

NAMES = st.sampled_from(["ann", "acme", "eve"])
PLACES = st.tuples(NAMES, st.none() | st.sampled_from(["clock", "board"]))
RIGHTS = st.sampled_from(Right)
STANDINGS = st.builds(Standing, st.none() | st.sampled_from(Role), st.booleans())
KEYS = st.sampled_from(["ann/clock", "acme/clock", "acme/board"])
LIMITS = st.builds(
    Limits,
    rights=st.lists(st.sampled_from(TOKEN_RIGHTS), min_size=1, unique=True).map(tuple),
    scopes=st.lists(NAMES, max_size=2).map(tuple),
    widgets=st.lists(KEYS, max_size=2).map(tuple),
)


def an_actor(is_operator: bool = False, limits: Limits | None = None) -> Actor:
    account = Account(
        id=1,
        username=Scope("ann"),
        email="ann@example.org",
        is_operator=is_operator,
        is_disabled=False,
        created_at=datetime(2026, 1, 1, tzinfo=UTC),
    )
    return Actor(via=Via.SESSION if limits is None else Via.TOKEN, account=account, limits=limits)


ACTORS = st.builds(an_actor, st.booleans(), st.none() | LIMITS)

# Written out by hand, so that no rule changes unnoticed. O: operator, o: owner, a: admin,
# p: publisher, m: member, -: another account.
TABLE = {
    Right.PUBLISH: "oap",
    Right.YANK: "Ooa",
    Right.DEPRECATE: "Ooa",
    Right.LIST: "Ooa",
    Right.VIEW: "Ooapm",
    Right.NAME_PUBLISHERS: "oa",
    Right.READ_AUDIT: "Oo",
    Right.MANAGE_MEMBERS: "oa",
    Right.OWN: "o",
    Right.MAKE_OFFICIAL: "O",
    Right.REVOKE: "O",
}
WHO = {
    "o": Standing(Role.OWNER),
    "a": Standing(Role.ADMIN),
    "p": Standing(Role.MEMBER, is_publisher=True),
    "m": Standing(Role.MEMBER),
    "-": Standing(),
}


@pytest.mark.parametrize("right", Right)
def test_who_has_which_right(right: Right) -> None:
    allowed = {
        who
        for who, standing in WHO.items()
        if is_allowed(an_actor(), right, standing, "acme", "clock")
    }
    if is_allowed(an_actor(is_operator=True), right, Standing(), "acme", "clock"):
        allowed.add("O")
    assert allowed == set(TABLE[right])


def test_every_right_has_a_rule() -> None:
    assert set(RULES) == set(Right) == set(TABLE)


@given(ACTORS, RIGHTS, STANDINGS, PLACES)
def test_a_token_never_allows_more_than_its_account(
    actor: Actor, right: Right, standing: Standing, place: tuple[str, str | None]
) -> None:
    if is_allowed(actor, right, standing, *place):
        unlimited = msgspec.structs.replace(actor, limits=None)
        assert is_allowed(unlimited, right, standing, *place)


@given(LIMITS, st.booleans(), RIGHTS, STANDINGS, PLACES)
def test_a_token_allows_what_it_was_made_for_where_it_was_made_for(
    limits: Limits, is_operator: bool, right: Right, standing: Standing, place: Any
) -> None:
    scope, name = place
    is_for_it = right in limits.rights or right is Right.VIEW
    is_there = (
        not (limits.scopes or limits.widgets)
        or scope in limits.scopes
        or f"{scope}/{name}" in limits.widgets
    )
    itself = is_allowed(an_actor(is_operator), right, standing, *place)

    allowed = is_allowed(an_actor(is_operator, limits), right, standing, *place)

    assert allowed == (itself and is_for_it and is_there)


@given(LIMITS, st.booleans(), STANDINGS, PLACES)
def test_no_token_looks_after_people_or_says_what_is_official(
    limits: Limits, is_operator: bool, standing: Standing, place: Any
) -> None:
    actor = an_actor(is_operator, limits)
    for right in set(Right) - set(TOKEN_RIGHTS) - {Right.VIEW}:
        assert not is_allowed(actor, right, standing, *place)


@given(RIGHTS, PLACES, st.booleans())
def test_a_visitor_has_no_right_at_all(right: Right, place: Any, is_publisher: bool) -> None:
    """Even one who is still listed as a publisher, but is no longer a member."""
    assert not is_allowed(an_actor(), right, Standing(None, is_publisher), *place)


@given(PLACES)
def test_the_operator_never_publishes_in_others_scopes_nor_rules_them(place: Any) -> None:
    for actor in (an_actor(is_operator=True), COMMAND_LINE):
        for right in (Right.PUBLISH, Right.MANAGE_MEMBERS, Right.OWN):
            assert not is_allowed(actor, right, Standing(), *place)


@given(ACTORS, RIGHTS, PLACES)
def test_who_is_more_may_no_less(actor: Actor, right: Right, place: Any) -> None:
    if right in (Right.MAKE_OFFICIAL, Right.REVOKE):
        return
    may = [is_allowed(actor, right, WHO[who], *place) for who in "-ma" + "o"]
    assert may == sorted(may)
    operator = msgspec.structs.replace(actor, account=an_actor(is_operator=True).account)
    for standing in WHO.values():
        if is_allowed(actor, right, standing, *place):
            assert is_allowed(operator, right, standing, *place)


def test_the_command_line_is_the_operator_without_an_account() -> None:
    assert (COMMAND_LINE.name, COMMAND_LINE.is_operator) == ("operator", True)
    with pytest.raises(NotAllowed, match="This needs an account"):
        _ = COMMAND_LINE.account_id


def test_a_name_may_be_taken_unless_it_is_reserved() -> None:
    for name in ("ann", "0", "a-b", "x" * 64):
        assert parse_username(name) == name
    for name in RESERVED:
        with pytest.raises(InvalidAccount, match=f"The name {name} is reserved"):
            parse_username(name)


def test_every_reserved_name_could_be_one_else() -> None:
    for name in RESERVED:
        assert Scope.parse(name) == name
    assert {"api", "cdn", "uploads", "docs", "operator", "scopes", "publish"} <= RESERVED


@given(st.text(st.characters()))
def test_any_other_text_is_no_name(text: str) -> None:
    if is_name(text) and text not in RESERVED:
        assert parse_username(text) == text
        return
    with pytest.raises(InvalidAccount) as refused:
        parse_username(text)
    (sentence,) = refused.value.errors
    assert sentence.endswith(".")
    sentence.encode()


@pytest.mark.parametrize(
    "email", ["a@b", "ann@example.org", "a.b+c@x-y.example", "ü@bücher.example"]
)
def test_an_address_is_taken(email: str) -> None:
    assert email_error(email) is None


def test_what_is_no_address_is_reported_in_short() -> None:
    cases = [
        "", "a", "@", "a@", "@b", "a@b@c", "a b@c", "a@b c", "a@b\n", "\na@b", "a@.b", "a@b.",
        "a@b..", "a\0@b", "a@b\u202e", "a@\ud800", "a" * 251 + "@b.c", "a@" + "b" * 10_000_000,
        " a@b",
    ]  # fmt: skip
    for email in cases:
        error = email_error(email)

        assert error is not None
        assert error.endswith(" is not an e-mail address.")
        assert len(error) < 500
        error.encode()


def test_a_password_is_measured_by_its_length_alone() -> None:
    for password in ("x" * 12, " " * 12, "\0" * 12, "é" * 1000, "\ud800" * 12):
        assert password_error(password) is None
    assert password_error("x" * 11) == (
        "The password is too short: at least 12 characters are needed."
    )
    assert password_error("x" * 10_000_000) == (
        "The password is too long: at most 1,000 characters are taken."
    )


def test_the_list_of_reserved_names_can_be_extended_and_shortened() -> None:
    assert reserved_names("") == RESERVED
    assert reserved_names(" acme -team\nacme-2 -unknown") == RESERVED - {"team"} | {
        "acme",
        "acme-2",
    }
    for wrong in ("Acme", "-", "--team", "a,b", "é"):
        with pytest.raises(ValueError, match="cannot be a name"):
            reserved_names(f"ok {wrong}")
    with pytest.raises(InvalidAccount, match="The name acme is reserved"):
        parse_username("acme", reserved_names("acme"))
    assert parse_username("team", reserved_names("-team")) == "team"
