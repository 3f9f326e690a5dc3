"""The hosts in a PostgreSQL address, and the order in which they are tried.

A lost machine refuses nothing: a connection to it fails only after the timeout. So the follower
tries the next host in parallel, and all other connections of its node start with the host that it
has found.
"""

import contextlib
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed, wait
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from psycopg import Connection

T = TypeVar("T")

# How long to wait for a host before trying the next one in parallel.
_HEAD_START_S = 0.25
# How soon failed hosts are tried again while another one is pending.
_ROUND_S = 1.0
_LISTS = ("host", "hostaddr", "port")


def split_hosts(address: str) -> list[str]:
    """An address for each host, in order."""
    from psycopg.conninfo import make_conninfo

    return [make_conninfo(address, **it) for it in _hosts(address)]


def begin_with(address: str, host: int) -> str:
    """The same address, with the hosts in order, but starting with this one."""
    from psycopg.conninfo import make_conninfo

    hosts = _rotated(_hosts(address), host)
    return make_conninfo(
        address, **{key: ",".join(it[key] for it in hosts) for key in _LISTS if key in hosts[0]}
    )


def connect_to_any(addresses: Sequence[str], first: int) -> "tuple[int, Connection[Any]]":
    """Connect to one of these hosts, and return its number. The `first` is preferred to those that
    follow, as long as it responds. Failed hosts are retried until the timeout; then this raises
    the driver's error.
    """
    import psycopg

    order = _rotated(range(len(addresses)), first)
    threads = ThreadPoolExecutor(len(order), thread_name_prefix="connecting")
    attempts: dict[int, Future[psycopg.Connection[Any]]] = {}
    try:
        while True:
            for host in order:
                if host not in attempts:
                    attempts[host] = threads.submit(_connect, addresses[host])
                    wait([attempts[host]], _HEAD_START_S)
                if _has_succeeded(attempts[host]):
                    break
            with contextlib.suppress(TimeoutError):
                for done in as_completed(attempts.values(), _ROUND_S):
                    if _has_succeeded(done):
                        return _choose(attempts, done)
            if all(_has_failed(it) for it in attempts.values()):
                faults = "; ".join(str(it.exception()) for it in attempts.values())
                raise psycopg.OperationalError(faults)
            attempts = {host: it for host, it in attempts.items() if not _has_failed(it)}
    finally:
        threads.shutdown(wait=False)


def _hosts(address: str) -> list[dict[str, str]]:
    """The parts of the address for each host; a single one without details if libpq would reject
    it.
    """
    from psycopg.conninfo import conninfo_to_dict

    given = conninfo_to_dict(address)
    lists = {key: str(given[key]).split(",") for key in _LISTS if key in given}
    count = max((len(it) for key, it in lists.items() if key != "port"), default=1)
    if any(len(it) not in (1, count) for it in lists.values()):
        return [{}]
    return [{key: it[i % len(it)] for key, it in lists.items()} for i in range(count)]


def _rotated(them: Sequence[T], first: int) -> list[T]:
    first %= len(them)
    return [*them[first:], *them[:first]]


def _connect(address: str) -> "Connection[Any]":
    import psycopg

    return psycopg.connect(address, autocommit=True)


def _has_succeeded(attempt: "Future[Any]") -> bool:
    return attempt.done() and attempt.exception() is None


def _has_failed(attempt: "Future[Any]") -> bool:
    return attempt.done() and attempt.exception() is not None


def _choose(
    attempts: "dict[int, Future[Connection[Any]]]", chosen: "Future[Connection[Any]]"
) -> "tuple[int, Connection[Any]]":
    (number,) = (host for host, it in attempts.items() if it is chosen)
    for it in attempts.values():
        if it is not chosen:
            it.add_done_callback(_close)
    return number, chosen.result()


def _close(attempt: "Future[Connection[Any]]") -> None:
    """Another connection was faster."""
    if _has_succeeded(attempt):
        attempt.result().close()
