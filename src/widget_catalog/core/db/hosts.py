"""The hosts of a database's address.

libpq tries the hosts of an address in order, each with the connection timeout. A lost machine
refuses nothing: a connection to it fails only after the timeout. So all connections of a node start
with the host that its follower has found.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import psycopg

_LISTS = ("host", "hostaddr", "port")


def begin_with(address: str, host: int) -> str:
    """The same address, with the hosts in order, but starting with this one."""
    from psycopg.conninfo import make_conninfo

    hosts = _hosts(address)
    first = host % len(hosts)
    hosts = [*hosts[first:], *hosts[:first]]
    return make_conninfo(
        address, **{key: ",".join(it[key] for it in hosts) for key in _LISTS if key in hosts[0]}
    )


def find_host(address: str, connection: "psycopg.Connection[Any]") -> int:
    """The number of the host that this is connected to."""
    hosts = _hosts(address)
    found = (connection.info.host, str(connection.info.port))
    for number, it in enumerate(hosts):
        if (it.get("host") or it.get("hostaddr"), it.get("port", found[1])) == found:
            return number
    return 0


def _hosts(address: str) -> list[dict[str, str]]:
    """The parts of the address for each host; one without any if libpq would reject it."""
    from psycopg.conninfo import conninfo_to_dict

    given = conninfo_to_dict(address)
    lists = {key: str(given[key]).split(",") for key in _LISTS if key in given}
    count = max((len(it) for key, it in lists.items() if key != "port"), default=1)
    if any(len(it) not in (1, count) for it in lists.values()):
        return [{}]
    return [{key: it[i % len(it)] for key, it in lists.items()} for i in range(count)]
