"""The file format of snapshots: a tar file of an export, of which every byte is verified.

    snapshot.json     metadata: its catalog, and the hash of SHA256SUMS
    snapshot.sig      the Ed25519 signature of snapshot.json, 64 bytes; missing if it is not signed
    SHA256SUMS        the hash of every file that follows, as `sha256sum -c` reads it
    catalog.ndjson    the widgets, as `import` reads them
    bundles/…         the files that they name, by hash

Headers, padding and the end are determined by names and sizes, so every byte of the file is either
hashed or known.
"""

import hashlib
import re
import tarfile
from typing import Annotated, NamedTuple, TypeAlias

import msgspec

from ..catalog.store.feed import Change
from ..core.files.contract import KINDS

FORMAT = 1
HEADER = "snapshot.json"
SIGNATURE = "snapshot.sig"
SUMS = "SHA256SUMS"
CATALOG = "catalog.ndjson"

BLOCK_BYTES = tarfile.BLOCKSIZE
MAX_HEADER_BYTES = 1 << 20
SIGNATURE_BYTES = 64

_SUMS_LINE = re.compile(
    rb"([0-9a-f]{64})  (catalog\.ndjson|bundles/([0-9a-f]{64})\.(?:%b))\n"
    % "|".join(KINDS).encode(),
    re.ASCII,
)
LONGEST_SUMS_LINE = 200


class Base(msgspec.Struct, frozen=True):
    """The state that a delta is to be loaded over."""

    seq: int
    position: str


# Shown to people before the snapshot is trusted: printable ASCII only.
_Word: TypeAlias = Annotated[str, msgspec.Meta(pattern=r"\A[!-~]{1,2000}\Z")]


class Header(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """`snapshot.json`. A state of a catalog is `origin`, `seq` and `scopes`; counts aside."""

    format: int
    origin: str
    base_url: _Word | None
    """Where people reach the catalog, if its operator has set that."""
    seq: int
    """The number of the newest change."""
    position: str
    """The hash of that change: another history of the same catalog has another."""
    at: _Word
    """When it happened; not when the snapshot was made, so the same state gives the same bytes."""
    scopes: list[str] | None
    base: Base | None
    widgets: int
    versions: int
    files: int
    sums_sha256: str
    key: _Word | None
    """The fingerprint of the key that has signed this."""
    release: _Word


class _Format(msgspec.Struct):
    format: int


decode_format = msgspec.json.Decoder(_Format).decode
decode_header = msgspec.json.Decoder(Header).decode


def encode_header(header: Header) -> bytes:
    return msgspec.json.format(msgspec.json.encode(header)) + b"\n"


class Sum(NamedTuple):
    path: str
    sha256_hash: str


def sums_line(path: str, sha256_hash: str) -> bytes:
    return f"{sha256_hash}  {path}\n".encode()


def parse_sums_line(line: bytes) -> Sum | None:
    """None if it names anything that does not belong into a snapshot."""
    found = _SUMS_LINE.fullmatch(line)
    if found is None or (found[3] is not None and found[3] != found[1]):
        return None
    return Sum(found[2].decode(), found[1].decode())


def tar_header(path: str, size_bytes: int) -> bytes:
    """The block before a file, without any data of the machine that creates it."""
    member = tarfile.TarInfo(path)
    member.size, member.mode, member.mtime = size_bytes, 0o644, 0
    return member.tobuf(tarfile.GNU_FORMAT)


def padding_after(size_bytes: int) -> int:
    """Pads a file to whole blocks."""
    return -size_bytes % BLOCK_BYTES


def end_of(size_bytes: int) -> int:
    """The number of zeros at the end of an archive of this length."""
    ended = size_bytes + 2 * BLOCK_BYTES
    return ended + -ended % tarfile.RECORDSIZE - size_bytes


def position_of(change: Change) -> str:
    return hashlib.sha256(msgspec.json.encode(tuple(change))).hexdigest()
