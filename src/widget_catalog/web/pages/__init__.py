"""Pages for people, rendered on the server: the front door and the API reference."""

from .routes import Pages

__all__ = ["Pages"]
