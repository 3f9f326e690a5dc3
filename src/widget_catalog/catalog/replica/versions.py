"""Reads one version of a widget, with its manifest as published."""

from typing import NamedTuple

import msgspec

from ..model.widgets import AttachedFile
from .reader import Reading, ReplicaReader
from .records import decode_outline, decode_styles, unseal, version_key


class _Attached(msgspec.Struct):
    files: tuple[AttachedFile, ...] = ()


_decode_attached = msgspec.json.Decoder(_Attached).decode


class StyleRow(NamedTuple):
    size_bytes: int
    sha256_hash: str


class StoredVersion(NamedTuple):
    """A version of a listed widget. `entry` and `previous` are entries as in its detail, the
    latter of the version published before it that is not yanked, if there is one."""

    widget_id: int
    before: bytes
    """What stands before the download count in the widget's detail."""
    created_at: str
    number: str
    entry: bytes
    previous: bytes | None
    style: StyleRow | None
    details: bytes
    """As JSON, without defaults; with the attached files, for `attached_in`."""
    manifest: bytes | None
    previous_manifest: bytes | None


def find_version(reader: ReplicaReader, key: str, identity: str) -> StoredVersion | None:
    """None if there is none, or its widget is unlisted."""
    with reader.snapshot() as reading:
        record = reader.find(reading, key)
        if record is None or not record.is_listed:
            return None
        versions = iter(decode_outline(record.outline))
        found = next((one for one in versions if one[0].partition("+")[0] == identity), None)
        if found is None:
            return None
        number = found[0]
        # The versions after it in the list were published earlier.
        before = next((one for one in versions if not one[2]), None)
        styles = record.styles
        style = decode_styles(styles).get(number) if styles else None
        details, manifest = _find_extras(reader, reading, record.id, identity)
        former = None if before is None else before[0].partition("+")[0]
        return StoredVersion(
            record.id,
            bytes(record.text[0]),
            record.created_at,
            number,
            record.entry(*found[3:]),
            None if before is None else record.entry(*before[3:]),
            None if style is None else StyleRow(*style),
            details,
            manifest,
            None if former is None else find_manifest(reader, reading, record.id, former),
        )


def find_attached(reader: ReplicaReader, key: str, number: str) -> tuple[AttachedFile, ...]:
    """The attached files of this version; its widget may be unlisted."""
    with reader.snapshot() as reading:
        record = reader.find(reading, key)
        if record is None or all(one[0] != number for one in decode_outline(record.outline)):
            return ()
        return attached_in(_find_extras(reader, reading, record.id, number.partition("+")[0])[0])


def attached_in(details: bytes) -> tuple[AttachedFile, ...]:
    """The attached files of a version, from its details."""
    return _decode_attached(details).files


def find_manifest(
    reader: ReplicaReader, reading: Reading, widget_id: int, identity: str
) -> bytes | None:
    return _find_extras(reader, reading, widget_id, identity)[1]


def _find_extras(
    reader: ReplicaReader, reading: Reading, widget_id: int, identity: str
) -> tuple[bytes, bytes | None]:
    """The details of a version, and its manifest."""
    key = version_key(widget_id, identity)
    found = reading.get(key, db=reader.file.extras)
    if found is None:
        return b"{}", None
    what = f"what version {identity} of widget {widget_id} declares"
    details, line_break, manifest = bytes(unseal(key, found, what)).partition(b"\n")
    return details or b"{}", manifest if line_break else None
