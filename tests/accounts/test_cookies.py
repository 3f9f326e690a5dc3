"""Cookies set by other hosts of the same domain, or by an earlier release, are ignored."""

import base64
from pathlib import Path

import pytest

from accounts.signing_in import is_in, secret_of
from support.people import Person, signed_in
from support.site_with_people import BuiltPeople, People


def _with(people: People, cookie: str) -> Person:
    return Person(people.site, "ann", {"cookie": cookie})


def test_over_https_a_cookie_without_the_prefix_does_not_count(people: People) -> None:
    secret = secret_of(people.ann)

    assert is_in(_with(people, f"__Host-session={secret}"))
    assert not is_in(_with(people, f"session={secret}"))
    assert not is_in(_with(people, f"__Secure-session={secret}"))


def test_a_planted_cookie_changes_nothing_for_somebody_who_is_signed_in(people: People) -> None:
    """Another host can set `session` for the whole domain, but nothing that starts
    with `__Host-`.
    """
    mine, planted = secret_of(people.ann), secret_of(people.eve)
    for line in (
        f"session={planted}; __Host-session={mine}",
        f"__Host-session={mine}; session={planted}",
    ):
        assert _with(people, line).get("/api/auth/session").json()["username"] == "ann"


def test_of_two_cookies_with_one_name_none_counts(people: People) -> None:
    mine, planted = secret_of(people.ann), secret_of(people.eve)

    assert not is_in(_with(people, f"__Host-session={mine}; __Host-session={planted}"))
    assert is_in(_with(people, f"__Host-session={mine}; __Host-session={mine}"))


def test_over_http_of_two_cookies_with_one_name_none_counts(
    built_people: BuiltPeople, tmp_path: Path
) -> None:
    with People(built_people, tmp_path / "d", base_url="http://localhost:8080") as people:
        mine = signed_in(people.site, "ann").headers["cookie"]
        planted = signed_in(people.site, "eve").headers["cookie"]

        assert mine.startswith("session=wcs_")
        assert is_in(_with(people, f"theme=dark; {mine}"))
        assert not is_in(_with(people, f"{planted}; {mine}"))
        assert not is_in(_with(people, f"__Host-{mine}"))


@pytest.mark.parametrize("header", ['{"alg":"HS256","crit":1}', '{"alg":[]}', "1", "[]", "é"])
def test_a_signed_cookie_that_makes_no_sense_is_none(people: People, header: str) -> None:
    forged = base64.urlsafe_b64encode(header.encode()).decode().rstrip("=") + ".e30.c2ln"
    visitor = _with(people, f"__Host-passkey-asked={forged}; __Host-half-signed-in={forged}")

    for address, body in (
        ("/api/auth/sign-in/passkey", {"passkey": {}}),
        ("/api/auth/sign-in/second-factor", {"code": "123456"}),
    ):
        assert visitor.post(address, body).status == 401
    assert visitor.get(f"/reset-password?link={forged}").status == 403
