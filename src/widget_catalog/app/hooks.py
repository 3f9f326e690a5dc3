"""Connects the rooms: which of them act in rooms below. See `core/hooks.py`."""

from collections.abc import Iterable

from ..core import hooks


def connect_hooks() -> None:
    """For every process that changes the catalog or reads its audit log."""
    hooks.install(_load)


def _load() -> Iterable[hooks.Hooks]:
    """In this order: memberships end before the webhooks that depend on them."""
    from ..accounts.hooks import HOOKS as ACCOUNTS
    from ..mirror.hooks import HOOKS as MIRROR

    # Only for its events, so that the audit log can name them.
    from ..moderation import events as _reports  # noqa: F401
    from ..organizations.hooks import HOOKS as ORGANIZATIONS
    from ..webhooks.hooks import HOOKS as WEBHOOKS

    return ACCOUNTS, ORGANIZATIONS, MIRROR, WEBHOOKS
