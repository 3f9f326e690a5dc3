"""Where browsers create passkeys, and the messages where they do not."""

import pytest

from widget_catalog.accounts.second_factor.managing import passkey_name_error
from widget_catalog.accounts.second_factor.passkeys import PasskeySite, site_at


@pytest.mark.parametrize(
    ("url", "host", "origin"),
    [
        ("https://catalog.example", "catalog.example", "https://catalog.example"),
        ("https://Catalog.Example:8443/x", "catalog.example", "https://catalog.example:8443"),
        ("http://localhost:8080", "localhost", "http://localhost:8080"),
        ("http://catalog.localhost", "catalog.localhost", "http://catalog.localhost"),
    ],
)
def test_passkeys_are_made_for_a_host_name(url: str, host: str, origin: str) -> None:
    site = site_at(url, "Widgets")
    assert site == PasskeySite("Widgets", host, origin)
    assert site.passkey_error is None


@pytest.mark.parametrize("url", ["http://127.0.0.1:8080", "https://192.0.2.7", "https://[::1]:8"])
def test_an_address_is_no_host_name(url: str) -> None:
    error = site_at(url, "Widgets").passkey_error
    assert error is not None
    assert error.startswith("Passkeys need a host name, and this catalog is reached by the address")


def test_without_https_there_are_none() -> None:
    assert site_at("http://catalog.lan", "Widgets").passkey_error == (
        "Passkeys need https, and this catalog is reached at http://catalog.lan. The operator can "
        "set base_url to an https address."
    )


def test_a_name_is_one_that_people_can_see() -> None:
    assert passkey_name_error("Blue key 🔑") is None
    assert passkey_name_error("") == "The name must not be empty."
    assert "too long" in (passkey_name_error("x" * 61) or "")
    assert "U+202E" in (passkey_name_error("a\u202eb") or "")
