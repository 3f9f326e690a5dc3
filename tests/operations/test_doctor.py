"""`widget-catalog doctor`: finds errors, repairs what can be rebuilt, and reports both."""

import contextlib
import os
import shutil
import sqlite3
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from accounts.stored_accounts import an_account
from catalog.replica.replica_content import (
    change_record,
    change_widget,
    opened,
    remove_document,
    remove_key,
    replica_of,
)
from support.commands import Said, widget_catalog
from support.folders import filled_folder
from support.permissions import read_only, without_root_powers
from support.service import running_service
from support.widgets import version_line, widget_line
from widget_catalog.accounts.second_factor.store import put_app
from widget_catalog.catalog.node.node import prepare_node
from widget_catalog.catalog.replica.file import ReplicaState
from widget_catalog.core.keys import SecretBox
from widget_catalog.operations.doctor_command import describe_slow_build

pytestmark = pytest.mark.slow

_SLOW_BUILD = describe_slow_build()
_NOTE = f"Note: {_SLOW_BUILD}\n" if _SLOW_BUILD else ""
_WELL = Said(0, "", f"Checked 61 widgets and 1 stored bundle.\n{_NOTE}No problems found.\n")


@pytest.fixture(scope="module")
def healthy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("healthy")
    (folder / "clock.js").write_bytes(b"export default 1;\n")
    stored = {"bundleFile": "clock.js", "bundleUrl": None, "bundleSize": None, "sha256Hash": None}
    clock = widget_line("acme/clock", versions=[version_line("1.0.0", **stored)])
    others = [widget_line(f"acme/w{i}", downloadCount=i) for i in range(60)]
    return filled_folder(folder / "data", clock, *others, base_folder=folder)


@pytest.fixture
def data(healthy: Path, tmp_path: Path) -> Path:
    copy = tmp_path / "data"
    shutil.copytree(healthy, copy, ignore=shutil.ignore_patterns("run"))
    return copy


def _bundle(data: Path) -> Path:
    (found,) = (data / "bundles").rglob("*.js")
    return found


def _change(data: Path, statement: str) -> None:
    with contextlib.closing(sqlite3.connect(data / "catalog.db")) as database:
        assert database.execute(statement).rowcount == 1
        database.commit()


def test_a_healthy_folder_is_well(data: Path) -> None:
    assert widget_catalog("doctor", "--data", data) == _WELL


def test_a_damaged_bundle_is_a_error_of_its_version(data: Path) -> None:
    bundle = _bundle(data)
    bundle.chmod(0o644)
    bundle.write_bytes(b"export default 2;\n")

    said = widget_catalog("doctor", "--data", data)

    assert (said.code, said.out) == (1, "")
    assert "Error: acme/clock 1.0.0: its bundle is damaged" in said.err
    assert "No problems found" not in said.err


def test_a_missing_bundle_is_a_error_of_its_version(data: Path) -> None:
    _bundle(data).unlink()

    said = widget_catalog("doctor", "--data", data)

    assert said.code == 1
    assert "Error: acme/clock 1.0.0: its bundle is missing or cannot be read.\n" in said.err


def test_a_faulty_bundle_does_not_keep_the_read_model_from_being_checked(data: Path) -> None:
    _bundle(data).unlink()
    change_widget(data, 3, description="Wrong")

    said = widget_catalog("doctor", "--data", data)

    assert said.code == 1
    assert "Error: acme/clock 1.0.0: its bundle is missing" in said.err
    assert "Repaired: the document of acme/w1 differed from the database.\n" in said.err


def test_an_authenticator_app_whose_key_is_lost_is_reported(data: Path) -> None:
    node = prepare_node(data)
    box = SecretBox(node.folder.second_factor_key)
    for name in ("ann", "bob"):
        account = an_account(node.store, name)
        with node.store.writing() as tx:
            put_app(tx, account.id, box.seal("a secret"), 0)
    node.store.close()
    assert widget_catalog("doctor", "--data", data) == _WELL
    node.folder.second_factor_key.unlink()

    said = widget_catalog("doctor", "--data", data)

    assert said.code == 1
    assert said.err == (
        f"Checked 61 widgets and 1 stored bundle.\n{_NOTE}"
        "Error: second factor: 2 of 2 authenticator apps cannot be used, because "
        "second-factor.key is missing or is another one.\n"
    )


def test_a_folder_that_may_not_be_written_is_not_called_damaged(data: Path) -> None:
    with read_only(data):
        said = widget_catalog("doctor", "--data", data, before=without_root_powers)

    assert said == Said(1, "", f"Error: The data folder {data} is not writable.\n")


@pytest.mark.parametrize(
    ("command", "file"),
    [("doctor", "catalog.db"), ("serve", "catalog.db-wal"), ("serve", "uploads")],
)
def test_a_file_that_may_not_be_written_is_named(data: Path, command: str, file: str) -> None:
    path = data / file
    path.touch()
    mode = path.stat().st_mode
    path.chmod(0o400)
    try:
        said = widget_catalog(command, "--data", data, before=without_root_powers)
    finally:
        path.chmod(mode)

    assert said.code == 1
    assert said.err.startswith(f"Error: {path} belongs to {path.owner()}, and this user cannot ")


def test_files_that_no_version_refers_to_are_reported_and_moved_aside_when_asked(
    data: Path,
) -> None:
    orphans = [_bundle(data).with_name("0" * 62 + ".js"), data / "bundles" / ".incoming-[bold]"]
    for orphan in orphans:
        orphan.write_text("x")
        os.utime(orphan, (0, 0))

    said = widget_catalog("doctor", "--data", data)

    assert said.code == 1
    for orphan in orphans:
        assert f"Orphan: no version refers to {orphan}\n" in said.err
    assert all(orphan.exists() for orphan in orphans)
    tried = widget_catalog("doctor", "--clean", "--dry-run", "--data", data)
    assert tried.code == 1
    assert "Would move 2 files (2 bytes) aside; 1 of 2 stored files would stay.\n" in tried.err
    assert all(orphan.exists() for orphan in orphans)
    cleaned = widget_catalog("doctor", "--clean", "--data", data)
    assert cleaned.code == 0
    (aside,) = (data / "aside").iterdir()
    assert (
        f"Moved 2 files (2 bytes) that no version refers to into {aside}. Delete that folder when "
        "you are sure that nothing is missing.\n"
    ) in cleaned.err
    assert [(aside / it.relative_to(data)).read_text() for it in orphans] == ["x", "x"]
    assert not any(orphan.exists() for orphan in orphans)
    assert _bundle(data).exists()
    kept = widget_catalog("doctor", "--delete-aside", "1", "--data", data)
    assert (kept.code, aside.exists()) == (0, True)
    gone = widget_catalog("doctor", "--delete-aside", "0", "--data", data)
    assert f"Deleted {aside} (2 files (2 bytes)).\n" in gone.err
    assert not aside.exists()


def test_cleaning_refuses_to_take_everything_away(data: Path) -> None:
    """As with a database that was lost and created again, or belongs to another catalog."""
    for file in data.glob("catalog.db*"):
        file.unlink()
    prepare_node(data, may_begin_anew=True).store.close()
    os.utime(_bundle(data), (0, 0))

    said = widget_catalog("doctor", "--clean", "--data", data)

    assert said.code == 1
    assert "Error: Only 0 of 1 stored files are referred to by a version" in said.err
    assert "add --force" in said.err
    assert _bundle(data).exists()
    forced = widget_catalog("doctor", "--clean", "--force", "--data", data)
    assert "Moved 1 file (18 bytes)" in forced.err
    assert list((data / "bundles").rglob("*.js")) == []


@pytest.mark.parametrize(
    "spoil",
    [
        partial(change_widget, widget_id=9, display_name="Another"),
        partial(change_widget, widget_id=3, versions=()),
        partial(remove_key, scope="acme", name="w8"),
        partial(remove_document, widget_id=9),
        partial(change_record, table="index_rows", widget_id=9, change=lambda it: it + b"?"),
    ],
)
def test_a_read_model_that_differs_is_mended_and_reported_once(
    data: Path, spoil: Callable[[Path], None]
) -> None:
    spoil(data)

    said = widget_catalog("doctor", "--data", data)

    assert (said.code, said.out) == (1, "")
    assert "Repaired: " in said.err
    assert widget_catalog("doctor", "--data", data) == _WELL


def test_what_is_mended_is_shown_by_a_running_service_at_once(data: Path) -> None:
    with running_service(data) as service, service.client() as client:
        path = "/api/v1/widgets/acme/w7"
        assert client.get(path).json()["widget"]["displayName"] == "W7"
        change_widget(data, 9, display_name="Odd", scope="odd")
        assert widget_catalog("doctor", "--data", data).code == 1

        assert client.get(path).json()["widget"]["displayName"] == "W7"
        found = client.get("/api/v1/widgets/search?q=w7").json()["widgets"]
        assert [it["scope"] for it in found] == ["acme"]
        assert widget_catalog("doctor", "--data", data) == _WELL


@pytest.mark.parametrize("start", [0, 4096, -40_960])
def test_a_damaged_database_is_reported_in_sentences_by_every_command(
    data: Path, start: int
) -> None:
    database = data / "catalog.db"
    content = bytearray(database.read_bytes())
    content[start : start + 4096] = b"\xa5" * 4096
    database.write_bytes(content)

    said = widget_catalog("doctor", "--data", data)

    assert (said.code, said.out) == (1, "")
    assert said.err.startswith("Error: database: ")
    assert said.err.endswith("Error: The database is damaged. Restore it from a backup.\n")
    other = widget_catalog("serve", "--data", data, "--port", "1") if start == 0 else said
    assert other.code == 1


def test_a_truncated_database_is_refused(data: Path) -> None:
    database = data / "catalog.db"
    with database.open("r+b") as file:
        file.truncate(database.stat().st_size // 2)

    assert widget_catalog("doctor", "--data", data).code == 1
    said = widget_catalog("stats", "--data", data)
    assert (said.code, said.out, said.err.count("\n")) == (1, "", 1)
    assert said.err.startswith("Error: ")


def test_a_read_model_of_an_older_release_is_rebuilt_correctly(data: Path) -> None:
    with opened(data) as file, file.writing() as transaction:
        file.put_state(transaction, ReplicaState(format=1))
    change_record(data, "documents", 3, lambda it: it[:50])

    first, again = (widget_catalog("doctor", "--data", data) for _ in range(2))

    assert first == again == _WELL


def test_rebuild_rebuilds_the_read_model_under_a_running_service(data: Path) -> None:
    before = replica_of(data)
    with running_service(data) as service, service.client() as client:
        said = widget_catalog("doctor", "--rebuild", "--data", data)

        assert said == Said(0, "", f"Rebuilt the read model.\n{_WELL.err}")
        assert replica_of(data) != before
        assert not before.exists()
        assert client.get("/api/v1/widgets/acme/w7").status_code == 200
        assert client.get("/api/v1/widgets/search").json()["total"] == 61
        shutil.rmtree(data / "replica")
        assert widget_catalog("doctor", "--data", data) == _WELL
        assert client.get("/api/v1/widgets/acme/w8").status_code == 200


def test_one_damaged_row_does_not_keep_doctor_from_the_rest(data: Path) -> None:
    _bundle(data).unlink()
    _change(data, "UPDATE widgets SET display_name = 'other' WHERE name = 'w7'")

    said = widget_catalog("doctor", "--data", data)

    assert said.code == 1
    assert "Checked 61 widgets and 1 stored bundle." in said.err
    assert "what it holds of the widget acme/w7" in " ".join(said.err.split())
    assert "acme/clock 1.0.0: its bundle is missing" in said.err
    assert "Orphan" not in said.err


def test_where_nearly_all_files_are_orphans_the_database_is_suspected(data: Path) -> None:
    for i in range(20):
        orphan = data / "bundles" / "aa" / f"{i:062}.js"
        orphan.parent.mkdir(exist_ok=True)
        orphan.write_bytes(b"1;")
        os.utime(orphan, (0, 0))

    plain = widget_catalog("doctor", "--data", data)
    dry = widget_catalog("doctor", "--clean", "--dry-run", "--data", data)

    said = " ".join(plain.err.split())
    assert "The database may be an old one" in said
    assert "An interrupted import leaves" not in said
    assert "--clean refuses this without --force" in " ".join(dry.err.split())


def test_a_damaged_page_is_reported_without_sqlites_headings(data: Path) -> None:
    with contextlib.closing(sqlite3.connect(data / "catalog.db")) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        query = "SELECT rootpage FROM sqlite_schema WHERE name = 'audit'"
        (page,) = database.execute(query).fetchone()
    with (data / "catalog.db").open("r+b") as file:
        file.seek((page - 1) * 4096)
        file.write(b"\xff" * 100)

    said = widget_catalog("doctor", "--data", data)

    assert said.code == 1
    assert "Error: database: " in said.err
    assert "***" not in said.err


def test_redating_a_widget_that_needs_none_says_so(data: Path) -> None:
    said = widget_catalog("version", "redate", "acme/clock", "--data", data)

    assert said == Said(
        0, "", "No version of acme/clock has a date in the future. Nothing was changed.\n"
    )


def test_secrets_that_everybody_can_read_are_a_warning(data: Path, tmp_path: Path) -> None:
    config = tmp_path / "catalog.toml"
    config.write_text('oidc_client_secret = "hush"\n')
    config.chmod(0o644)

    said = widget_catalog("doctor", "--data", data, "--config", config)
    assert said.code == 0
    assert f"Warning: {config} contains oidc_client_secret" in said.err
    assert f"Run: chmod o-rwx {config}\n" in said.err

    config.chmod(0o600)
    assert "Warning" not in widget_catalog("doctor", "--data", data, "--config", config).err
