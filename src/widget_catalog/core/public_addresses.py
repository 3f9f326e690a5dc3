"""Which IP addresses are public: not of this machine, a private network, or a cloud's metadata
service.
"""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

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
