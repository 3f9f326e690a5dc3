"""`widget-catalog keys create` and `snapshot …`, as an operator uses them."""

from pathlib import Path

import pytest

from support.commands import Said, widget_catalog
from support.folders import filled_folder
from support.widgets import widget_line


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a catalog, keys, and a signed snapshot of the catalog."""
    folder = tmp_path_factory.mktemp("place")
    (folder / "a.js").write_bytes(b"export const mount = () => {};")
    version = {
        "version": "1.0.0", "bundleFile": "a.js", "publishedAt": "2026-01-31T09:05:00Z",
        "minSize": {"w": 1, "h": 1}, "maxSize": {"w": 4, "h": 4}, "sdkVersion": "^1.0.0",
    }  # fmt: skip
    filled_folder(folder / "data", widget_line(versions=[version]), beside=folder)
    assert _run(folder, "keys", "create").code == 0
    made = _run(folder, "snapshot", "create", "c.snapshot", "--key", "snapshot.key")
    assert (made.code, made.err) == (
        0,
        "Wrote 1 widget, 1 version and 1 bundle file to c.snapshot.\n",
    )
    return folder


def _run(folder: Path, *arguments: str | Path) -> Said:
    return widget_catalog(*arguments, folder=folder)


def test_keys_are_made_once_and_the_private_one_is_private(place: Path) -> None:
    assert (place / "snapshot.key").stat().st_mode & 0o777 == 0o600
    public, private = (place / "snapshot.pub").read_bytes(), (place / "snapshot.key").read_bytes()

    again = _run(place, "keys", "create")

    assert (again.code, again.out) == (1, "")
    assert "snapshot.key is there already, and no key is ever overwritten." in again.err
    assert (place / "snapshot.key").read_bytes() == private
    other = _run(place, "keys", "create", "other")
    assert (other.code, other.out) == (0, (place / "other.pub").read_text())
    assert other.out.encode() != public
    assert private.decode() not in other.out + other.err


def test_a_snapshot_is_verified_and_loaded_elsewhere(place: Path, tmp_path: Path) -> None:
    verified = _run(place, "snapshot", "verify", "c.snapshot", "--key", "snapshot.pub")
    assert verified.code == 0
    assert "c.snapshot is intact and signed with" in verified.err
    assert "It is a snapshot of a catalog without a base_url after change 1 at " in verified.err
    loading = ("snapshot", "load", "c.snapshot", "--key", "snapshot.pub", "--data", tmp_path / "d")

    loaded = _run(place, *loading)
    assert (loaded.code, loaded.err) == (
        0,
        "Added 1 widget and 1 version (1 bundle stored); changed 0 widgets that were there.\n",
    )

    exports = [_run(place, "export", "-", "--data", data).out for data in ("data", tmp_path / "d")]
    assert exports[0] == exports[1]
    (place / "named.toml").write_text('base_url = "https://catalog.example"\n')
    delta = _run(
        place,
        *("snapshot", "create", "d.snapshot", "--since", "c.snapshot", "--key", "snapshot.key"),
        *("--config", "named.toml"),
    )
    assert delta.err.startswith("Wrote a delta since change 1: 0 widgets, 0 versions and 0 ")
    verified = _run(place, "snapshot", "verify", "d.snapshot", "--key", "snapshot.pub")
    assert "It is a snapshot of https://catalog.example after change 1 at " in verified.err


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("verify", "bad", "--key", "snapshot.pub"), "catalog.ndjson was changed"),
        (("load", "bad", "--key", "snapshot.pub"), "catalog.ndjson was changed"),
        (("verify", "c.snapshot", "--key", "snapshot.key"), "is a private key"),
        (("verify", "c.snapshot", "--key", "a.js"), "is not a public key"),
        (("verify", "c.snapshot", "--key", "nowhere"), "cannot be read"),
        (("verify", "c.snapshot"), "Pass the public key with --key"),
        (("verify", "c.snapshot", "--unsigned"), "It is signed"),
        (("create", "x", "--key", "snapshot.pub"), "is not a private key"),
        (("create", "x", "--scope", "No"), "No"),
        (("create", "x", "--since", "a.js"), "not a snapshot"),
        (("create", "data"), "is a folder"),
        (("create", "nowhere/x"), "cannot be written"),
    ],
)
def test_what_is_wrong_is_a_sentence_and_exit_code_1(
    arguments: tuple[str, ...], sentence: str, place: Path, tmp_path: Path
) -> None:
    content = (place / "c.snapshot").read_bytes()
    (place / "bad").write_bytes(content.replace(b'"displayName":"Clock"', b'"displayName":"Click"'))
    more = ("--data", tmp_path / "new") if arguments[0] == "load" else ()

    said = _run(place, "snapshot", *arguments, *more)

    assert (said.code, said.out) == (1, "")
    assert sentence in said.err
    assert not (tmp_path / "new").exists()
    assert not (place / "x").exists()
