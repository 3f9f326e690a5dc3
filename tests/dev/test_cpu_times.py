"""The CPU time of test files, which `--durations` prints."""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from support.cpu_times import CpuTimes


def test_what_is_closed_after_the_last_test_counts_for_no_file() -> None:
    used_s = 0.0
    times = CpuTimes(lambda: used_s)
    for file, is_last in (("a.py", False), ("b.py", True)):
        _finish(times.pytest_runtest_protocol(cast(Any, None if is_last else "another")), None)
        for when, spent_s in (("setup", 1.0), ("call", 2.0), ("teardown", 4.0)):
            used_s += spent_s
            report = SimpleNamespace(nodeid=f"{file}::test_it", when=when, user_properties=[])
            call = SimpleNamespace(when=when)
            _finish(times.pytest_runtest_makereport(cast(Any, call)), report)
            times.pytest_runtest_logreport(cast(Any, report))

    lines: list[str] = []
    terminal = SimpleNamespace(section=lines.append, write_line=lines.append)
    times.pytest_terminal_summary(cast(Any, terminal))

    assert lines == [
        "14 s of CPU time, by file",
        "    7.0s a.py",
        "    4.0s what the files of a test process share, such as its browser",
        "    3.0s b.py",
    ]


def _finish(hook: Any, result: object) -> None:
    """Run a wrapper as if the others had this result."""
    next(hook)
    with pytest.raises(StopIteration):
        hook.send(result)
