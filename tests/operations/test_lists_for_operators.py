"""The lists that people page through: of accounts, names, widgets and the audit log."""

from accounts.stored_accounts import an_account
from support.values import a_version, a_widget
from widget_catalog.accounts.store import (
    count_accounts,
    end_account,
    list_accounts_page,
    list_scopes,
    take_scope,
)
from widget_catalog.catalog.model.events import ScopeReserved
from widget_catalog.catalog.store.audit import AuditFilter, list_filtered
from widget_catalog.catalog.store.events import append
from widget_catalog.catalog.store.widgets import add_widgets, count_stored_bytes, list_widgets_page
from widget_catalog.core.actors import COMMAND_LINE
from widget_catalog.core.db.engine import Store
from widget_contract.names import Scope


def test_accounts_and_names_page_by_page(store: Store) -> None:
    for name in ("ann", "ben", "cat"):
        an_account(store, name)
    with store.writing() as tx:
        take_scope(tx, Scope("kept"), "reserved")
        end_account(tx, list_accounts_page(tx.connection, "cat", 1, 1)[0][0].id)
    with store.reading() as connection:
        found, total = list_accounts_page(connection, "", 2, 2)
        assert ([it.username for it in found], total) == (["cat"], 3)
        found, total = list_accounts_page(connection, "BEN@", 1, 10)
        assert ([it.username for it in found], total) == (["ben"], 1)
        assert list_accounts_page(connection, "%", 1, 10) == ([], 0)
        assert count_accounts(connection) == 2
        names, total = list_scopes(connection, "reserved", 1, 10)
        assert ([it.name for it in names], total) == (["kept"], 1)
        assert list_scopes(connection, None, 2, 3)[1] == 4


def test_widgets_by_scope_or_newest_first_and_by_state(store: Store) -> None:
    widgets = [
        a_widget("acme/clock", a_version("1.0.0"), is_official=True),
        a_widget("acme/dice", a_version("1.0.0"), is_listed=False),
        a_widget("ann/clock", a_version("1.0.0")),
    ]
    with store.publishing() as tx:
        add_widgets(tx, [(it, 0) for it in widgets])
    with store.reading() as connection:

        def keys(**which: object) -> tuple[list[str], int]:
            found, total = list_widgets_page(connection, 1, 2, **which)  # type: ignore[arg-type]
            return [f"{it.widget.scope}/{it.widget.name}" for it in found], total

        assert keys() == (["ann/clock", "acme/dice"], 3)
        assert keys(scopes=["acme"]) == (["acme/clock", "acme/dice"], 2)
        assert keys(state="official") == (["acme/clock"], 1)
        assert keys(state="unlisted") == (["acme/dice"], 1)
        assert keys(state="revoked") == ([], 0)
        size = sum(it.versions[0].bundle_size for it in widgets if not it.versions[0].bundle_url)
        assert count_stored_bytes(connection) == size


def test_the_audit_log_by_person_action_place_and_time(store: Store) -> None:
    with store.writing() as tx:
        for name in ("one", "two"):
            append(tx, COMMAND_LINE, ScopeReserved(scope=name))
        now_ms = tx.at_ms
    with store.reading() as connection:

        def scopes(which: AuditFilter, limit: int = 10) -> tuple[list[str | None], int]:
            entries, total = list_filtered(connection, which, 1, limit)
            return [it.scope for it in entries], total

        assert scopes(AuditFilter(), 1) == (["two"], 2)
        assert scopes(AuditFilter(actor="operator", scope="one")) == (["one"], 1)
        assert scopes(AuditFilter(action="reserve scope")) == (["two", "one"], 2)
        assert scopes(AuditFilter(action="yank")) == ([], 0)
        assert scopes(AuditFilter(since=now_ms, until=now_ms + 1)) == (["two", "one"], 2)
        assert scopes(AuditFilter(until=now_ms)) == ([], 0)
        assert scopes(AuditFilter(name="clock")) == ([], 0)
