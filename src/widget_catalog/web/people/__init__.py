"""Pages for signing in and for what one does as oneself. They work without a script."""

from .routes import PEOPLE

__all__ = ["PEOPLE"]
