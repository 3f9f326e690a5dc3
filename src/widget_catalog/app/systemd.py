"""Tells systemd that the service is ready, and, with `WatchdogSec`, that it still responds.

The protocol is one datagram per message (sd_notify(3)); there is nothing to do without systemd.
"""

import os
import socket
import threading
import time
from collections.abc import Callable, Mapping


def notify(message: str, environment: Mapping[str, str] | None = None) -> None:
    """Send a message such as `READY=1` to the service manager, if there is one."""
    environment = os.environ if environment is None else environment
    address = environment.get("NOTIFY_SOCKET")
    if not address:
        return
    if address.startswith("@"):  # In the abstract namespace.
        address = "\0" + address[1:]
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as manager:
        manager.connect(address)
        manager.sendall(message.encode())


def keep_alive(responds: Callable[[], bool], environment: Mapping[str, str] | None = None) -> None:
    """Report in a thread that the service responds, three times per watchdog interval.

    If it stops responding, no report is sent, and systemd restarts it.
    """
    environment = os.environ if environment is None else environment
    interval_us = int(environment.get("WATCHDOG_USEC") or 0)
    if not interval_us or environment.get("WATCHDOG_PID", str(os.getpid())) != str(os.getpid()):
        return

    def report() -> None:
        while True:
            if responds():
                notify("WATCHDOG=1", environment)
            time.sleep(interval_us / 3e6)

    threading.Thread(target=report, name="watchdog", daemon=True).start()
