"""Runs the service: Granian with our settings, from a free port to a clean stop."""

import asyncio
import contextlib
import ctypes
import gc
import http.client
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from functools import partial

from granian import Granian
from granian.constants import HTTPModes, Interfaces, Loops, RuntimeModes, TaskImpl
from granian.http import HTTP1Settings
from granian.log import LogLevels

from .domain.errors import CatalogError
from .logs import configure_logs
from .settings import Settings
from .web.metrics import prepare_metrics, serve_metrics
from .web.rsgi import RsgiApp
from .wiring import DataFolder, build_worker

# Whoever stops us waits ten seconds at most, as Docker does; a client may be slower than that.
_KILL_TIMEOUT_S = 5
_START_PATIENCE_S = 300
_SLOW_HEADERS_MS = 15_000
_PR_SET_PDEATHSIG = 1
_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class PortTaken(CatalogError):
    """The address cannot be listened on."""


def check_port(host: str, port: int, flag: str) -> None:
    """Say it in a sentence if the port is taken, before anything else is started."""
    address = resolve(host)
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((address, port))
        except OSError as error:
            raise PortTaken(
                f"Cannot listen on {host} port {port}: {error.strerror}. "
                f"Choose another with {flag}."
            ) from None


def resolve(host: str) -> str:
    """The address a host name stands for."""
    try:
        return str(socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)[0][4][0])
    except OSError:
        raise PortTaken(
            f"There is no host {host!r} to listen on. Choose another with --host."
        ) from None


def serve(settings: Settings, on_ready: Callable[[], None]) -> None:
    """Serve until SIGTERM or SIGINT; requests in flight are finished, counts are committed."""
    # The Rust task driver doubles the rate of small answers; it exists up to Python 3.11.
    tasks = TaskImpl.rust if sys.version_info < (3, 12) else TaskImpl.asyncio
    server = Granian(
        target="widget_catalog.server",
        address=resolve(settings.host),
        port=settings.port,
        interface=Interfaces.RSGI,
        workers=settings.workers,
        runtime_mode=RuntimeModes.mt,
        runtime_threads=1,
        loop=Loops.uvloop if sys.platform != "win32" else Loops.auto,
        task_impl=tasks,
        # With HTTP/2 also offered, a client that sends nothing would be waited for without end.
        http=HTTPModes.http1,
        websockets=False,
        backlog=4096,
        backpressure=4096,
        http1_settings=HTTP1Settings(header_read_timeout=_SLOW_HEADERS_MS),
        # Its lines go where ours go, and only the serious ones: above all, that a worker has died.
        log_level=LogLevels.error,
        log_dictconfig={"formatters": {}, "handlers": {}, "loggers": {"_granian": {}}},
        respawn_failed_workers=True,
        respawn_interval=0.5,
        workers_kill_timeout=_KILL_TIMEOUT_S,
        process_name=None,
    )
    if settings.metrics_port:
        prepare_metrics(DataFolder(settings.data).metrics)
        server.on_startup(partial(serve_metrics, settings.metrics_host, settings.metrics_port))
    server.on_startup(lambda: _when_it_answers(settings, on_ready))
    _let_signals_end_a_starting_worker()
    try:
        server.serve(target_loader=partial(_load, settings), wrap_loader=False)  # type: ignore[arg-type]
    except SystemExit:
        # Ctrl-C reaches the workers too; one that ends before its parent heard of it is no fault.
        if not server.interrupt_signal:
            raise


def _let_signals_end_a_starting_worker() -> None:
    """Until a worker has a loop to hear signals with, they end it.

    The handler that it inherits would swallow them, and its parent would wait for it in vain.
    While it is forked they are held back, so that none falls between.
    """

    def release() -> None:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _STOP_SIGNALS)

    def release_in_worker() -> None:
        for number in _STOP_SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        _end_with_parent()
        release()

    os.register_at_fork(
        before=lambda: signal.pthread_sigmask(signal.SIG_BLOCK, _STOP_SIGNALS),
        after_in_parent=release,
        after_in_child=release_in_worker,
    )


def _end_with_parent() -> None:
    """Be told to stop when the parent dies, however it dies: nobody else would end a worker."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _do_not_outlive_parent() -> None:
    """Who is told to stop has some seconds for it; a parent that is dead cannot see to that."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        time.sleep(_KILL_TIMEOUT_S)
        os.kill(os.getpid(), signal.SIGKILL)

    threading.Thread(target=watch, name="orphan", daemon=True).start()


def _when_it_answers(settings: Settings, on_ready: Callable[[], None]) -> None:
    """Call back when the first answer has come: a large catalog takes a while to be read."""

    def wait() -> None:
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(settings.host, settings.host)  # noqa: S104
        deadline = time.monotonic() + _START_PATIENCE_S
        while time.monotonic() < deadline:
            connection = http.client.HTTPConnection(host, settings.port, timeout=_START_PATIENCE_S)
            # The port opens with the first worker.
            with (
                contextlib.closing(connection),
                contextlib.suppress(OSError, http.client.HTTPException),
            ):
                connection.request("GET", "/api/health")
                connection.getresponse().read()
                on_ready()
                return
            time.sleep(0.05)

    threading.Thread(target=wait, name="greeting", daemon=True).start()


class _Application(RsgiApp):
    """Ended by a signal to stop as long as its loop does not run: uvloop would lose the signal."""

    def __rsgi_init__(self, loop: asyncio.AbstractEventLoop) -> None:
        handlers = [(number, signal.signal(number, signal.SIG_DFL)) for number in _STOP_SIGNALS]
        super().__rsgi_init__(loop)
        # What is there now stays; to look through it for garbage again and again takes a while.
        gc.collect()
        gc.freeze()
        for number, handler in handlers:
            loop.call_soon(signal.signal, number, handler)
        _do_not_outlive_parent()


def _load(settings: Settings, *_: object) -> RsgiApp:
    """The application of a worker process, made there."""
    configure_logs(settings.log_format, settings.log_level)
    return _Application(partial(build_worker, settings))
