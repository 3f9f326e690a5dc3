"""The service as an ASGI application, e.g. `uvicorn widget_catalog.app.asgi:create_app`."""

import os
from functools import partial

import structlog

from ..catalog.node.wiring import Node, prepare_node
from ..core.errors import StoreUnavailable
from ..core.http.bindings.asgi import AsgiApp
from ..core.logs import configure_logs
from ..core.settings import load_settings
from .hooks import connect_hooks
from .worker import build_worker


def create_app() -> AsgiApp:
    """An ASGI application with settings from the environment, and a prepared data folder."""
    # New files are accessible to our user only, even in a folder that others can read.
    os.umask(0o077)
    connect_hooks()
    settings = load_settings()
    configure_logs(settings.log_format, settings.log_level)
    node = prepare_node(settings.data, backends=settings.backends)
    node.store.close()
    finish_start = None if node.is_prepared else _prepare
    return AsgiApp(partial(build_worker, settings, finish_start=finish_start))


def _prepare(node: Node) -> None:
    try:
        node.replica.state_counts(node.store, waits=True)
    except StoreUnavailable as fault:
        log = structlog.get_logger("widget_catalog.start")
        log.error("The startup could not be completed.", fault=fault.message)
