"""`widget-catalog export`."""

import json
import os
import shutil
from pathlib import Path

import pytest

from support.commands import Said, widget_catalog
from support.folders import filled_folder
from support.permissions import without_root_powers
from support.widgets import version_line, widget_line
from transfer.importing import kept_numbers

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def with_bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a catalog of two widgets in `data`; one of them has a stored bundle."""
    folder = tmp_path_factory.mktemp("with_bundle")
    (folder / "clock.js").write_bytes(b"export default 1;\n")
    stored = {"bundleFile": "clock.js", "bundleUrl": None, "bundleSize": None, "sha256Hash": None}
    clock = widget_line("acme/clock", versions=[version_line("1.0.0", **stored)], downloadCount=7)
    filled_folder(folder / "data", clock, widget_line("other/lamp"), base_folder=folder)
    return folder


def test_what_is_exported_can_be_imported_and_is_the_same(
    with_bundle: Path, tmp_path: Path
) -> None:
    first, second = tmp_path / "first.ndjson", tmp_path / "again" / "second.ndjson"
    second.parent.mkdir()

    said = widget_catalog("export", first, "--data", with_bundle / "data")
    assert said == Said(0, "", f"Wrote 2 widgets to {first}.\n")
    assert widget_catalog("import", first, "--data", tmp_path / "copy").code == 0
    assert widget_catalog("export", second, "--data", tmp_path / "copy").code == 0

    assert first.read_bytes() == second.read_bytes()
    assert kept_numbers(tmp_path / "copy") == kept_numbers(with_bundle / "data") == (2, 2, 7)
    assert sorted(it.name for it in tmp_path.iterdir()) == [
        "again", "bundles", "copy", "first.ndjson"
    ]  # fmt: skip


def test_export_to_standard_output_names_bundles_by_their_address(with_bundle: Path) -> None:
    said = widget_catalog(
        "export",
        "-",
        "--data",
        with_bundle / "data",
        environment={"WIDGET_CATALOG_BASE_URL": "https://catalog.example"},
    )

    assert (said.code, said.err) == (0, "")
    clock, lamp = map(json.loads, said.out.splitlines())
    address = "https://catalog.example/cdn/@acme/clock/1.0.0/index.js"
    assert clock["versions"][0]["bundleUrl"] == address
    assert (clock["downloadCount"], lamp["name"]) == (7, "lamp")


def test_export_writes_over_an_old_export_but_not_if_it_fails(
    with_bundle: Path, tmp_path: Path
) -> None:
    target = tmp_path / "out.ndjson"
    target.write_text("the old export")
    data = tmp_path / "data"
    shutil.copytree(with_bundle / "data", data)
    (bundle,) = (data / "bundles").rglob("*.js")
    name = f"{bundle.parent.name}{bundle.name}"
    bundle.chmod(0o600)
    bundle.write_bytes(b"export default 2;\n")
    damaged = widget_catalog("export", target, "--data", data)
    bundle.unlink()

    missing = widget_catalog("export", target, "--data", data)

    end = "doctor says whose it is.\n"
    assert damaged == Said(1, "", f"Error: The stored bundle {name} is damaged; {end}")
    assert missing == Said(1, "", f"Error: The stored bundle {bundle} is missing; {end}")
    assert target.read_text() == "the old export"
    assert not list(tmp_path.glob(".*"))
    assert not list((tmp_path / "bundles").iterdir())


def test_no_more_of_a_bundle_is_exported_than_was_published(
    with_bundle: Path, tmp_path: Path
) -> None:
    data = tmp_path / "data"
    shutil.copytree(with_bundle / "data", data)
    (bundle,) = (data / "bundles").rglob("*.js")
    bundle.chmod(0o600)
    os.truncate(bundle, 1 << 30)

    assert widget_catalog("export", tmp_path / "out.ndjson", "--data", data).code == 0

    (copy,) = (tmp_path / "bundles").iterdir()
    assert copy.read_bytes() == b"export default 1;\n"


def test_an_export_that_cannot_be_written_is_one_sentence(
    with_bundle: Path, tmp_path: Path
) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o555)
    (tmp_path / "file").touch()
    reasons = {
        closed / "x.ndjson": "cannot be written: Permission denied.",
        tmp_path / "missing" / "x.ndjson": "cannot be written: No such file or directory.",
        tmp_path / "file" / "x.ndjson": "cannot be written: Not a directory.",
        tmp_path: "is a folder; pass a file name.",
        Path(): "is a folder; pass a file name.",
    }
    for target, reason in reasons.items():
        said = widget_catalog(
            "export", target, "--data", with_bundle / "data", before=without_root_powers
        )
        assert said == Said(1, "", f"Error: {target} {reason}\n")
