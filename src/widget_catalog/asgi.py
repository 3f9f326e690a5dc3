"""The service for other servers, e.g. `uvicorn --factory widget_catalog.asgi:create_app`."""

from functools import partial

from .logs import configure_logs
from .settings import load_settings
from .web.asgi import AsgiApp
from .wiring import build_worker, prepare_node


def create_app() -> AsgiApp:
    """An ASGI application with its settings from the environment, its folder made ready."""
    settings = load_settings()
    configure_logs(settings.log_format, settings.log_level)
    prepare_node(settings.data).store.close()
    return AsgiApp(partial(build_worker, settings))
