"""The figures of a run, human-readable."""

from chaos.ledger import Ledger

_ERRORS = (
    "workers killed",
    "parents killed",
    "services killed whole",
    "services stopped and started",
    "workers replaced by SIGHUP",
    "workers frozen for a while",
    "imports done",
    "imports refused",
    "imports killed",
    "disks filled",
    "clocks set",
    "connections that never read",
)
_NODE_ERRORS = (
    "primaries killed, standbys promoted",
    "primaries lost without a word, standbys promoted",
    "primaries that hung for a while",
    "standbys killed",
    "object stores killed",
    "nodes killed",
    "nodes stopped and started",
    "nodes frozen for a while",
    "nodes started, and then all others killed",
    "workers killed",
    "workers replaced by SIGHUP",
)
_TRAFFIC = (
    "publishes acknowledged",
    "publishes refused",
    "publishes without an answer",
    "changes without an answer",
    "yanks acknowledged",
    "counts acknowledged",
    "counts refused",
    "reads answered",
    "reads cut off or not answered",
)


def show_report(ledger: Ledger, minutes: float, seed: int, took_s: float) -> str:
    return _show(
        f"Chaos for {minutes:g} minutes, seed {seed} ({took_s:.0f} s in all)",
        _figures(ledger, _ERRORS),
        _figures(ledger, _TRAFFIC),
        [
            _seconds(ledger.longest_start_s, "until a new service answered"),
            _seconds(ledger.longest_wait_s, "a reader waited for a running one"),
        ],
        _judgement(ledger, "Nothing that was acknowledged is lost; nothing is left behind."),
    )


def show_node_report(ledger: Ledger, minutes: float, seed: int, took_s: float) -> str:
    return _show(
        f"Chaos with nodes for {minutes:g} minutes, seed {seed} ({took_s:.0f} s in all)",
        [f"  {it}" for it in ledger.restarts],
        _figures(ledger, _NODE_ERRORS),
        _figures(ledger, _TRAFFIC),
        [
            _seconds(ledger.longest_start_s, "until a new node answered"),
            _seconds(ledger.longest_wait_s, "a reader was without an answer"),
            _seconds(
                max(ledger.recoveries_s, default=0.0),
                "from the database's return to the next count",
            ),
        ],
        _judgement(ledger, "Nothing that was acknowledged is lost; all nodes show the same."),
    )


def _show(title: str, *parts: list[str]) -> str:
    return "\n\n".join([title, *("\n".join(it) for it in parts)])


def _figures(ledger: Ledger, names: tuple[str, ...]) -> list[str]:
    return [f"  {ledger.figures[name]:>9,}  {name}" for name in names]


def _seconds(most: float, what: str) -> str:
    return f"  {most:>9.1f}  seconds {what}, at most"


def _judgement(ledger: Ledger, verdict: str) -> list[str]:
    if not ledger.violations:
        return [verdict]
    return [
        "This must not happen:",
        *(f"  - {it}" for it in ledger.show_violations()),
        "",
        "The last events before it:",
        *(f"  {it}" for it in ledger.before_violation),
    ]
