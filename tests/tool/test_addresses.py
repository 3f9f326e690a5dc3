"""URLs of catalogs as people type them, and names of widgets."""

import pytest

from widget_cli.addresses import is_private, is_same_origin, login_command, parse_key, parse_url
from widget_cli.errors import ToolError


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("https://catalog.example", "https://catalog.example"),
        ("https://Catalog.Example/", "https://catalog.example"),
        ("catalog.example", "https://catalog.example"),
        ("catalog.example:8443/widgets/", "https://catalog.example:8443/widgets"),
        ("localhost:8080", "http://localhost:8080"),
        ("127.0.0.1:8080", "http://127.0.0.1:8080"),
        ("[::1]:8080", "http://[::1]:8080"),
        ("http://catalog.example", "http://catalog.example"),
        (" https://catalog.example\n", "https://catalog.example"),
    ],
)
def test_an_address_has_one_form(typed: str, meant: str) -> None:
    assert parse_url(typed) == meant
    assert parse_url(meant) == meant


@pytest.mark.parametrize(
    "typed",
    ["", "https://", "ftp://x", "https://u:p@x", "https://x?a=b", "https://x#a", "https://x:y",
     "https://a b", "https://x/\x1b[2J"],
)  # fmt: skip
def test_what_is_no_address_is_refused(typed: str) -> None:
    with pytest.raises(ToolError, match="is not a valid catalog URL"):
        parse_url(typed)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://catalog.example", True),
        ("http://127.0.0.1:8080", True),
        ("http://[::1]", True),
        ("http://localhost", True),
        ("http://localhost.example", False),
        ("http://192.168.1.2", False),
    ],
)
def test_only_https_and_this_machine_are_private(url: str, expected: bool) -> None:
    assert is_private(url) is expected


def test_a_widget_is_named_with_or_without_its_sign() -> None:
    assert parse_key("ann/clock") == parse_key("@ann/clock") == ("ann", "clock")


@pytest.mark.parametrize("text", ["clock", "ann/", "/clock", "ann/clock/1", "Ann/clock", "@@a/b"])
def test_what_is_no_widget_is_refused(text: str) -> None:
    with pytest.raises(ToolError) as caught:
        parse_key(text)
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("https://catalog.example/put", "https://catalog.example", True),
        ("https://catalog.example:443/put", "https://Catalog.Example/widgets", True),
        ("http://localhost:8080/put", "http://127.0.0.1:8080", True),
        ("http://catalog.example", "https://catalog.example", False),
        ("https://catalog.example:8443", "https://catalog.example", False),
        ("https://catalog.example.evil.example", "https://catalog.example", False),
        ("http://127.0.0.1:8081/put", "http://127.0.0.1:8080", False),
        ("https://catalog.example:99999", "https://catalog.example", False),
    ],
)
def test_an_origin_is_scheme_host_and_port(one: str, other: str, expected: bool) -> None:
    assert is_same_origin(one, other) is expected


@pytest.mark.parametrize(
    ("url", "option"),
    [("https://catalog.example", ""), ("http://127.0.0.1:80", ""), ("http://nas", " --insecure")],
)
def test_the_command_to_sign_in_works_as_it_is_printed(url: str, option: str) -> None:
    assert login_command(url) == f"widget login {url}{option}"
