"""Damaged rows are never returned, on either database."""

from pathlib import Path

import pytest
import sqlalchemy as sa

from support.values import a_version, a_widget
from widget_catalog.catalog.model.events import Imported
from widget_catalog.catalog.store.rows import slice_of
from widget_catalog.catalog.store.tables import versions, widgets
from widget_catalog.catalog.store.widgets import (
    add_widgets,
    find_widget,
    get_widgets,
    read_rows,
    replace_widget,
)
from widget_catalog.core.actors import COMMAND_LINE
from widget_catalog.core.db.damage import DamageAlarm
from widget_catalog.core.db.engine import Store
from widget_catalog.core.errors import DataDamaged
from widget_contract.names import Scope, WidgetName

SOUND = a_widget("acme/sound", a_version("1.0.0"))
CLOCK = a_widget("acme/clock", a_version("1.0.0"), a_version("2.0.0", is_yanked=True))


@pytest.fixture(autouse=True)
def filled(store: Store) -> None:
    with store.publishing() as tx:
        add_widgets(tx, [(SOUND, 0), (CLOCK, 7)])


def _change(store: Store, change: sa.Update) -> None:
    with store.engine.begin() as connection:
        assert connection.execute(change).rowcount == 1


_WIDGET = sa.update(widgets).where(widgets.c.name == "clock")
_VERSION = sa.update(versions).where(versions.c.widget_id == 2, versions.c.identity == "1.0.0")


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (_WIDGET.values(display_name="Clocl"), "the widget acme/clock (number 2)"),
        (_WIDGET.values(description=""), "the widget acme/clock (number 2)"),
        (_WIDGET.values(is_listed=False), "the widget acme/clock (number 2)"),
        (_WIDGET.values(created_at=1), "the widget acme/clock (number 2)"),
        (_WIDGET.values(checksum=1), "the widget acme/clock (number 2)"),
        (_VERSION.values(bundle_size=1), "version 1.0.0 of acme/clock"),
        (_VERSION.values(sha256_hash="0" * 64), "version 1.0.0 of acme/clock"),
        (_VERSION.values(is_yanked=True), "version 1.0.0 of acme/clock"),
        (_VERSION.values(manifest="{}"), "version 1.0.0 of acme/clock"),
    ],
    ids=str,
)
def test_a_changed_row_is_damaged_and_named(store: Store, change: sa.Update, what: str) -> None:
    _change(store, change)
    sentence = (
        f"The database is damaged: what it holds of {what} is not what was written. Restore it "
        "from a backup."
    )

    with store.reading() as connection:
        with pytest.raises(DataDamaged) as damaged:
            find_widget(connection, Scope("acme"), WidgetName("clock"))
        found = slice_of(read_rows(connection, 0))

    assert damaged.value.message == sentence
    assert [it.widget for it in found.intact] == [SOUND]
    assert found.damaged == {2: ("acme", "clock", sentence)}


def test_a_version_that_moved_to_another_widget_is_damaged(store: Store) -> None:
    _change(store, _VERSION.values(widget_id=1, identity="3.0.0"))

    with store.reading() as connection, pytest.raises(DataDamaged):
        get_widgets(connection, [1])


def test_what_is_saved_again_is_sound(store: Store) -> None:
    with store.publishing() as tx:
        [stored] = get_widgets(tx.connection, [2])
        more = stored.widget.with_versions([*stored.widget.versions, a_version("3.0.0")])
        told = Imported(scope=more.scope, name=more.name, version="3.0.0")
        replace_widget(tx, stored, more, COMMAND_LINE, told)

    with store.reading() as connection:
        assert [it.widget for it in get_widgets(connection, [2])] == [more]


def test_the_alarm_keeps_what_was_found_first_until_it_is_cleared(tmp_path: Path) -> None:
    alarm, other = DamageAlarm(tmp_path / "damage"), DamageAlarm(tmp_path / "damage")

    assert not alarm.report(OSError("full"))
    assert alarm.current() is None
    assert alarm.report(DataDamaged("first"))
    assert other.report(DataDamaged("second"))

    assert alarm.current() == other.current() == "first"
    other.clear()
    other.clear()
    assert alarm.current() is None
