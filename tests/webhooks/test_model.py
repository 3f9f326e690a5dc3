"""Webhooks: signatures, allowed addresses, and the retry schedule."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widget_catalog.core.errors import InvalidRequest
from widget_catalog.core.networks import is_public, parse_networks
from widget_catalog.webhooks.model import (
    RETRIED_FOR_MS,
    new_webhook_secret,
    parse_types,
    parse_url,
    pause_ms,
    sign,
)
from widget_catalog.webhooks.settings import WebhookSettings

# Every kind of address that leads to a private machine, in any notation.
PRIVATE = [
    "0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.100.100.200", "127.0.0.1",
    "127.255.255.254", "168.63.129.16", "169.254.169.254", "172.16.0.1", "172.31.255.255",
    "192.0.0.192", "192.0.2.1", "192.168.1.1", "198.18.0.1", "198.51.100.1", "203.0.113.9",
    "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
    "::", "::1", "::127.0.0.1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:169.254.169.254",
    "::ffff:0:127.0.0.1", "64:ff9b::127.0.0.1", "64:ff9b::10.0.0.1", "64:ff9b::a9fe:a9fe",
    "64:ff9b:1::8.8.8.8", "100::1", "2001:db8::1", "2001::1", "2002:7f00:1::", "2002:a00:1::1",
    "2002:a9fe:a9fe::", "fc00::1", "fd00:ec2::254", "fe80::1", "fe80::1%eth0", "fec0::1",
    "ff02::1", "2606:4700::1%1",
]  # fmt: skip
PUBLIC = ["1.1.1.1", "8.8.8.8", "93.184.215.14", "2606:4700::1111", "::ffff:8.8.8.8",
          "64:ff9b::8.8.8.8"]  # fmt: skip


def test_an_address_of_ones_own_network_is_not_public() -> None:
    for address in PRIVATE:
        assert not is_public(address)


@pytest.mark.parametrize("address", PUBLIC)
def test_an_address_of_the_internet_is_public(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize("text", ["", "localhost", "127.1", "0x7f000001", "2130706433", "1.1.1"])
def test_what_is_no_address_is_not_public(text: str) -> None:
    assert not is_public(text)


@given(st.ip_addresses(v=4))
def test_an_ipv4_address_is_judged_the_same_inside_ipv6(address: object) -> None:
    if not is_public(str(address)):
        for wrapped in (f"::ffff:{address}", f"64:ff9b::{address}", f"::{address}"):
            assert not is_public(wrapped), wrapped


def test_an_allowed_network_is_public_and_nothing_beside_it() -> None:
    allowed = parse_networks("10.1.0.0/16 fd00::/8")

    assert is_public("10.1.2.3", allowed)
    assert is_public("::ffff:10.1.2.3", allowed)
    assert is_public("fd12::1", allowed)
    assert not is_public("10.2.0.1", allowed)
    assert not is_public("127.0.0.1", allowed)


def test_a_signature_is_that_of_the_standard() -> None:
    """The published example of Standard Webhooks."""
    secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
    signed = sign(secret, "msg_p5jXN8AQM9LWM0D4loKWxJek", 1614265330, b'{"test": 2432232314}')
    assert signed == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_secrets_differ_and_sign() -> None:
    one, other = new_webhook_secret(), new_webhook_secret()
    assert one.startswith("whsec_")
    assert sign(one, "a", 1, b"") != sign(other, "a", 1, b"")


def test_what_is_no_secret_signs_nothing() -> None:
    with pytest.raises(ValueError, match="base64"):
        sign("whsec_?", "a", 1, b"")


def test_pauses_grow_and_a_day_has_a_bounded_number_of_attempts() -> None:
    assert [pause_ms(it, lambda: 1.0) for it in (1, 2, 3)] == [5_000, 20_000, 80_000]
    assert pause_ms(1, lambda: 0.0) == 3_750
    assert pause_ms(10_000, lambda: 1.0) == 6 * 3_600_000
    waited, attempts = 0, 0
    while waited < RETRIED_FOR_MS:
        attempts += 1
        waited += pause_ms(attempts, lambda: 0.0)
    assert attempts <= 15


def test_an_address_that_nothing_may_be_sent_to_is_refused() -> None:
    cases = [
        "", "hooks.example", "http://hooks.example/", "ftp://hooks.example/", "https://",
        "https://user:word@hooks.example/", "https://hooks.example/#part", "https://127.0.0.1/",
        "https://[::1]/", "https://[fe80::1%25eth0]/", "https://2130706433/",
        "https://localhost/x", "https://LOCALHOST./", "https://db.internal/",
        "https://[::ffff:10.0.0.1]/", "https://169.254.169.254/latest/meta-data/",
        "https://hooks.example:0/", "https://hooks.example/a b",
        "https://hooks.example\\@127.0.0.1/", "https://[::1", "https://0x7f.1/",
        "https://0x7f000001/", "https://a..b/", "https://.example.org/", "https://*/",
        f"https://{'x' * 64}.example/", "https://hooks.example/\x07y",
        "https://hooks.example/" + "x" * 2000,
    ]  # fmt: skip
    for url in cases:
        with pytest.raises(InvalidRequest):
            parse_url(url, WebhookSettings())


def test_a_refusal_names_the_setting_that_allows_the_address() -> None:
    with pytest.raises(InvalidRequest, match="The setting webhook_http of the catalog"):
        parse_url("http://hooks.example/", WebhookSettings())
    with pytest.raises(InvalidRequest, match="The setting webhook_networks of the catalog"):
        parse_url("https://10.0.0.1/", WebhookSettings())
    with pytest.raises(InvalidRequest) as refused:
        parse_url("ftp://hooks.example/", WebhookSettings())
    assert str(refused.value) == "url: must begin with https://."


def test_settings_allow_http_and_networks() -> None:
    settings = WebhookSettings(webhook_http=True, webhook_networks="127.0.0.0/8")
    for url in ("http://127.0.0.1:9/x?y=z", "https://a_b-c.example./", "http://localhost/"):
        assert parse_url(url, settings) == url
    with pytest.raises(InvalidRequest):
        parse_url("http://10.0.0.1/", settings)


def test_types_are_those_of_the_feed() -> None:
    assert parse_types(["yanked", "published"]) == ("published", "yanked")
    assert parse_types([]) == ()
    with pytest.raises(InvalidRequest, match="published"):
        parse_types(["exploded"])
