"""Verifying: every modification of a snapshot is detected, and reported with the affected file."""

import tarfile
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from snapshot.snapshots import Pair, make, verify
from widget_catalog.catalog.node.node import Node
from widget_catalog.core.errors import InvalidSnapshot
from widget_catalog.snapshot.layout import Header, decode_header, encode_header


def _errors(file: Path, keys: Pair | None) -> str:
    with pytest.raises(InvalidSnapshot) as caught:
        verify(file, keys)
    return caught.value.message


def test_a_whole_one_passes(origin: Node, keys: Pair, tmp_path: Path) -> None:
    made = make(origin, tmp_path / "s", keys)

    assert verify(tmp_path / "s", keys) == made


def test_any_changed_byte_and_any_cut_is_found(origin: Node, keys: Pair, tmp_path: Path) -> None:
    file, broken = tmp_path / "s", tmp_path / "broken"
    make(origin, file, keys)
    whole = file.read_bytes()

    @settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(at=st.integers(0, len(whole) - 1), bits=st.integers(1, 255))
    @example(at=0, bits=1)
    @example(at=len(whole) - 1, bits=1)
    def flip(at: int, bits: int) -> None:
        broken.write_bytes(whole[:at] + bytes([whole[at] ^ bits]) + whole[at + 1 :])
        assert _errors(broken, keys)

    @settings(max_examples=50, deadline=None)
    @given(size=st.integers(0, len(whole) - 1))
    def cut(size: int) -> None:
        broken.write_bytes(whole[:size])
        assert _errors(broken, keys)

    @settings(max_examples=20, deadline=None)
    @given(more=st.binary(min_size=1, max_size=2000))
    def lengthen(more: bytes) -> None:
        broken.write_bytes(whole + more)
        assert "added to the end" in _errors(broken, keys)

    flip()
    cut()
    lengthen()


def test_what_was_changed_is_named(origin: Node, keys: Pair, tmp_path: Path) -> None:
    file, broken = tmp_path / "s", tmp_path / "broken"
    make(origin, file, keys)
    whole = file.read_bytes()
    with tarfile.open(file) as archive:
        members = archive.getmembers()

    for member in members:
        for at, name in (
            (member.offset + 20, member.name),
            (member.offset_data, member.name),
            (member.offset_data + member.size - 1, member.name),
            (member.offset_data + member.size, f"padding after {member.name}"),
        ):
            if at % 512 == 0 and at != member.offset_data:
                continue  # No padding.
            broken.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
            assert name in _errors(broken, keys), (member.name, at)
        broken.write_bytes(whole[: member.offset_data + member.size - 1])
        assert f"{member.name} are missing" in _errors(broken, keys)


def test_all_errors_are_reported_at_once(origin: Node, keys: Pair, tmp_path: Path) -> None:
    file = tmp_path / "s"
    make(origin, file, keys)
    content = bytearray(file.read_bytes())
    with tarfile.open(file) as archive:
        bundles = [it for it in archive.getmembers() if it.name.startswith("bundles/")]
    for it in bundles:
        content[it.offset_data] ^= 1
    file.write_bytes(content)

    errors = _errors(file, keys)

    assert all(it.name in errors for it in bundles)


def test_another_key_is_reported(origin: Node, keys: Pair, tmp_path: Path) -> None:
    other = Pair(tmp_path / "other")
    make(origin, tmp_path / "s", keys)

    errors = _errors(tmp_path / "s", other)

    assert "signed with another key" in errors
    assert keys.verifying.fingerprint in errors


def test_without_a_signature_it_is_refused_unless_that_is_asked_for(
    origin: Node, keys: Pair, tmp_path: Path
) -> None:
    make(origin, tmp_path / "s", None)
    make(origin, tmp_path / "signed", keys)

    assert "not signed" in _errors(tmp_path / "s", keys)
    assert verify(tmp_path / "s", None).key is None
    assert "It is signed" in _errors(tmp_path / "signed", None)


def test_a_signature_that_was_taken_out_is_missed(origin: Node, keys: Pair, tmp_path: Path) -> None:
    make(origin, tmp_path / "s", keys)
    whole = (tmp_path / "s").read_bytes()
    with tarfile.open(tmp_path / "s") as archive:
        signature, sums = archive.getmember("snapshot.sig"), archive.getmember("SHA256SUMS")
    (tmp_path / "t").write_bytes(whole[: signature.offset] + whole[sums.offset :])

    assert "snapshot.sig is missing" in _errors(tmp_path / "t", keys)
    assert "snapshot.sig is missing" in _errors(tmp_path / "t", None)


def test_a_newer_format_is_reported(origin: Node, keys: Pair, tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("widget_catalog.snapshot.layout.FORMAT", 2)
        made = make(origin, tmp_path / "s", keys)
    assert b'"format": 2' in encode_header(made)

    assert "newer release" in _errors(tmp_path / "s", keys)


@pytest.mark.parametrize(
    "content", [b"", b"x", b"\0" * 10240, b"x" * 100_000, b"\xff" * 1024], ids=range(5)
)
def test_something_else_is_no_snapshot(content: bytes, keys: Pair, tmp_path: Path) -> None:
    (tmp_path / "s").write_bytes(content)

    assert "not a snapshot" in _errors(tmp_path / "s", keys)


@pytest.mark.parametrize("field", ["base_url", "at", "release", "key"])
def test_what_is_shown_of_a_snapshot_holds_no_escape_sequences(field: str) -> None:
    header: dict[str, Any] = {
        "format": 1, "origin": "", "seq": 1, "position": "", "scopes": None, "base": None,
        "widgets": 0, "versions": 0, "files": 0, "sums_sha256": "",
    }  # fmt: skip
    header |= dict.fromkeys(("base_url", "at", "release", "key"), "x")
    assert decode_header(encode_header(Header(**header))) == Header(**header)
    header[field] = "x\x1b[1m"
    with pytest.raises(msgspec.ValidationError):
        decode_header(encode_header(Header(**header)))


def test_a_missing_file_and_a_folder_are_reported(keys: Pair, tmp_path: Path) -> None:
    assert "cannot be read" in _errors(tmp_path / "nowhere", keys)
    assert "is not a file" in _errors(tmp_path, keys)


@pytest.mark.parametrize("path", ["../evil.js", "/evil.js", "bundles/evil.js", "catalog.ndjson"])
def test_a_signed_list_may_not_name_anything_else(
    path: str, origin: Node, keys: Pair, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The holder of the key may sign anything, but no name leads out of a snapshot."""

    def line(named: str, sha256_hash: str) -> bytes:
        name = named if named == "catalog.ndjson" else path
        return f"{sha256_hash}  {name}\n".encode()

    monkeypatch.setattr("widget_catalog.snapshot.layout.sums_line", line)
    make(origin, tmp_path / "s", keys)

    assert "SHA256SUMS names what does not belong" in _errors(tmp_path / "s", keys)
