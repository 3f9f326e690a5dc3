"""Bulk inserts store values unchanged, and report errors like any other statement."""

import msgspec
import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from support.values import a_widget
from widget_catalog.catalog.store.feed import latest_seq
from widget_catalog.catalog.store.tables import changes
from widget_catalog.catalog.store.widgets import add_widgets, list_widgets_in
from widget_catalog.core.db.bulk import insert_rows
from widget_catalog.core.db.engine import Store
from widget_catalog.core.errors import StoreUnavailable

# Characters that COPY escapes, and everything else that a text may contain.
texts = st.one_of(
    st.sampled_from(["\\N", "\\.", "a\tb", "a\nb", "a\rb", "\\x41", '"', ",", ""]),
    st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20),
)


@settings(max_examples=8, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.one_of(st.none(), texts), min_size=15, max_size=15))
@example([None] * 15)
def test_texts_arrive_as_they_were_sent(store: Store, descriptions: list[str | None]) -> None:
    with store.reading() as connection:
        scope = f"acme{latest_seq(connection)}"
    sent = [
        msgspec.structs.replace(a_widget(f"{scope}/w{i:02}"), description=text)
        for i, text in enumerate(descriptions)
    ]

    with store.publishing() as tx:
        add_widgets(tx, [(it, 1) for it in sent])

    with store.reading() as connection:
        found = list_widgets_in(connection, sent[0].scope)
    assert [it.widget.description for it in found] == descriptions


def test_a_error_in_the_midst_of_many_rows_is_named_and_keeps_none(store: Store) -> None:
    rows = [(number, 1, "acme", 0, "imported", None, None) for number in [*range(1, 30), 1]]

    with pytest.raises(StoreUnavailable) as caught, store.publishing() as tx:
        insert_rows(tx.connection, changes, rows)

    assert "acme" not in str(caught.value)
    with store.reading() as connection:
        count = sa.select(sa.func.count()).select_from(changes)
        assert connection.execute(count).scalar_one() == 0
