"""Runs the service: Granian with our settings, from binding the port to a clean shutdown. Tells
systemd that it is ready and, with `WatchdogSec`, that it still responds.
"""

import asyncio
import contextlib
import ctypes
import errno
import gc
import http.client
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import structlog
from granian.constants import HTTPModes, Interfaces, Loops, RuntimeModes, TaskImpl
from granian.http import HTTP1Settings
from granian.log import LogLevels

from widget_contract.errors import CatalogError

from ..catalog.node.node import Node
from ..catalog.replica.node_status import NodeStatus
from ..core.data_folder import DataFolder
from ..core.features import installed, list_contributions
from ..core.http.http import Worker
from ..core.http.metrics import node_readings, prepare_metrics, serve_metrics
from ..core.http.page_templates import compile_public_templates
from ..core.http.worker_status import WorkerStatus
from ..core.logs import configure_logs
from ..core.settings import Settings
from ..pages.pages import load_for_pages
from .readings import follower_readings
from .rsgi import RsgiApp
from .supervisor import DRAIN_SIGNAL, Supervisor, connection_limit
from .worker import build_worker

_log = structlog.get_logger("widget_catalog.server")

# Service managers such as Docker wait ten seconds at most; a client may be slower than that.
_KILL_TIMEOUT_S = 5
_START_TIMEOUT_S = 300
_LIVE_TIMEOUT_S = 5
_SLOW_HEADERS_MS = 15_000
# Per connection: for the head of a request, and for output that the client has not read yet.
_BUFFER_BYTES = 96 << 10
_PR_SET_PDEATHSIG = 1
_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_OF_THE_PARENT = (
    *("data", "database", "host", "port", "workers", "drain_s"),
    *("metrics_host", "metrics_port"),
)


class PortTaken(CatalogError):
    """The address cannot be bound."""


def check_port(host: str, port: int, flag: str) -> None:
    """Fail with a message if the port is taken, before anything else is started."""
    address = resolve(host)
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError as error:
            raise PortTaken(_why_not(error, host, port, flag)) from None


def _why_not(error: OSError, host: str, port: int, flag: str) -> str:
    reason, choose = error.strerror, f"Choose another port with {flag}."
    if error.errno == errno.EADDRNOTAVAIL:
        reason = "this machine does not have this address"
        setting = "--host" if flag == "--port" else "--set metrics_host=…"
        choose = f"Choose one of its own with {setting}, or 0.0.0.0 for all."
    elif error.errno == errno.EACCES:
        reason = "you do not have permission to use this port"
        choose = f"Choose 1024 or higher with {flag}, and use a reverse proxy."
    return f"Cannot listen on {host} port {port}: {reason}. {choose}"


def resolve(host: str) -> str:
    """The address of a host name."""
    try:
        return str(socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)[0][4][0])
    except OSError:
        raise PortTaken(
            f"There is no host {host!r} to listen on. Choose another with --host."
        ) from None


def serve(
    settings: Settings,
    on_ready: Callable[[], None],
    read_settings: Callable[[], Settings],
    passed_sockets: Sequence[socket.socket] = (),
    finish_start: Callable[[Node], None] | None = None,
) -> None:
    """Serve until SIGTERM or SIGINT; then finish requests in flight and commit counts. A node
    first says for `drain_s` that it is about to stop.

    SIGHUP replaces the workers by new ones with the current settings. `finish_start` runs in a
    thread of every worker when it starts.
    """
    status = WorkerStatus(settings.workers)
    server = Supervisor(
        passed_sockets,
        status,
        renew_loader=lambda: partial(_load, _kept(settings, read_settings()), finish_start),
        drain_s=settings.drain_s if settings.database else 0,
        target="widget_catalog.app.server",
        address=resolve(settings.host),
        port=settings.port,
        interface=Interfaces.RSGI,
        workers=settings.workers,
        runtime_mode=RuntimeModes.mt,
        runtime_threads=1,
        loop=Loops.uvloop if sys.platform != "win32" else Loops.auto,
        task_impl=TaskImpl.asyncio,
        # If HTTP/2 were enabled as well, a client that sends nothing would never time out.
        http=HTTPModes.http1,
        websockets=False,
        backlog=4096,
        backpressure=connection_limit(),
        http1_settings=HTTP1Settings(
            header_read_timeout=_SLOW_HEADERS_MS, max_buffer_size=_BUFFER_BYTES
        ),
        # Granian's messages go to our log, and only errors, above all that a worker has died.
        log_level=LogLevels.error,
        log_dictconfig={"formatters": {}, "handlers": {}, "loggers": {"_granian": {}}},
        workers_kill_timeout=_KILL_TIMEOUT_S,
        process_name=None,
    )
    if settings.metrics_port:
        folder = DataFolder(settings.data)
        prepare_metrics(folder.metrics)
        shown = node_readings(folder, status)
        if settings.database:
            shown += follower_readings(NodeStatus(folder.node_status))
        shown += [it for feature in installed() for it in feature.readings(folder)]
        place = (settings.metrics_host, settings.metrics_port)
        server.on_startup(partial(serve_metrics, folder.metrics, *place, shown))
    server.when_forked = partial(_when_it_responds, settings, on_ready)
    _let_signals_end_a_starting_worker()
    compile_public_templates(list_contributions())
    load_for_pages()
    # Workers share these objects until they are written to, and garbage collection writes to them.
    gc.collect()
    gc.freeze()
    try:
        server.serve(target_loader=partial(_load, settings, finish_start), wrap_loader=False)
    except SystemExit:
        # Ctrl-C also reaches the workers; one that exits before its parent is not a failure.
        if not server.interrupt_signal:
            raise


def _let_signals_end_a_starting_worker() -> None:
    """Until a worker has an event loop to handle signals, they end it.

    The inherited handler would swallow them, and its parent would never see them. They are blocked
    during the fork, so that none is lost.
    """

    parent = os.getpid()

    def release() -> None:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOP_SIGNALS)

    def release_in_worker() -> None:
        for number in _STOP_SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        _end_with_parent(parent)
        release()

    os.register_at_fork(
        before=lambda: signal.pthread_sigmask(signal.SIG_BLOCK, _STOP_SIGNALS),
        after_in_parent=release,
        after_in_child=release_in_worker,
    )


def _end_with_parent(parent: int) -> None:
    """Let the kernel end this worker when its parent dies for any reason.

    This needs no cooperation of this process, which may hang; a worker that survived would hold
    the writer lock against the next start.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if os.getppid() != parent:  # The parent died before this call.
            os._exit(1)


def _when_it_responds(settings: Settings, on_ready: Callable[[], None]) -> None:
    """Call back at the first response: reading a large catalog takes a while."""

    def wait() -> None:
        deadline = time.monotonic() + _START_TIMEOUT_S
        while time.monotonic() < deadline:
            if _responds(settings, "/api/health", _START_TIMEOUT_S):  # A worker opens the port.
                on_ready()
                _notify("READY=1")
                _keep_alive(partial(_responds, settings, "/healthz/live", _LIVE_TIMEOUT_S))
                return
            time.sleep(0.05)

    threading.Thread(target=wait, name="greeting", daemon=True).start()


def _responds(settings: Settings, path: str, timeout_s: float) -> bool:
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(settings.host, settings.host)  # noqa: S104
    connection = http.client.HTTPConnection(host, settings.port, timeout=timeout_s)
    with contextlib.closing(connection):
        try:
            connection.request("GET", path)
            connection.getresponse().read()
        except (OSError, http.client.HTTPException):
            return False
    return True


class _Application(RsgiApp):
    """Ends on a stop signal while its loop is not running: uvloop would lose the signal."""

    def __init__(
        self,
        build: Callable[[], Worker],
        on_built: Callable[[], None],
        on_ready: Callable[[], None],
        on_drain: Callable[[], None],
    ) -> None:
        super().__init__(build)
        self._on_built = on_built
        self._on_ready = on_ready
        self._on_drain = on_drain

    def drain(self) -> None:
        self._on_drain()
        super().drain()

    def __rsgi_init__(self, loop: asyncio.AbstractEventLoop) -> None:
        handlers = [(number, signal.signal(number, signal.SIG_DFL)) for number in _STOP_SIGNALS]
        super().__rsgi_init__(loop)
        lower_gc_threshold()
        for number, handler in handlers:
            loop.call_soon(signal.signal, number, handler)
        loop.add_signal_handler(DRAIN_SIGNAL, self.drain)
        self._on_built()
        loop.call_soon(self._on_ready)


def lower_gc_threshold() -> None:
    """For a worker. Objects that exist now are not scanned again. Caches fill with objects that are
    not garbage: with the default of 700, looking through them took a tenth of the time of new
    searches.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000)


def _load(
    settings: Settings,
    finish_start: Callable[[Node], None] | None,
    on_built: Callable[[], None],
    on_ready: Callable[[], None],
    on_drain: Callable[[], None],
    status: WorkerStatus,
) -> RsgiApp:
    """The application of a worker process, created there."""
    configure_logs(settings.log_format, settings.log_level)
    build = partial(build_worker, settings, status=status, finish_start=finish_start)
    return _Application(build, on_built, on_ready, on_drain)


def _kept(first: Settings, renewed: Settings) -> Settings:
    """The settings of new workers, with those that the parent cannot change."""
    return replace(renewed, **{name: getattr(first, name) for name in _OF_THE_PARENT})


def _notify(message: str) -> None:
    """Send a message such as `READY=1` to the service manager, if there is one: one datagram, see
    sd_notify(3).
    """
    address = os.environ.get("NOTIFY_SOCKET")
    if not address:
        return
    if address.startswith("@"):  # In the abstract namespace.
        address = "\0" + address[1:]
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as manager:
        try:
            manager.connect(address)
            manager.sendall(message.encode())
        except OSError as error:  # While it restarts itself: later messages may arrive.
            _log.warning(
                "The service manager cannot be notified.", message=message, error=str(error)
            )


def _keep_alive(responds: Callable[[], bool]) -> None:
    """Report in a thread that the service responds, three times per watchdog interval.

    If it stops responding, no report is sent, and systemd restarts it.
    """
    interval_us = int(os.environ.get("WATCHDOG_USEC") or 0)
    if not interval_us or os.environ.get("WATCHDOG_PID", str(os.getpid())) != str(os.getpid()):
        return

    def report() -> None:
        while True:
            if responds():
                _notify("WATCHDOG=1")
            time.sleep(interval_us / 3e6)

    threading.Thread(target=report, name="watchdog", daemon=True).start()
