"""Staged imports: what happens between acceptance and completion."""

import os
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
import zstandard

from accounts.stored_accounts import an_account
from support.people import BUNDLE, request_body
from support.widgets import add_old_widgets, import_widgets, version_line, widget_line
from transfer.import_state import exported, state_of, stored_line
from transfer.importing import interrupted_import, staged_import
from widget_catalog.catalog.node.node import Node, prepare_node
from widget_catalog.catalog.reading.accepted_import import finish_import
from widget_catalog.catalog.store.staging import importing, imports, staged_batches, staged_widgets
from widget_catalog.catalog.store.widgets import count_widgets, get_widget
from widget_catalog.core.actors import Actor, Via
from widget_catalog.core.errors import Conflict, DataDamaged, InvalidImport, StoreUnavailable
from widget_catalog.operations.doctor import check_catalog
from widget_catalog.publishing.publish_version import publish_version
from widget_catalog.publishing.request_version import request_version
from widget_contract.names import Scope, WidgetName

pytestmark = pytest.mark.slow

MANY = 1_200


def _lines(scope: str = "many", count: int = MANY) -> list[dict[str, Any]]:
    return [widget_line(f"{scope}/w{i}", downloadCount=i) for i in range(count)]


def _staged_rows(node: Node) -> list[int]:
    with node.store.reading() as connection:
        tables = (imports, staged_batches, staged_widgets)
        return [
            connection.execute(sa.select(sa.func.count()).select_from(table)).scalar_one()
            for table in tables
        ]


def _versions(node: Node, key: str) -> list[str]:
    scope, _, name = key.partition("/")
    with node.store.reading() as connection:
        found = get_widget(connection, Scope(scope), WidgetName(name))
    return [it.number for it in found.widget.versions]


def _assert_healthy(node: Node) -> None:
    assert check_catalog(node.store, node.bundles, node.replica).is_healthy
    assert _staged_rows(node) == [0, 0, 0]


def test_an_interrupted_import_is_finished_and_gives_what_a_whole_one_gives(
    node: Node, tmp_path: Path
) -> None:
    old = widget_line("many/w3", versions=[version_line("0.9.0")])
    lines = [*_lines(), widget_line("many/w7", versions=[version_line("2.0.0")])]
    import_widgets(node, old)
    interrupted_import(node, *lines, batches=2)
    with node.store.reading() as connection:
        assert 1 < count_widgets(connection) < MANY

    finish_import(node.store)
    finish_import(node.store)

    whole = prepare_node(tmp_path / "whole")
    import_widgets(whole, old)
    import_widgets(whole, *lines)
    assert exported(node) == exported(whole)
    whole.store.close()
    _assert_healthy(node)


def test_an_import_is_finished_by_others_only_if_it_is_not_under_way(node: Node) -> None:
    interrupted_import(node, *_lines(), batches=1)

    with importing(node.store):
        finish_import(node.store)
        assert _staged_rows(node)[0] == 1
    finish_import(node.store)

    with node.store.reading() as connection:
        assert count_widgets(connection) == MANY
    _assert_healthy(node)


def test_an_import_of_another_release_is_rendered_again(node: Node) -> None:
    interrupted_import(node, *_lines())
    with node.store.writing() as tx:
        tx.connection.execute(sa.update(imports).values(release="0.0.1"))

    finish_import(node.store)

    _assert_healthy(node)


def test_a_second_import_first_finishes_the_interrupted_one(node: Node) -> None:
    interrupted_import(node, *_lines())

    summary = import_widgets(node, *_lines(count=10))

    assert (summary.widgets_added, summary.versions_skipped) == (0, 10)
    _assert_healthy(node)


def test_a_publish_builds_on_what_an_accepted_import_will_write(node: Node) -> None:
    actor = Actor(via=Via.SESSION, account=an_account(node.store, "ann"))
    imported = widget_line("ann/clock", downloadCount=7, versions=[version_line("1.0.0")])
    interrupted_import(node, *_lines(), imported, into_owned=True)

    with pytest.raises(Conflict, match=r"ann/clock 1\.0\.0 is already published"):
        request_version(node.store, actor, request_body("ann/clock", "1.0.0"), 1 << 21)
    request = request_version(node.store, actor, request_body("ann/clock", "2.0.0"), 1 << 21)
    uploaded = node.folder.uploads / f"{request.id}.js"
    uploaded.parent.mkdir(parents=True, exist_ok=True)
    uploaded.write_bytes(BUNDLE)
    publish_version(node.store, node.bundles, node.uploads, actor, request.id)

    assert _versions(node, "ann/clock") == ["2.0.0", "1.0.0"]
    finish_import(node.store)
    assert _versions(node, "ann/clock") == ["2.0.0", "1.0.0"]
    assert b'"name":"clock"' in exported(node)
    assert b'"downloadCount":7' in exported(node)
    _assert_healthy(node)


def test_a_scope_that_an_accepted_import_will_fill_is_taken(node: Node) -> None:
    interrupted_import(node, *_lines("many"))

    with pytest.raises(Conflict, match="widgets are being imported into that scope"):
        an_account(node.store, "many")


def test_the_files_of_an_accepted_import_are_no_orphans(node: Node, base_folder: Path) -> None:
    (base_folder / "clock.js").write_bytes(b"export default 1;\n")
    stored = widget_line("files/clock", versions=[stored_line()])
    interrupted_import(node, *_lines(), stored, base_folder=base_folder)

    for path in state_of(node).files:
        os.utime(path, (0, 0))
    assert check_catalog(node.store, node.bundles, node.replica).is_healthy
    finish_import(node.store)

    _assert_healthy(node)
    assert len(state_of(node).files) == 1


def test_a_version_published_just_before_acceptance_is_compared_with_the_file(node: Node) -> None:
    before = _lines()
    with staged_import(node, *before) as staging:
        other = version_line("1.0.0", sha256Hash="b" * 64)
        add_old_widgets(node, widget_line("many/w5", versions=[other]))
        after = state_of(node)

        with pytest.raises(InvalidImport, match=r"^Line 6: sha256Hash: many/w5 1\.0\.0 is already"):
            staging.accept(texts_cleaned=0)

    finish_import(node.store)  # As the import itself does: nothing was accepted.
    assert state_of(node) == after
    _assert_healthy(node)


def test_a_scope_taken_just_before_acceptance_is_refused(node: Node) -> None:
    with staged_import(node, *_lines("ann")) as staging:
        an_account(node.store, "ann")

        with pytest.raises(InvalidImport, match="scope: ann belongs to an account"):
            staging.accept(texts_cleaned=0)


def test_a_bundle_removed_before_acceptance_is_missed(node: Node, base_folder: Path) -> None:
    (base_folder / "clock.js").write_bytes(b"export default 1;\n")
    stored = widget_line("files/clock", versions=[stored_line()])
    with staged_import(node, stored, base_folder=base_folder) as staging:
        [path] = state_of(node).files
        path.unlink()

        with pytest.raises(StoreUnavailable, match="removed during the import"):
            staging.accept(texts_cleaned=0)


@pytest.mark.parametrize("drafts", [b"", b"noise", zstandard.compress(b"noise")])
def test_an_unfinished_import_that_is_damaged_is_not_written(node: Node, drafts: bytes) -> None:
    interrupted_import(node, *_lines(count=2))
    with node.store.writing() as tx:
        tx.connection.execute(sa.update(staged_batches).values(drafts=drafts))

    with pytest.raises(DataDamaged, match="Widgets of an unfinished import are damaged"):
        finish_import(node.store)

    with node.store.reading() as connection:
        assert count_widgets(connection) == 0
