"""The key by which a limit counts a client: its address, or its network."""

from ipaddress import AddressValueError, IPv6Address, ip_network

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
