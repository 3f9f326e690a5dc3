"""The key by which a limit counts a client."""

from ipaddress import IPv4Address, IPv6Address, IPv6Network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widget_catalog.core.networks import is_this_machine, network_of


def test_ipv6_counts_by_its_64_and_ipv4_by_its_address() -> None:
    cases = [
        ("192.0.2.7", "192.0.2.7"),
        ("192.0.2.7:4711", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:DB8:1:2::1", "2001:db8:1:2::/64"),
        ("[2001:db8:1:2::1]", "2001:db8:1:2::/64"),
        ("[2001:db8:1:2::1]:4711", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::1", "::/64"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("[::ffff:192.0.2.7]:4711", "192.0.2.7"),
        ("::ffff:c000:207", "192.0.2.7"),
        ("", ""),
        ("unknown", "unknown"),
        ("a:b:c", "a:b:c"),
        ("[", "["),
        ("x" * 1000, "x" * 100),
        (":" * 1000, ":" * 100),
    ]
    for address, network in cases:
        assert network_of(address) == network


@given(st.ip_addresses(v=6), st.integers(0, 2**64 - 1))
def test_all_addresses_of_a_64_are_one_and_those_of_two_are_two(
    address: IPv6Address, other: int
) -> None:
    neighbour = IPv6Address(int(address) >> 64 << 64 | other)
    if address.ipv4_mapped is None and neighbour.ipv4_mapped is None:
        assert network_of(str(address)) == network_of(f"[{neighbour.exploded}]:1")
        assert neighbour in IPv6Network(network_of(str(address)))
    elsewhere = IPv6Address(int(address) ^ 1 << 64)
    assert network_of(str(elsewhere)) != network_of(str(address))


@given(st.ip_addresses(v=4))
def test_an_ipv4_address_is_the_same_however_it_is_written(address: IPv4Address) -> None:
    assert network_of(f"::ffff:{address}") == network_of(str(address)) == str(address)


@given(st.text())
def test_whatever_a_proxy_sends_is_taken(text: str) -> None:
    assert len(network_of(text)) <= 100


@pytest.mark.parametrize(
    ("address", "is_here"),
    [
        ("127.0.0.1", True),
        ("127.8.8.8", True),
        ("::1", True),
        ("::ffff:127.0.0.1", True),
        ("192.0.2.1", False),
        ("10.0.0.1", False),
        ("2001:db8::1", False),
        ("unknown", False),
        ("", False),
    ],
)
def test_loopback_addresses_are_this_machine(address: str, is_here: bool) -> None:
    assert is_this_machine(network_of(address)) is is_here
