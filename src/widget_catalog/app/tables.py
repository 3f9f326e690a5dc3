"""Connects the tables of all rooms."""

from ..core.db.schema import connect_tables


def connect_all_tables() -> None:
    connect_tables(_load)


def _load() -> None:
    from ..catalog.store import count_table, files, revocations, staging  # noqa: F401
    from ..core.db import node_tables  # noqa: F401
    from ..mirror import tables as mirror  # noqa: F401
    from ..moderation import tables as moderation  # noqa: F401
    from ..snapshot import store as snapshot  # noqa: F401
    from ..webhooks import tables as webhooks  # noqa: F401
