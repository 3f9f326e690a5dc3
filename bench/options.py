"""The options of `./dev bench`, and its help."""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_ABOUT = """\
Measure the service on this machine. Reads are compared with two servers in the same run: nginx
sending the same bytes from a file, and the bare server, which is our own HTTP server with a
three-line application. Every figure is printed with its target.
"""
_EPILOG = """\
All reading scenarios use one worker, one after the other, whose caches were filled before. Each
server has one worker on the first core; for throughput, the client (wrk) is on the second. CPU
time is that of the worker, as the kernel accounts for it, with the client on the same core, so
that waiting for others, and waking them, is not included. The order changes from round to round;
figures are medians over the rounds. Catalogs are created once, by the real import, and kept in
.cache/bench. Exit code 1: a target was missed.

examples:
  ./dev bench                              all but the million, in some minutes
  ./dev bench --only 'detail*' --rounds 9  one family, with less noise
  ./dev bench --only peers --picture docs/images/performance.svg
  ./dev bench --million --markdown results.md
  ./dev bench --soak 30 --workers 2        half an hour of mixed traffic
  ./dev bench --profile search             where the microseconds of a request go
"""


@dataclass(frozen=True)
class Options:
    only: Sequence[str] = ()
    million: bool = False
    peers: bool = False
    fresh: bool = False
    picture: Path | None = None
    seconds: int = 1
    rounds: int = 5
    connections: int = 128
    markdown: Path | None = None
    json: bool = False
    soak: float | None = None
    workers: int = 1
    profile: str | None = None
    widgets: int = 10_000


def parse(arguments: Sequence[str], scenarios: str = "") -> Options:
    """The options; exits with a message if they are invalid."""
    return Options(**vars(_parser(scenarios).parse_args(arguments)))


def _parser(scenarios: str) -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="./dev bench",
        description=_ABOUT,
        epilog=f"scenarios:\n{scenarios}\n\n{_EPILOG}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    default = Options()
    add = parser.add_argument
    # fmt: off
    add("--only", action="append", default=[], metavar="NAME",
        help="run this scenario only; may be repeated, and 'search*' means all that match")
    add("--million", action="store_true",
        help="also run with 1,000,000 widgets; the first time that takes 10 GB and a long coffee")
    add("--peers", action="store_true",
        help="also compare with Verdaccio and Datasette, installed into .cache/bench; needs npm")
    add("--fresh", action="store_true",
        help="a new worker for each reading scenario, instead of one with full caches for all")
    add("--seconds", type=_positive, default=default.seconds, metavar="N",
        help="how long each server is loaded in each round (%(default)s)")
    add("--rounds", type=_positive, default=default.rounds, metavar="N",
        help="how often (%(default)s); more rounds, less noise")
    add("--connections", type=_positive, default=default.connections, metavar="N",
        help="how many connections wrk keeps open (%(default)s)")
    add("--markdown", type=Path, metavar="FILE", help="also write the results as a page")
    add("--picture", type=Path, metavar="FILE",
        help="with --peers: also draw the CPU time of a request as SVG")
    add("--json", action="store_true", help="print the results as JSON instead of text")
    instead = parser.add_argument_group("instead of the scenarios").add_mutually_exclusive_group()
    instead.add_argument("--soak", type=_minutes, metavar="MINUTES",
        help="mixed traffic for so long; errors, lost counts or growing memory fail it")
    instead.add_argument("--profile", choices=("detail", "search", "registry"),
        help="without a network: microseconds a request, and in which functions they go")
    fitting = parser.add_argument_group("for --soak and --profile")
    fitting.add_argument("--workers", type=_positive, default=default.workers, metavar="N",
        help="worker processes in a soak (%(default)s)")
    fitting.add_argument("--widgets", type=_positive, default=default.widgets, metavar="N",
        help="size of the catalog (%(default)s)")
    # fmt: on
    return parser


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number of at least 1, not {text!r}")
    return int(text)


def _minutes(text: str) -> float:
    try:
        minutes = float(text)
    except ValueError:
        minutes = 0.0
    if not 0 < minutes <= 7 * 24 * 60:
        raise argparse.ArgumentTypeError(f"must be minutes, at most a week of them, not {text!r}")
    return minutes
