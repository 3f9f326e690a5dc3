"""The CPU time of test files, printed with `--durations`: where tests run in parallel, durations
depend on what else runs.
"""

import contextlib
import os
from collections import defaultdict
from collections.abc import Callable, Generator
from pathlib import Path

import pytest

from support.preloaded import server_pid

_NAME, _SHARED = "cpu_s", "shared_cpu_s"
_OF_ALL = "what the files of a test process share, such as its browser"
_SHOWN = 40


class CpuTimes:
    """Counts processes that have ended, and this one. A killed process leaves children that are
    nobody's, which are not counted. What ends after the last test belongs to no file.
    """

    def __init__(self, used_s: Callable[[], float] | None = None) -> None:
        self._used_s = used_s or _used_s
        self._before = self._last_phase = self._used_s()
        self._is_last = False
        self._files: defaultdict[str, float] = defaultdict(float)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(
        self, nextitem: pytest.Item | None
    ) -> Generator[None, object, object]:
        self._is_last = nextitem is None
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_makereport(
        self, call: pytest.CallInfo[None]
    ) -> Generator[None, pytest.TestReport, pytest.TestReport]:
        report = yield
        now = self._used_s()
        if call.when == "teardown":
            shared = now - self._last_phase if self._is_last else 0.0
            report.user_properties.append((_NAME, now - self._before - shared))
            report.user_properties.append((_SHARED, shared))
            self._before = now
        self._last_phase = now
        return report

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when != "teardown":
            return
        file = report.nodeid.partition("::")[0]
        for name, counts_for in ((_NAME, file), (_SHARED, _OF_ALL)):
            spent = dict(report.user_properties).get(name, 0)
            if isinstance(spent, float):
                self._files[counts_for] += spent

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
