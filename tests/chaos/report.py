"""The figures of a run, for people."""

from chaos.ledger import Ledger

_FAULTS = (
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
_TRAFFIC = (
    "publishes acknowledged",
    "publishes refused",
    "publishes without an answer",
    "yanks acknowledged",
    "counts acknowledged",
    "counts refused",
    "reads answered",
    "reads cut off or not answered",
)


def show_report(ledger: Ledger, minutes: float, seed: int, took_s: float) -> str:
    lines = [f"Chaos for {minutes:g} minutes, seed {seed} ({took_s:.0f} s in all)", ""]
    for names in (_FAULTS, _TRAFFIC):
        lines += [f"  {ledger.figures[name]:>9,}  {name}" for name in names]
        lines.append("")
    lines.append(f"  {ledger.longest_start_s:>9.1f}  seconds until a new service answered, at most")
    lines.append(
        f"  {ledger.longest_wait_s:>9.1f}  seconds a reader waited for a running one, at most"
    )
    lines.append("")
    if ledger.violations:
        lines += ["This must not happen:", *(f"  - {it}" for it in ledger.show_violations())]
    else:
        lines.append("Nothing that was acknowledged is lost; nothing is left behind.")
    return "\n".join(lines)
