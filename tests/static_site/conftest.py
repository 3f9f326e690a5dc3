"""The catalog that is exported as a static site: the one for the JavaScript client."""

from client.conftest import catalog

__all__ = ["catalog"]
