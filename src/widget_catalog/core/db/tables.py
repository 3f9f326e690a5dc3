"""The modules that declare tables. Light, because every command installs features."""

from collections.abc import Sequence
from importlib import import_module

_modules: tuple[str, ...] = ()


def use_tables(modules: Sequence[str]) -> None:
    global _modules
    _modules = tuple(modules)


def load_tables() -> None:
    """Make `schema.metadata` complete, for what is about all tables."""
    for module in _modules:
        import_module(module)
