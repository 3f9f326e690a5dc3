"""Allowed redirect URIs, and the syntax of their setting."""

import pytest

from widget_catalog.accounts.settings import OWN_CLIENTS, OAuthClient, parse_clients

OWN = parse_clients(OWN_CLIENTS)["widget-cli"]
OTHER = OAuthClient("other", "Other Tool", ("https://other.example/back?a=1", "http://localhost"))


def test_our_own_tool_is_registered_on_every_loopback_address() -> None:
    addresses = (
        "http://127.0.0.1/callback",
        "http://[::1]/callback",
        "http://localhost/callback",
    )
    assert parse_clients(OWN_CLIENTS) == {
        "widget-cli": OAuthClient("widget-cli", "Widget CLI", addresses)
    }


@pytest.mark.parametrize(
    "address",
    ["http://127.0.0.1/callback", "http://127.0.0.1:1/callback", "http://127.0.0.1:65535/callback",
     "http://[::1]/callback", "http://[::1]:8080/callback", "http://localhost:3000/callback"],
)  # fmt: skip
def test_of_a_loopback_address_the_port_is_free(address: str) -> None:
    assert OWN.check_redirect_uri(address)


def test_everything_else_must_be_the_same_letter_by_letter() -> None:
    cases = [
        "", "/callback", "//127.0.0.1/callback", "http://127.0.0.1", "http://127.0.0.1/",
        "http://127.0.0.1/callback/", "http://127.0.0.1/Callback", "http://127.0.0.1/callback?a=1",
        "http://127.0.0.1/callback#", "http://127.0.0.1/callback#x",
        "http://127.0.0.1/x/../callback", "http://127.0.0.1//callback",
        "http://127.0.0.1:/callback", "http://127.0.0.1:8 0/callback",
        "http://127.0.0.1:123456/callback", "http://127.0.0.1:８０/callback",
        "https://127.0.0.1/callback", "https://127.0.0.1:80/callback", "HTTP://127.0.0.1/callback",
        "http://127.0.0.1.evil.example/callback", "http://127.0.0.1:80.evil.example/callback",
        "http://127.0.0.1:80@evil.example/callback", "http://127.0.0.1@evil.example/callback",
        "http://evil@127.0.0.1/callback", "http://127.0.0.2/callback",
        "http://2130706433/callback", "http://127.1/callback", "http://[::2]/callback",
        "http://[::1%25eth0]/callback", "http://LOCALHOST/callback",
        "http://localhost.evil.example/callback", "http://localhost:80\\@evil.example/callback",
        "http://evil.example/callback", "javascript:alert(1)", "http://127.0.0.1/callback\n",
        " http://127.0.0.1/callback",
    ]  # fmt: skip
    for address in cases:
        assert not OWN.check_redirect_uri(address)


def test_elsewhere_the_port_is_not_free() -> None:
    assert OTHER.check_redirect_uri("https://other.example/back?a=1")
    assert OTHER.check_redirect_uri("http://localhost:99")
    assert not OTHER.check_redirect_uri("https://other.example:443/back?a=1")
    assert not OTHER.check_redirect_uri("https://other.example:8443/back?a=1")
    assert not OTHER.check_redirect_uri("https://other.example/back")


def test_clients_stand_between_semicolons() -> None:
    text = " a Tool of A https://a.example/x ;; b B http://localhost/y https://b.example/z;"
    assert parse_clients(text) == {
        "a": OAuthClient("a", "Tool of A", ("https://a.example/x",)),
        "b": OAuthClient("b", "B", ("http://localhost/y", "https://b.example/z")),
    }
    assert parse_clients("") == {}


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("a", "a needs a name and at least one address to return to."),
        ("a Tool", "a needs a name and at least one address to return to."),
        ("a https://a.example/x", "a needs a name and at least one address to return to."),
        ("a/b Tool https://a.example", "'a/b' is not a client id: use letters, digits, '.', '_' "),
        ("a A https://a.example; a B https://b.example", "a is there twice."),
        ("a A http://a.example/x", "a: 'http://a.example/x' must be https, or http on a loopback"),
        ("a A https://a.example/#x", "a: 'https://a.example/#x' must be https, or http on a "),
        ("a A https://u@a.example/", "a: 'https://u@a.example/' must be https, or http on a "),
        ("a A ftp://localhost/x", "a: 'ftp://localhost/x' must be https, or http on a loopback"),
        ("a A https://", "a: 'https://' must be https, or http on a loopback address"),
        ("a A https://[x/", "a: 'https://[x/' must be https, or http on a loopback address"),
    ],
)
def test_a_error_in_the_setting_is_reported(text: str, error: str) -> None:
    with pytest.raises(ValueError, match=r".") as raised:
        parse_clients(text)
    assert str(raised.value).startswith(error)
