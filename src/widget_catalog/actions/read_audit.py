"""Reading the audit log: of a widget, of an organization, of the whole catalog."""

from ..domain.accounts import Actor, Right
from ..store.audit import Entry, list_entries
from ..store.engine import Store
from ..store.organizations import get_organization
from ..store.widgets import get_widget
from .change_version import parse_key
from .permissions import require, require_operator, require_person


def read_widget_audit(
    store: Store, actor: Actor, key: str, page: int, limit: int
) -> tuple[list[Entry], int]:
    scope, name = parse_key(key)
    with store.reading() as connection:
        require(connection, actor, Right.READ_AUDIT, scope, name)
        get_widget(connection, scope, name)
        return list_entries(connection, scope, name, page, limit)


def read_organization_audit(
    store: Store, actor: Actor, slug: str, page: int, limit: int
) -> tuple[list[Entry], int]:
    """All that happens in its scope: to its members, and to its widgets."""
    require_person(actor)
    with store.reading() as connection:
        require(connection, actor, Right.READ_AUDIT, slug)
        get_organization(connection, slug)
        return list_entries(connection, slug, None, page, limit)


def read_whole_audit(store: Store, actor: Actor, page: int, limit: int) -> tuple[list[Entry], int]:
    require_operator(actor)
    with store.reading() as connection:
        return list_entries(connection, None, None, page, limit)
