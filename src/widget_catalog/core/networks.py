"""Addresses: the network of a client, for limits; and which ones are public.

Not public is what belongs to this machine, a private network, or a cloud's metadata service.
"""

import socket
from collections.abc import Callable, Sequence
from ipaddress import (
    AddressValueError,
    IPv4Address,
    IPv4Network,
    IPv6Address,
    IPv6Network,
    ip_address,
    ip_network,
)

# Whoever has one IPv6 address usually has the whole /64: 2^64 addresses.
_PREFIX_BITS = 64
_MAX_CHARACTERS = 100
# The network of ::1, the only address of it in use.
_LOOPBACK_IPV6 = "::/64"


def network_of(address: str) -> str:
    """The /64 of an IPv6 address; an IPv4 address itself, also if it is IPv4-mapped.

    Used only by limits: logs keep the full address. Anything else is returned unchanged, because a
    proxy may send anything in `X-Forwarded-For`.
    """
    if address.count(":") < 2:  # IPv4, possibly with a port.
        return address.partition(":")[0][:_MAX_CHARACTERS]
    written = address[1:].partition("]")[0] if address.startswith("[") else address
    try:
        parsed = IPv6Address(written.partition("%")[0])
    except AddressValueError:
        return address[:_MAX_CHARACTERS]
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    prefix = int(parsed) >> _PREFIX_BITS << _PREFIX_BITS
    return f"{IPv6Address(prefix)}/{_PREFIX_BITS}"


def is_this_machine(network: str) -> bool:
    """Whether this result of `network_of` is a loopback address."""
    try:
        return ip_network(network).is_loopback or network == _LOOPBACK_IPV6
    except ValueError:
        return False


Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

# NAT64 (RFC 6052): the last 32 bits are the IPv4 address of the destination.
_NAT64 = IPv6Network("64:ff9b::/96")
# Networks that Python's list of private ones may lack: protocol assignments, local NAT64 (RFC
# 8215), and Azure's platform address, which looks public.
_MORE = (
    IPv4Network("192.0.0.0/24"),
    IPv4Network("168.63.129.16/32"),
    IPv6Network("64:ff9b:1::/48"),
)


def parse_networks(text: str) -> tuple[Network, ...]:
    """Networks separated by spaces. Raises ValueError if one is invalid."""
    return tuple(ip_network(it) for it in text.split())


def is_public(text: str, allowed: Sequence[Network] = ()) -> bool:
    """Whether this address, and every IPv4 address embedded in it, is public or in an allowed
    network.

    `text` is a numeric address, as returned by a resolver; with a zone it is never public.
    """
    try:
        address = ip_address(text)
    except ValueError:
        return False
    if isinstance(address, IPv4Address):
        return _is_good(address, allowed)
    if address.ipv4_mapped is not None:
        return _is_good(address.ipv4_mapped, allowed)
    if address in _NAT64:
        return _is_good(IPv4Address(int(address) & 0xFFFF_FFFF), allowed)
    # Tunnels: 6to4 and Teredo.
    inner = [it for it in (address.sixtofour, *(address.teredo or ())) if it is not None]
    return all(_is_good(it, allowed) for it in (address, *inner))


def _is_good(address: Address, allowed: Sequence[Network]) -> bool:
    if any(address in it for it in allowed):
        return True
    if getattr(address, "scope_id", None) or any(address in it for it in _MORE):
        return False
    return address.is_global and not (
        address.is_multicast
        or address.is_reserved
        or address.is_private
        or address.is_loopback
        or address.is_link_local
        or address.is_unspecified
        or getattr(address, "is_site_local", False)
    )


Resolve = Callable[[str, int], list[str]]


def resolve(host: str, port: int) -> list[str]:
    """Every address of a host, by the system's resolver."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(it[4][0]) for it in found))
