"""A commit whose fsync fails: the files it refers to stay, whatever happens to it later."""

import subprocess
import sys
from pathlib import Path

import pytest

from publishing.publisher import bundle_of, publish
from support.author import add_account
from widget_catalog.catalog.node.node import Node, prepare_node
from widget_catalog.catalog.store.widgets import find_widget
from widget_catalog.core.errors import StoreUnavailable
from widget_catalog.operations.doctor import check_catalog
from widget_contract.names import Scope, WidgetName

pytestmark = pytest.mark.slow


def test_the_bundle_of_a_publish_whose_fsync_failed_stays_for_recovery_may_complete_it(
    tmp_path: Path,
) -> None:
    node = prepare_node(tmp_path / "data")
    add_account(node, "ann")
    node.store.close()

    told = subprocess.run(
        [sys.executable, "-m", "publishing.failing_fsync", node.folder.path, "1.0.0"],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[1],
        check=False,
    )

    assert told.stdout.splitlines() == [
        "The catalog's database cannot be used just now (disk I/O error). Try again later.",
        "not visible",
    ]
    again = prepare_node(tmp_path / "data")
    with again.store.reading() as connection:
        stored = find_widget(connection, Scope("ann"), WidgetName("clock"))
    # Whatever recovery does with the commit, the bytes of a version that may come back stay.
    [bundle] = again.bundles.list_stored()
    assert Path(bundle.place).read_bytes() == bundle_of("1.0.0")
    for version in stored.widget.versions if stored is not None else ():
        assert version.sha256_hash == bundle.sha256_hash
    assert check_catalog(again.store, again.bundles, again.replica).is_healthy


def test_after_a_commit_that_failed_for_good_writing_goes_on(tmp_path: Path) -> None:
    node = prepare_node(tmp_path / "data")
    add_account(node, "ann")
    # A deferred foreign key to a missing widget makes the commit fail.
    with pytest.raises(StoreUnavailable):
        _fail_to_commit(node)

    publish(node.folder.path, "1.0.0")

    assert check_catalog(node.store, node.bundles, node.replica).is_healthy


def _fail_to_commit(node: Node) -> None:
    with node.store.writing() as tx:
        tx.connection.exec_driver_sql("PRAGMA defer_foreign_keys = ON")
        tx.connection.exec_driver_sql("INSERT INTO downloads VALUES (999, 1)")
