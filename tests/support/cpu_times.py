"""The CPU time of test files, printed with `--durations`: where tests run in parallel, durations
depend on what else runs.
"""

import contextlib
import os
from collections import defaultdict
from collections.abc import Generator
from pathlib import Path

import pytest

from support.preloaded import server_pid

_NAME = "cpu_s"
_SHOWN = 40


class CpuTimes:
    """Counts processes that have ended, and this one. A killed process leaves children that are
    nobody's, which are not counted.
    """

    def __init__(self) -> None:
        self._before = _used_s()
        self._files: defaultdict[str, float] = defaultdict(float)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        if call.when == "teardown":
            now = _used_s()
            report.user_properties.append((_NAME, now - self._before))
            self._before = now
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        spent = dict(report.user_properties).get(_NAME, 0)
        if report.when == "teardown" and isinstance(spent, float):
            self._files[report.nodeid.partition("::")[0]] += spent

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        terminalreporter.section(f"{sum(self._files.values()):,.0f} s of CPU time, by file")
        largest = sorted(self._files.items(), key=lambda it: it[1], reverse=True)
        for name, spent in largest[:_SHOWN]:
            terminalreporter.write_line(f"{spent:7.1f}s {name}")


def _used_s() -> float:
    spent = sum(os.times()[:4])
    with contextlib.suppress(FileNotFoundError):
        # Services and commands are children of another process.
        stat = Path(f"/proc/{server_pid()}/stat").read_text().rpartition(")")[2].split()
        spent += sum(map(int, stat[11:15])) / os.sysconf("SC_CLK_TCK")
    return spent
