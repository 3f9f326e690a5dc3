"""Packing: the head of a compressed body can be replaced, and every decoder reads it."""

import gzip
import os
import zlib

import brotli
import httpx
import pytest
import zstandard

from widget_catalog.core.http.content import Encoding
from widget_catalog.core.http.packing import pack

_BULK = {
    "one byte": [b"}"],
    "one piece": [b'{"version":"1.0.0","releaseNotes":"Fixed."}' * 200],
    "many pieces": [b'{"version":"1.%d.0"}' % i * 3000 for i in range(40)],
    "incompressible": [os.urandom(70_000), os.urandom(3)],
}
# A stored block of deflate takes 65,535 bytes, one of zstd 131,072.
_STARTS = [b"", b"{", b'{"widget":{"downloadCount":12345', b"x" * 65_535, b"x" * 300_000]


def _packed(pieces: list[bytes], encoding: Encoding, start: bytes) -> bytes:
    packed = pack(pieces, encoding)
    before, after = packed.wrap(start)
    return b"".join((before, *packed.pieces, after))


@pytest.mark.parametrize("start", _STARTS, ids=len)
@pytest.mark.parametrize("pieces", _BULK.values(), ids=_BULK.keys())
def test_zstd_is_one_frame_that_states_its_size_and_a_window_browsers_accept(
    pieces: list[bytes], start: bytes
) -> None:
    body = _packed(pieces, "zstd", start)
    whole = start + b"".join(pieces)

    frame = zstandard.get_frame_parameters(body)
    assert frame.content_size == len(whole)
    assert frame.window_size <= 8 << 20
    decoder = zstandard.ZstdDecompressor().decompressobj()
    assert decoder.decompress(body) == whole
    assert (decoder.eof, decoder.unused_data) == (True, b"")
    assert zstandard.ZstdDecompressor().decompress(body) == whole


@pytest.mark.parametrize("start", _STARTS, ids=len)
@pytest.mark.parametrize("pieces", _BULK.values(), ids=_BULK.keys())
def test_gzip_is_one_member_with_the_right_checksum(pieces: list[bytes], start: bytes) -> None:
    body = _packed(pieces, "gzip", start)
    whole = start + b"".join(pieces)

    decoder = zlib.decompressobj(zlib.MAX_WBITS | 16)
    assert decoder.decompress(body) == whole
    assert (decoder.eof, decoder.unused_data) == (True, b"")
    assert gzip.decompress(body) == whole


@pytest.mark.parametrize("pieces", _BULK.values(), ids=_BULK.keys())
def test_brotli_packs_what_has_no_beginning_of_its_own(pieces: list[bytes]) -> None:
    assert brotli.decompress(_packed(pieces, "br", b"")) == b"".join(pieces)
    with pytest.raises(ValueError, match="Brotli"):
        _packed(pieces, "br", b"{")


@pytest.mark.parametrize("encoding", ["zstd", "gzip"])
def test_a_client_library_reads_it(encoding: Encoding) -> None:
    body = _packed(_BULK["many pieces"], encoding, _STARTS[2])

    response = httpx.Response(200, headers={"content-encoding": encoding}, content=body)

    assert response.content == _STARTS[2] + b"".join(_BULK["many pieces"])
