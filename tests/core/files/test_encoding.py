"""Compressed forms of files: how they are made, and whether one is intact."""

import gzip
import hashlib
import os
import zlib
from collections.abc import Callable
from functools import partial

import brotli
import pytest
import zstandard

from widget_catalog.core.files.compressed_forms import compress, decodes_to
from widget_catalog.core.files.contract import STORED_ENCODINGS, Encoding, Kind, is_encodable
from widget_catalog.core.jobs.bounded_work import BoundedProcess

CONTENT = b"".join(b"export const a%d = () => %d;\n" % (it, it * it) for it in range(2_000))
HASH = hashlib.sha256(CONTENT).hexdigest()
DECODERS = {
    "br": brotli.decompress,
    "zstd": zstandard.ZstdDecompressor().decompress,
    "gzip": gzip.decompress,
}
MANY = 8 << 20


@pytest.fixture(scope="module")
def forms() -> dict[Encoding, bytes]:
    """Made in a child process: it has a low priority from then on."""
    made = BoundedProcess(compress).ask(CONTENT)
    assert made is not None
    return dict(zip(STORED_ENCODINGS, made, strict=True))


def test_every_form_decodes_to_the_content_and_is_much_smaller(
    forms: dict[Encoding, bytes],
) -> None:
    for encoding, form in forms.items():
        assert DECODERS[encoding](form) == CONTENT
        assert decodes_to(form, encoding, HASH, len(CONTENT))
        assert len(form) < 0.35 * len(CONTENT)
    assert list(forms) == sorted(forms, key=lambda it: len(forms[it])), "The smallest comes first."


def test_browsers_have_enough_memory_for_the_window(forms: dict[Encoding, bytes]) -> None:
    assert zstandard.get_frame_parameters(forms["zstd"]).window_size <= 8 << 20


def test_content_that_is_hardly_smaller_has_empty_forms() -> None:
    noise = os.urandom(10_000)

    assert BoundedProcess(compress).ask(noise) == [b"", b"", b""]
    assert decodes_to(b"", "br", hashlib.sha256(noise).hexdigest(), len(noise))


def decoded(form: bytes, encoding: Encoding) -> bytes | None:
    """As another decoder does it, which is strict about the end."""
    try:
        return bytes(DECODERS[encoding](form))
    except (brotli.error, zstandard.ZstdError, OSError, EOFError, zlib.error):
        return None


@pytest.mark.parametrize("encoding", STORED_ENCODINGS)
def test_a_damaged_form_is_not_one(forms: dict[Encoding, bytes], encoding: Encoding) -> None:
    form = forms[encoding]
    positions = [*range(100), *range(100, len(form), 37)]
    changed = [form[:at] + bytes([form[at] ^ 4]) + form[at + 1 :] for at in positions]
    intact = [it for it in changed if decodes_to(it, encoding, HASH, len(CONTENT))]
    # Some bits mean nothing, such as those of the time in the header of gzip.
    assert all(decoded(it, encoding) == CONTENT for it in intact)
    assert len(intact) < len(changed) / 20
    for length in (1, 2, 3, 4, 8, 9, 100):
        assert not decodes_to(form[:-length], encoding, HASH, len(CONTENT))
    for other in (form + b"\0", form + b"more", form + form, b"\x1f", b"{}", CONTENT):
        assert not decodes_to(other, encoding, HASH, len(CONTENT))


@pytest.mark.parametrize(
    ("encoding", "pack"),
    [
        ("br", partial(brotli.compress, quality=5)),
        ("zstd", zstandard.ZstdCompressor().compress),
        ("gzip", gzip.compress),
    ],
)
def test_what_decodes_to_more_than_the_file_is_not_a_form(
    encoding: Encoding, pack: Callable[[bytes], bytes]
) -> None:
    content = bytes(64 << 20)
    assert not decodes_to(pack(content), encoding, hashlib.sha256(content).hexdigest(), 1 << 20)


@pytest.mark.parametrize(
    ("kind", "size_bytes", "wanted"),
    [
        ("js", 1_023, False),
        ("js", 1_024, True),
        ("css", MANY, True),
        ("css", MANY + 1, False),
        ("md", 5_000, False),
        ("png", 5_000, False),
        ("js", 0, False),
    ],
)
def test_which_files_are_compressed(kind: Kind, size_bytes: int, wanted: bool) -> None:
    assert is_encodable(kind, size_bytes) is wanted
