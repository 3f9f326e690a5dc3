"""Codes of authenticator apps, as specified by the standard; recovery codes."""

import re

import pytest

from widget_catalog.accounts.second_factor.pages import qr_code
from widget_catalog.accounts.second_factor.proving import (
    find_step,
    hash_recovery_code,
    is_app_code,
    new_recovery_codes,
    setup_address,
)

# The secret and times of RFC 6238, appendix B, with the last six digits of its codes.
SECRET = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"
STANDARD = [(59, "287082"), (1111111109, "081804"), (1234567890, "005924"), (20000000000, "353130")]


@pytest.mark.parametrize(("at_s", "code"), STANDARD)
def test_a_code_belongs_to_its_time(at_s: int, code: str) -> None:
    step = at_s // 30
    assert find_step(SECRET, code, at_s * 1000) == step
    for way in (f" {code[:3]} {code[3:]}", f"{code[:3]}-{code[3:]}"):
        assert find_step(SECRET, way, at_s * 1000) == step


def test_a_code_is_valid_for_a_step_before_and_after_and_no_longer() -> None:
    found = [find_step(SECRET, "081804", (1111111109 + late) * 1000) for late in (-60, -30, 30, 60)]
    assert found == [None, 37037036, 37037036, None]


def test_a_code_of_a_step_that_was_used_is_not_found_again() -> None:
    now_ms = 1111111109_000
    assert find_step(SECRET, "081804", now_ms, after=37037035) == 37037036
    assert find_step(SECRET, "081804", now_ms, after=37037036) is None


@pytest.mark.parametrize("code", ["", "81804", "0081804", "٠٨١٨٠٤", "081805", "\ud800", "x" * 9999])
def test_anything_else_is_wrong(code: str) -> None:
    assert find_step(SECRET, code, 1111111109_000) is None


def test_an_app_reads_who_and_where_from_the_address() -> None:
    address = setup_address(SECRET, "ann", "My: Catalog")
    assert address == (f"otpauth://totp/My%3A%20Catalog:ann?secret={SECRET}&issuer=My%3A%20Catalog")
    assert qr_code(address).startswith("data:image/svg+xml")


def test_recovery_codes_are_ten_all_different_and_easy_to_read() -> None:
    codes = new_recovery_codes()
    assert len(set(codes)) == 10
    for code in codes:
        assert re.fullmatch(r"([a-hjkmnp-z2-9]{4}-){3}[a-hjkmnp-z2-9]{4}", code)
        assert not is_app_code(code)


def test_a_recovery_code_may_be_typed_as_one_likes() -> None:
    assert hash_recovery_code("ABCD efgh\tjkmn PQRS") == hash_recovery_code("abcd-efgh-jkmn-pqrs")
    assert hash_recovery_code("abcd-efgh-jkmn-pqrt") != hash_recovery_code("abcd-efgh-jkmn-pqrs")


def test_six_digits_are_a_code_of_an_app() -> None:
    assert is_app_code("123 456")
    assert not is_app_code("١٢٣٤٥٦")
