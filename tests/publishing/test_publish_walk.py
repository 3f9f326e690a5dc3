"""A publish goes forward: the document is rendered once, and no import is in its way."""

from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy as sa

from support.people import BUNDLE
from support.site_with_people import People
from support.values import a_version, a_widget
from widget_catalog.catalog.model.widgets import Widget
from widget_catalog.catalog.reading import accepted_import
from widget_catalog.catalog.replica import applier, encoding
from widget_catalog.catalog.replica.rendering import measure_detail, render
from widget_catalog.publishing import publish_version


class Walk:
    """What happens in a publish: the widgets that are rendered, and the SQL that is run."""

    def __init__(self) -> None:
        self.rendered: list[str] = []
        self.statements: list[str] = []
        self.drafts_written = 0


@pytest.fixture
def walk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Walk]:
    walk = Walk()

    def counted_render(widget: Widget) -> Any:
        walk.rendered.append(f"{widget.scope}/{widget.name}")
        return render(widget)

    def counted_drafts(*_: object) -> None:
        walk.drafts_written += 1

    def counted_statement(*about: Any) -> None:
        walk.statements.append(about[2])

    for module in (encoding, applier, publish_version):
        monkeypatch.setattr(module, "render", counted_render)
    monkeypatch.setattr(accepted_import, "write_drafts", counted_drafts)
    sa.event.listen(sa.Engine, "before_cursor_execute", counted_statement)
    yield walk
    sa.event.remove(sa.Engine, "before_cursor_execute", counted_statement)


@pytest.mark.parametrize("earlier", [0, 1, 3])
def test_a_publish_renders_its_document_once(people: People, walk: Walk, earlier: int) -> None:
    for number in range(earlier):
        people.ann.publish("ann/walk", f"1.0.{number}")
    walk.rendered.clear()

    requested = people.ann.request("ann/walk", "2.0.0").json()
    assert walk.rendered == []
    assert people.ann.upload(requested["uploadUrl"], BUNDLE).status == 200
    assert people.ann.confirm(requested["versionId"]).status == 200

    assert walk.rendered == ["ann/walk"]
    shown = people.ann.get("/api/v1/widgets/ann/walk").json()
    assert shown["latestVersion"] == "2.0.0"
    assert len(shown["versions"]) == earlier + 1
    assert walk.rendered == ["ann/walk"]


def test_other_changes_render_their_document_once(people: People, walk: Walk) -> None:
    people.ann.publish("ann/walk")
    walk.rendered.clear()

    assert people.ann.post("/api/widgets/ann/walk/unlist", {}).status == 200
    assert walk.rendered == ["ann/walk"]


def test_a_publish_neither_reads_nor_writes_what_an_import_has_staged(
    people: People, walk: Walk
) -> None:
    people.ann.publish("ann/walk")

    assert any("publish_requests" in it for it in walk.statements)
    assert [it for it in walk.statements if "staged_" in it] == []
    assert walk.drafts_written == 0


@pytest.mark.parametrize("count", [0, 1, 2, 30])
def test_a_request_measures_what_a_confirmation_renders(count: int) -> None:
    versions = [a_version(f"1.{number}.0", release_notes="é\n" * number) for number in range(count)]
    widget = a_widget("ann/walk", *versions)

    assert measure_detail(widget) == render(widget).detail_bytes
