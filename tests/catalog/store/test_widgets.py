"""Widgets in the store."""

from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import Table

from support.values import a_version, a_widget
from widget_catalog.catalog.model.events import Unlisted, Yanked
from widget_catalog.catalog.store.downloads import get_counts
from widget_catalog.catalog.store.feed import list_changes
from widget_catalog.catalog.store.files import list_stored_files
from widget_catalog.catalog.store.rows import VersionColumns, WidgetColumns
from widget_catalog.catalog.store.tables import versions, widgets
from widget_catalog.catalog.store.widgets import (
    add_widgets,
    count_widgets,
    find_widget,
    get_widgets,
    replace_widget,
    stream_widgets,
)
from widget_catalog.core.actors import COMMAND_LINE
from widget_catalog.core.db.engine import Store
from widget_contract.names import Scope, WidgetName

YANKED = Yanked(scope="acme", name="clock", version="1.1.0", reason="Broken")


def find(store: Store, key: str = "acme/clock") -> Any:
    scope, _, name = key.partition("/")
    with store.reading() as connection:
        return find_widget(connection, Scope(scope), WidgetName(name))


@pytest.mark.parametrize(
    ("table", "columns"), [(widgets, WidgetColumns), (versions, VersionColumns)]
)
def test_columns_are_those_of_the_table_after_the_number_of_the_widget(
    table: Table, columns: type[msgspec.Struct]
) -> None:
    assert list(columns.__struct_fields__) == table.columns.keys()[1:]


def test_a_widget_comes_back_as_it_was_saved(store: Store) -> None:
    full = a_version(
        "2.0.0-rc.1+build.7",
        bundle_url="https://cdn.example/x.js",
        is_yanked=True,
        yanked_reason="Broken “here”",
        deprecation_message="Use 3",
        release_notes="- a\n- b",
        display_name="Uhr",
        description="Zeigt die Zeit 🕰",
        icon="mdi:clock",
        config_version=3,
        permissions=("network", "storage"),
        license="MIT",
    )
    widget = a_widget(
        "acme/clock", a_version("1.0.0"), full, description="x", is_official=True, is_listed=False
    )

    with store.publishing() as tx:
        add_widgets(tx, [(widget, 5)])

    found = find(store)
    assert found.widget == widget
    assert found.widget.versions[0].number == "2.0.0-rc.1+build.7"
    with store.reading() as connection:
        assert get_counts(connection, [found.id]) == {found.id: 5}


def test_unknown_widgets_are_not_found(store: Store) -> None:
    assert find(store, "acme/nothing") is None


def test_widgets_stream_by_scope_and_name_bytewise_whatever_the_batch(store: Store) -> None:
    keys = ["b/a", "a-b/z", "a/b-c", "a/b", "a/b0", "ab/a", "a/0"]
    with store.publishing() as tx:
        add_widgets(tx, [(a_widget(key, a_version()), 0) for key in keys])

    with store.reading() as connection:
        for batch in (1, 2, 100):
            streamed = [
                f"{it.widget.scope}/{it.widget.name}" for it in stream_widgets(connection, batch)
            ]
            by_parts = sorted(keys, key=lambda key: key.split("/"))
            assert streamed == by_parts


def test_ids_are_dense_and_saving_appends_to_the_feed(store: Store) -> None:
    with store.publishing() as tx:
        add_widgets(tx, [(a_widget("acme/one"), 0), (a_widget("acme/two"), 0)])
    with store.publishing() as tx:
        add_widgets(tx, [(a_widget("other/three"), 0)])
        one = get_widgets(tx.connection, [1])[0]
        hidden = a_widget("acme/one", is_listed=False)
        replace_widget(tx, one, hidden, COMMAND_LINE, Unlisted(scope="acme", name="one"))

    with store.reading() as connection:
        changes = list_changes(connection, after=0)
        assert list_changes(connection, after=3) == changes[3:]
    at = store.now_ms()
    assert changes == [
        (1, 1, "acme", at, "imported", None),
        (2, 2, "acme", at, "imported", None),
        (3, 3, "other", at, "imported", None),
        (4, 1, "acme", at, "unlisted", None),
    ]


def test_replacing_adds_and_changes_versions_but_never_removes_one(store: Store) -> None:
    old = a_widget("acme/clock", a_version("1.0.0"), a_version("1.1.0"))
    with store.publishing() as tx:
        add_widgets(tx, [(old, 0)])
    stored = find(store)
    yanked = msgspec.structs.replace(stored.widget.versions[0], is_yanked=True)
    new = stored.widget.with_versions([yanked, stored.widget.versions[1], a_version("2.0.0")])

    with store.publishing() as tx:
        replace_widget(tx, stored, new, COMMAND_LINE, YANKED)
    assert find(store).widget == new

    fewer = a_widget("acme/clock", a_version("1.0.0"))
    with pytest.raises(ValueError, match="never removed"), store.publishing() as tx:
        replace_widget(tx, find(store), fewer, COMMAND_LINE, YANKED)
    assert find(store).widget == new


def test_versions_that_differ_only_in_build_metadata_are_one(store: Store) -> None:
    with store.publishing() as tx:
        add_widgets(tx, [(a_widget("acme/clock", a_version("1.0.0+a")), 0)])
    stored = find(store)
    rebuilt = stored.widget.with_versions([a_version("1.0.0+b", is_yanked=True)])

    with store.publishing() as tx:
        replace_widget(tx, stored, rebuilt, COMMAND_LINE, YANKED)

    assert [it.number for it in find(store).widget.versions] == ["1.0.0+b"]


def test_bundles_stored_here_are_listed_and_others_are_not(store: Store) -> None:
    here, elsewhere = a_version("1.0.0"), a_version("2.0.0", bundle_url="https://cdn.example/x.js")
    with store.publishing() as tx:
        add_widgets(tx, [(a_widget("acme/clock", here, elsewhere), 0)])

    with store.reading() as connection:
        assert list(list_stored_files(connection)) == [
            ("acme", "clock", "1.0.0", "js", "ab" * 32, 10)
        ]


@given(
    text=st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), min_size=1),
    at=st.integers(-(10**12), 10**13),
)
def test_any_text_and_instant_survives(store: Store, text: str, at: int) -> None:
    instant = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=at)
    widget = a_widget(
        "acme/clock",
        a_version(release_notes=text, permissions=(text, text), published_at=instant),
        display_name=text,
        description=text,
        created_at=instant,
    )
    with store.publishing() as tx:
        stored = find_widget(tx.connection, widget.scope, widget.name)
        if stored is None:
            add_widgets(tx, [(widget, 0)])
        else:
            replace_widget(tx, stored, widget, COMMAND_LINE, YANKED)

    assert find(store).widget == widget


def test_a_failed_transaction_leaves_nothing(store: Store) -> None:
    def fail_half_way() -> None:
        with store.publishing() as tx:
            add_widgets(tx, [(a_widget(), 3)])
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail_half_way()

    with store.reading() as connection:
        assert count_widgets(connection) == 0
        assert list_changes(connection, after=0) == []
        assert get_counts(connection, [1]) == {}


def test_what_the_public_sees_is_not_changed_by_anyone_who_only_writes(store: Store) -> None:
    with pytest.raises(ValueError, match=r"Store\.publishing"), store.writing() as tx:
        add_widgets(tx, [(a_widget("acme/first"), 0)])
