"""How passwords and secrets are stored."""

import time

import pytest

from widget_catalog.core.credentials import _nobodys_hash as nobodys_hash
from widget_catalog.core.credentials import hash_password, is_outdated, is_password, new_secret
from widget_catalog.core.tracing import Trace, current


@pytest.fixture(autouse=True)
def passwords_are_quick() -> None:
    """Here they are not."""


def test_a_password_is_kept_at_a_cost_that_guessing_feels() -> None:
    """At least what RFC 9106 recommends if memory is scarce: 64 MiB, three passes."""
    kept = hash_password("correct horse battery")

    assert kept.startswith("$argon2id$v=19$m=65536,t=3,p=4$")
    assert is_password(kept, "correct horse battery")
    assert not is_password(kept, "correct horse batterz")
    assert not is_outdated(kept)


def test_where_there_is_no_password_none_is_right() -> None:
    for guess in ("", "correct horse battery", "\ud800"):
        assert not is_password(None, guess)


def test_the_hash_that_the_first_sign_in_makes_is_in_the_time_of_its_parts() -> None:
    nobodys_hash.cache_clear()
    trace = Trace("an id")
    token = current.set(trace)
    try:
        began = time.perf_counter()
        is_password(None, "correct horse battery")
        took_s = time.perf_counter() - began
    finally:
        current.reset(token)

    # It is half of the time.
    assert trace.parts_s["password_hashing"] > 0.8 * took_s


def test_a_hash_of_lower_cost_is_outdated() -> None:
    assert is_outdated("$argon2id$v=19$m=8,t=1,p=1$c2FsdHNhbHQ$TkLnv8TNYjMz6mcTk5vGdg")


def test_no_two_secrets_are_alike() -> None:
    secrets = {new_secret("wct_") for _ in range(1_000)}

    assert len(secrets) == 1_000
    assert {len(it) for it in secrets} == {47}
