"""Helper processes: how they end, and what they print."""

import select
import socket
import subprocess
import sys

from widget_catalog import process_pool
from widget_catalog.process_pool import send


def test_a_helper_prints_nothing_if_its_parent_ends_with_unread_results() -> None:
    ours, its_end = socket.socketpair()
    command = [sys.executable, "-m", process_pool.__name__, "builtins:sum"]
    with subprocess.Popen(
        command, stdin=its_end.fileno(), stderr=subprocess.PIPE, text=True
    ) as helper:
        its_end.close()
        with ours, ours.makefile("wb") as questions:
            send(questions, ())
            send(questions, [1, 2, 3])
            assert select.select([ours], [], [], 60)[0]
        _, printed = helper.communicate(timeout=60)

    assert (printed, helper.returncode) == ("", 0)
