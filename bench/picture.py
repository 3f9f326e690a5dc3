"""The CPU time of a request of each server, as an SVG for light and dark pages."""

import math
from collections.abc import Sequence
from html import escape

from .measures import Outcome, Served

_LABELS = {
    "nginx": "nginx, a file",
    "bare": "bare HTTP server",
    "catalog": "Widget Catalog",
    "Verdaccio": "Verdaccio",
    "Datasette": "Datasette",
}
_WIDTH = 760
_LEFT, _RIGHT = 150, 100
_ROW, _BAR = 26, 16
_TOP, _TITLE, _GAP, _FOOT = 4, 32, 10, 62

_SCALE = "CPU time of a request, on a logarithmic scale: from line to line, ten times as much."
_STYLE = """
  text { font: 13px system-ui, -apple-system, "Segoe UI", sans-serif; fill: #1d2536; }
  .title { font-weight: 650; font-size: 15px; }
  .small { font-size: 12px; fill: #4a566f; }
  .end { text-anchor: end; } .middle { text-anchor: middle; }
  .bar { fill: #a9b5cc; } .ours { fill: #2f5fc4; } .own { font-weight: 650; }
  .line { stroke: #d9dfea; stroke-width: 1; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e8ecf5; }
    .small { fill: #b3bdd3; }
    .bar { fill: #56627d; } .ours { fill: #7aa2f7; }
    .line { stroke: #323c52; }
  }
"""


def draw(outcomes: Sequence[Outcome], about: str) -> str:
    """One group of bars for each outcome, on a common logarithmic scale."""
    times = [it.cpu_us for outcome in outcomes for it in outcome.servers.values()]
    scale = _Scale(math.floor(math.log10(min(times))), math.ceil(math.log10(max(times))))
    groups: list[str] = []
    y = _TOP
    for outcome in outcomes:
        bottom = y + _TITLE + _ROW * len(outcome.servers)
        groups += [*scale.lines(y + _TITLE - 4, bottom), *_group(outcome, scale, y)]
        y = bottom + _GAP
    height = y - _GAP + _FOOT
    title = "CPU time of a request: Widget Catalog beside other servers"
    said = "; ".join(
        f"{found.what}: "
        + ", ".join(f"{_LABELS[name]} {_time(server.cpu_us)}" for name, server in _sorted(found))
        for found in outcomes
    )
    return "\n".join(
        [
            (
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height}" '
                f'width="{_WIDTH}" height="{height}" role="img" aria-labelledby="title about">'
            ),
            f'<title id="title">{title}</title>',
            f'<desc id="about">{escape(said)}.</desc>',
            f"<style>{_STYLE}</style>",
            *groups,
            *scale.labels(y - _GAP + 16),
            f'<text class="small" x="10" y="{height - 24}">{_SCALE}</text>',
            f'<text class="small" x="10" y="{height - 7}">{escape(about)}</text>',
            "</svg>\n",
        ]
    )


class _Scale:
    """Positions of times, in µs, between two powers of ten."""

    def __init__(self, least: int, most: int) -> None:
        self._powers = range(least, max(most, least + 1) + 1)
        self._width = (_WIDTH - _LEFT - _RIGHT) / (len(self._powers) - 1)

    def x(self, cpu_us: float) -> float:
        return _LEFT + (math.log10(cpu_us) - self._powers[0]) * self._width

    def lines(self, top: int, bottom: int) -> list[str]:
        xs = [self.x(10**power) for power in self._powers]
        return [f'<path class="line" d="M{x:.1f} {top}V{bottom}"/>' for x in xs]

    def labels(self, y: int) -> list[str]:
        return [
            f'<text class="small middle" x="{self.x(figure):.1f}" y="{y}">{_time(figure)}</text>'
            for figure in (10**it for it in self._powers)
        ]


def _sorted(outcome: Outcome) -> list[tuple[str, Served]]:
    return sorted(outcome.servers.items(), key=lambda it: it[1].cpu_us)


def _group(outcome: Outcome, scale: _Scale, y: int) -> list[str]:
    what = outcome.what[0].upper() + outcome.what[1:]
    drawn = [f'<text class="title" x="10" y="{y + 18}">{escape(what)}</text>']
    y += _TITLE
    for name, server in _sorted(outcome):
        is_ours = name == "catalog"
        bar, label, value = ("bar ours", "own end", "own") if is_ours else ("bar", "end", "value")
        middle, end = y + _BAR / 2 + 4.5, scale.x(server.cpu_us)
        drawn += [
            f'<text class="{label}" x="{_LEFT - 10}" y="{middle:.1f}">{_LABELS[name]}</text>',
            (
                f'<rect class="{bar}" x="{_LEFT}" y="{y}" width="{end - _LEFT:.1f}" '
                f'height="{_BAR}" rx="2"/>'
            ),
            (
                f'<text class="{value}" x="{end + 8:.1f}" y="{middle:.1f}">'
                f"{_time(server.cpu_us)}</text>"
            ),
        ]
        y += _ROW
    return drawn


def _time(cpu_us: float) -> str:
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if cpu_us >= size:
            return f"{cpu_us / size:.3g} {unit}"
    return f"{cpu_us:.3g} µs"
