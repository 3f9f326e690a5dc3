"""Results as text, as Markdown and as JSON."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from .machine import Cores
from .measures import Outcome, Unit


class Finding(NamedTuple):
    """The result of a scenario: an outcome, or why there is none."""

    scenario: str
    outcome: Outcome | None
    error: str = ""

    @property
    def holds(self) -> bool | None:
        return False if self.outcome is None else self.outcome.holds


class Setting(NamedTuple):
    """The circumstances of the measurements."""

    command: str
    at: datetime
    machine: dict[str, str]
    cores: Cores
    load_before: float

    def sentences(self) -> list[str]:
        machine = self.machine
        known = ("architecture", "processor", "memory", "system", "python")
        lines = [f"{machine['cores']} cores, {', '.join(machine[name] for name in known)}."]
        if self.cores.are_apart:
            lines.append("One worker a server, on one core; the client on another.")
        else:
            lines.append("One core only (or no taskset): server and client share, ratios say less.")
        if self.load_before > 0.5:
            lines.append(
                f"The machine was busy with other things (load {self.load_before:.1f}): "
                "times on the core say more than times by the clock."
            )
        return lines

    def caption(self) -> str:
        machine = self.machine
        return (
            f"One worker each, on one core of {machine['processor']} ({machine['architecture']}), "
            f"{machine['python']}, {self.at:%Y-%m-%d}."
        )


def shown(value: float, unit: Unit) -> str:
    match unit:
        case "of uncompressed":
            return f"{value:.3f} {unit}"
        case "µs":
            return f"{value:,.0f} µs"
        case "/s":
            return f"{value:,.0f}/s"
        case "MB":
            return f"{value:,.0f} MB"
        case _:
            return f"{value:.2f} {unit}"


def wanted_of(outcome: Outcome) -> str:
    wanted = outcome.wanted
    if wanted is None:
        return ""
    return f"{'≥' if wanted.is_minimum else '≤'} {shown(wanted.figure, outcome.unit)}"


def mark(holds: bool | None) -> str:
    return {True: "✓", False: "✗", None: "·"}[holds]


def as_text(finding: Finding) -> str:
    outcome = finding.outcome
    if outcome is None:
        return f"✗ {finding.scenario:<16} failed: {finding.error}"
    wanted = wanted_of(outcome)
    head = f"{mark(outcome.holds)} {finding.scenario:<16} {shown(outcome.value, outcome.unit):<16}"
    head += f" {'wanted ' + wanted if wanted else '':<24} {outcome.what}"
    return "\n".join([head, *(f"    {note}" for note in outcome.notes)])


def verdict(findings: Sequence[Finding]) -> str:
    asked = [it for it in findings if it.holds is not None]
    reached = sum(1 for it in asked if it.holds)
    return f"{reached} of {len(asked)} wanted figures reached."


def as_markdown(setting: Setting, findings: Sequence[Finding]) -> str:
    """Requests that were compared with other servers, then the rest, then all notes."""
    compared = [it for it in findings if it.outcome is not None and it.outcome.servers]
    others = [it for it in findings if it not in compared]
    remarks = [
        f"- **{finding.outcome.what}**: {'; '.join(finding.outcome.notes)}."
        for finding in findings
        if finding.outcome is not None and finding.outcome.notes
    ]
    parts = [
        "# Performance",
        "",
        f"Measured on {setting.at:%Y-%m-%d} with `{setting.command}`.",
        *setting.sentences(),
        "",
        *(_COMPARED if compared else ()),
        *(_compared_row(it, it.outcome) for it in compared if it.outcome is not None),
        "",
        *(_OTHERS if others else ()),
        *map(_other_row, others),
    ]
    return "\n".join([*parts, "", "## In detail", "", *remarks, ""])


_COMPARED = (
    (
        "CPU is the time of a worker for one request. Ratios are medians over rounds in which the "
        "servers take turns; above 1.00 the catalog is better."
    ),
    "",
    "| Met | Request | CPU | of bare | of nginx | Requests/s | of bare | of nginx | Target |",
    "|---|---|--:|--:|--:|--:|--:|--:|---|",
)
_OTHERS = ("| Met | What | Result | Target |", "|---|---|--:|---|")


def _compared_row(finding: Finding, outcome: Outcome) -> str:
    ours, figures = outcome.servers["catalog"], outcome.figures
    ratios = {
        kind: " | ".join(f"{figures[f'{kind}_of_{name}']:.2f}" for name in ("bare", "nginx"))
        for kind in ("cpu", "rate")
    }
    wanted = wanted_of(outcome)
    wanted += " by CPU" if wanted and outcome.unit != "µs" else ""
    return (
        f"| {mark(finding.holds)} | {outcome.what} | {ours.cpu_us:,.0f} µs | {ratios['cpu']} | "
        f"{ours.rate:,.0f} | {ratios['rate']} | {wanted} |"
    )


def _other_row(finding: Finding) -> str:
    outcome = finding.outcome
    if outcome is None:
        return f"| ✗ | {finding.scenario} | failed: {finding.error} | |"
    result = shown(outcome.value, outcome.unit)
    return f"| {mark(finding.holds)} | {outcome.what} | {result} | {wanted_of(outcome)} |"


def as_json(setting: Setting, findings: Sequence[Finding]) -> str:
    body = {
        "command": setting.command,
        "measuredAt": setting.at.isoformat(timespec="seconds"),
        "machine": {**setting.machine, "loadBefore": setting.load_before},
        "pinned": setting.cores.are_apart,
        "findings": [_finding_json(it) for it in findings],
    }
    return json.dumps(body, indent=2, ensure_ascii=False)


def _finding_json(finding: Finding) -> dict[str, object]:
    outcome = finding.outcome
    if outcome is None:
        return {"scenario": finding.scenario, "holds": False, "fault": finding.error}
    return {
        "scenario": finding.scenario,
        "what": outcome.what,
        "value": round(outcome.value, 4),
        "unit": outcome.unit,
        "wanted": wanted_of(outcome) or None,
        "holds": outcome.holds,
        "notes": list(outcome.notes),
        "figures": {name: round(figure, 4) for name, figure in outcome.figures.items()},
        "servers": {
            name: {"cpuUs": round(server.cpu_us, 2), "requestsPerSecond": round(server.rate, 1)}
            for name, server in outcome.servers.items()
        },
    }
