"""Accounts and organizations written directly to a store, and a store at a later time."""

from datetime import timedelta

from widget_catalog.accounts.store import add_account, take_scope
from widget_catalog.core.actors import Account, Role
from widget_catalog.core.clock import from_ms
from widget_catalog.core.db.engine import Store
from widget_catalog.organizations.store import Organization, add_organization, put_member
from widget_contract.names import Scope


def an_account(store: Store, username: str = "ann", *, is_operator: bool = False) -> Account:
    with store.writing() as tx:
        take_scope(tx, Scope(username), "personal")
        email = f"{username}@example.org"
        return add_account(tx, Scope(username), email, "a hash", is_operator=is_operator)


def an_organization(store: Store, slug: str = "acme", **members: Account) -> Organization:
    """With these members; the name is the role, plus a number if there are several."""
    with store.writing() as tx:
        take_scope(tx, Scope(slug), "organization")
        made = add_organization(tx, Scope(slug), slug.capitalize())
        for role, account in members.items():
            put_member(tx, made.id, account.id, Role(role.rstrip("0123456789")))
        return made


def later(store: Store, **span: float) -> Store:
    """A store of the same data, this much later."""
    now = from_ms(store.now_ms()) + timedelta(**span)
    return Store(store.engine, store._lock_file, now=lambda: now)
