"""The catalog compared with nginx and the bare server: the same bytes, the same
client, in turns.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean, median
from typing import NamedTuple

from .client import Connection, Reply, request
from .load import Load, run_wrk, write_requests
from .measures import BenchError, Limit, Outcome, Served, Unit, median_ratio
from .rig import Rig
from .servers import Server, running_bare, running_nginx

_WARM_UP_S = 1
_LARGEST_HEAD = 700


class Traffic(NamedTuple):
    """The requests to the catalog; `body` is a typical full response, as sent."""

    requests: list[bytes]
    status: int
    headers: Mapping[str, str]
    body: bytes


class Contender(NamedTuple):
    name: str
    server: Server
    requests: list[bytes]


def survey(
    server: Server,
    targets: Iterable[str],
    headers: Mapping[str, str] | None = None,
    is_wanted: Callable[[Reply], bool] = lambda _: True,
) -> Traffic:
    """Send every request once, keep those that match, and determine a typical response."""
    headers = headers or {}
    requests = [request(target, headers) for target in targets]
    kept: list[bytes] = []
    bodies: list[bytes] = []
    with Connection(server.port) as connection:
        for raw in requests:
            reply = connection.ask(raw)
            if reply.status != 200:
                raise BenchError(f"{raw.decode()!r} is answered with {reply.status}.")
            if is_wanted(reply):
                kept.append(raw)
                bodies.append(reply.body)
    if not kept:
        raise BenchError("No request is answered as this scenario wants it.")
    mean = fmean(map(len, bodies))
    typical = min(bodies, key=lambda body: abs(len(body) - mean))
    return Traffic(kept, 200, headers, typical)


def survey_known(
    server: Server, targets: Iterable[str], headers: Mapping[str, str] | None = None
) -> Traffic:
    """The traffic of a client that has every response already, so that each is a 304."""
    headers = headers or {}
    known: list[bytes] = []
    reply = None
    with Connection(server.port) as connection:
        for target in targets:
            reply = connection.ask(request(target, headers))
            raw = request(target, {**headers, "If-None-Match": reply.header("etag")})
            known.append(raw)
            if connection.ask(raw).status != 304:
                raise BenchError(f"{raw.decode()!r} is not answered with 304.")
    assert reply is not None
    return Traffic(known, 304, headers, reply.body)


def side_by_side(
    rig: Rig,
    catalog: Server,
    traffic: Traffic,
    what: str,
    wanted: Limit | None = None,
    unit: Unit = "of nginx",
    peers: Sequence[Contender] = (),
) -> Outcome:
    """The CPU time of a request, in µs or as a ratio; throughput is beside it."""
    sent = traffic.body if traffic.status == 200 else b""
    with (
        running_nginx(rig, traffic.body) as nginx,
        running_bare(rig, traffic.status, sent) as bare,
    ):
        plain = request("/body", traffic.headers)
        if traffic.status == 304:
            known = {"If-None-Match": nginx.ask(plain).header("etag")}
            plain = request("/body", {**traffic.headers, **known})
        for yardstick in (nginx, bare):
            if yardstick.ask(plain).status != traffic.status:
                raise BenchError(f"A yardstick does not answer {traffic.status}.")
        loads = in_turns(
            rig,
            Contender("nginx", nginx, [plain]),
            Contender("bare", bare, [plain]),
            Contender("catalog", catalog, traffic.requests),
            *peers,
        )
    for name in ("nginx", "bare", "catalog"):
        for load in loads[name]:
            _check_size(load, len(sent))
    return _compare(loads, what, wanted, unit, _about(traffic, len(sent), loads["nginx"]))


def _about(traffic: Traffic, size: int, nginx: Sequence[Load]) -> list[str]:
    each = f"about {size:,} bytes each" if size else "no body"
    notes = [f"{len(traffic.requests):,} different requests, {each}"]
    if median(load.client_share for load in nginx) > 0.97:
        notes.append("with nginx the client was the limit")
    return notes


def _compare(
    loads: Mapping[str, Sequence[Load]],
    what: str,
    wanted: Limit | None,
    unit: Unit,
    notes: Sequence[str],
) -> Outcome:
    ours = loads["catalog"]
    servers = {
        name: Served(median(it.cpu_us for it in some), median(it.rate for it in some))
        for name, some in loads.items()
    }
    figures = {}
    for name, some in loads.items():
        if name != "catalog":
            figures[f"cpu_of_{name}"] = median_ratio(
                [it.cpu_rate for it in ours], [it.cpu_rate for it in some]
            )
            figures[f"rate_of_{name}"] = median_ratio(
                [it.rate for it in ours], [it.rate for it in some]
            )
    values = {"of nginx": "cpu_of_nginx", "of the bare server": "cpu_of_bare"}
    value = figures[values[unit]] if unit in values else servers["catalog"].cpu_us
    cpu = ", ".join(f"{name} {it.cpu_us:,.0f}" for name, it in servers.items())
    rates = ", ".join(f"{name} {it.rate:,.0f}" for name, it in servers.items())
    said = [
        (
            f"CPU a request in µs: {cpu}; {figures['cpu_of_nginx']:.2f} of nginx, "
            f"{figures['cpu_of_bare']:.2f} of the bare server"
        ),
        (
            f"requests a second: {rates}; {figures['rate_of_nginx']:.2f} of nginx, "
            f"{figures['rate_of_bare']:.2f} of the bare server"
        ),
        *notes,
    ]
    return Outcome(what, value, unit, wanted, said, figures, servers)


def in_turns(rig: Rig, *contenders: Contender) -> dict[str, list[Load]]:
    """Load one server after another, round after round, in alternating order."""
    files = {
        contender.name: write_requests(
            rig.folder / f"requests-{contender.name}", contender.requests
        )
        for contender in contenders
    }
    for contender in contenders:
        run_wrk(rig, contender.server, files[contender.name], max(_WARM_UP_S, rig.options.seconds))
    loads: dict[str, list[Load]] = {it.name: [] for it in contenders}
    for number in range(rig.options.rounds):
        for contender in contenders if number % 2 == 0 else reversed(contenders):
            loads[contender.name].append(_load(rig, contender.server, files[contender.name]))
    return loads


def _load(rig: Rig, server: Server, requests: Path) -> Load:
    """Wall time with the client on another core; CPU time with it on the same core.

    On another core, a client that is faster than the server sleeps after each response, and waking
    a sleeping core is the server's work: in a virtual machine that may take as long as the
    response itself, or not happen at all, from run to run. On one core there is no such wake-up.
    """
    seconds = rig.options.seconds
    apart = run_wrk(rig, server, requests, seconds)
    together = run_wrk(replace(rig, cores=rig.cores.together), server, requests, seconds)
    return apart._replace(cpu_rate=together.cpu_rate)


def _check_size(load: Load, body_bytes: int) -> None:
    """A wrong response is often a fast one; wrk only checks the status."""
    least, most = 0.8 * body_bytes, 1.2 * body_bytes + _LARGEST_HEAD
    if not least <= load.bytes_each <= most:
        raise BenchError(
            f"Answers had {load.bytes_each:,.0f} bytes instead of about {body_bytes:,}."
        )
