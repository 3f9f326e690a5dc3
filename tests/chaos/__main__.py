"""The command: ./dev chaos --minutes N."""

import argparse
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path

from chaos import machine
from chaos.errors import ERRORS, Errors
from chaos.ledger import Ledger
from chaos.node_errors import NODE_ERRORS
from chaos.nodes import run_nodes
from chaos.report import show_report
from chaos.restarts import count_failures
from chaos.stage import Stage
from chaos.traffic import Traffic
from chaos.verdict import judge

# Large enough for what is published in a minute, and small enough to be filled quickly.
_DISK_MB = 256
_DISK_MB_PER_MINUTE = 50


def main() -> int:
    options = _parse()
    if options.nodes:
        return 0 if run_nodes(options.minutes, options.seed, options.only) else 1
    if options.restarts:
        return 0 if count_failures(options.restarts) else 1
    has_disk = machine.enter_mount_namespace()
    has_clock = machine.can_set_clock()
    for is_possible, what in ((has_disk, "the disk is not filled"), (has_clock, "the clock stays")):
        if not is_possible:
            print(f"Not possible on this machine: {what}.", flush=True)
    folder = Path(tempfile.mkdtemp(prefix="chaos-"))
    ledger = Ledger()
    began = time.monotonic()
    disk_mb = _DISK_MB + int(options.minutes * _DISK_MB_PER_MINUTE) if has_disk else 0
    stage = Stage(folder, ledger, disk_mb=disk_mb, has_clock=has_clock)
    try:
        _make_chaos(stage, options)
        judge(stage, ledger)
    finally:
        stage.service.kill()
    took_s = time.monotonic() - began
    print(show_report(ledger, options.minutes, options.seed, took_s))
    if ledger.violations:
        print(f"Everything is kept in {stage.keep()}, with the service's log.")
        return 1
    shutil.rmtree(folder, ignore_errors=True)
    return 0


def _make_chaos(stage: Stage, options: argparse.Namespace) -> None:
    choose = random.Random(options.seed)
    ends_at = time.monotonic() + options.minutes * 60
    is_short = not options.minutes
    served = (stage.port, stage.tokens, stage.counted)
    with Traffic(*served, stage.ledger, options.seed, is_short=is_short) as traffic:
        traffic.is_served.set()
        errors = Errors(stage, traffic, choose, options.only, is_short=is_short)
        longest_pause_s = 0.5 if is_short else 3
        while time.monotonic() < ends_at or not errors.all_happened:
            time.sleep(choose.uniform(0.2, longest_pause_s))
            what = errors.happen()
            _say(f"{what}, {max(0, ends_at - time.monotonic()):.0f} s left")
        errors.end()
        time.sleep(1)
    _say("")


def _say(line: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\x1b[K{line}", end="", file=sys.stderr, flush=True)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="./dev chaos",
        description="Break everything on one machine under traffic, then look for what is lost.",
    )
    parser.add_argument(
        "--minutes", type=float, default=5, help="how long (5); every fault happens at least once"
    )
    parser.add_argument("--seed", type=int, default=None, help="repeat the faults of another run")
    parser.add_argument(
        "--nodes",
        action="store_true",
        help="instead: three nodes behind HAProxy, with a PostgreSQL that fails over",
    )
    parser.add_argument(
        "--restarts", type=int, metavar="N", help="instead: restart so often, count what fails"
    )
    parser.add_argument(
        "--only",
        nargs="+",
        metavar="FAULT",
        help=f"{', '.join(ERRORS)}; with --nodes: {', '.join(NODE_ERRORS)}",
    )
    options = parser.parse_args()
    known = NODE_ERRORS if options.nodes else ERRORS
    if options.only and not options.minutes:
        parser.error("--only needs --minutes: the short form has its own faults.")
    options.only = options.only or known
    for unknown in set(options.only) - set(known):
        parser.error(f"There is no fault {unknown!r}. There are {', '.join(known)}.")
    if options.seed is None:
        options.seed = random.randrange(1_000_000)
        sys.argv += ["--seed", str(options.seed)]
    return options


if __name__ == "__main__":
    sys.exit(main())
