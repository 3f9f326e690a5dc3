"""Large bodies are compressed chunk by chunk, and every decoder reads them."""

import gzip
import os
import zlib

import brotli
import httpx
import pytest
import zstandard

from widget_catalog.core.files.contract import Encoding
from widget_catalog.core.http.content import WHOLE_BYTES, pack

_BODIES = {
    "one byte": [b"}"],
    "one piece": [b'{"version":"1.0.0","releaseNotes":"Fixed."}' * 200],
    "many pieces": [b'{"version":"1.%d.0"}' % i * 3000 for i in range(40)],
    "incompressible": [os.urandom(70_000), os.urandom(3)],
    "large and incompressible": [os.urandom(1 << 18) for _ in range(5)],
}


def _packed(pieces: list[bytes], encoding: Encoding) -> bytes:
    packed = pack(pieces, sum(map(len, pieces)), encoding)
    size = sum(map(len, packed))
    assert size > WHOLE_BYTES or len(packed) == 1
    return b"".join(packed)


@pytest.mark.parametrize("pieces", _BODIES.values(), ids=_BODIES.keys())
def test_zstd_is_one_frame_that_states_its_size_and_a_window_browsers_accept(
    pieces: list[bytes],
) -> None:
    body = _packed(pieces, "zstd")
    whole = b"".join(pieces)

    frame = zstandard.get_frame_parameters(body)
    assert frame.content_size == len(whole)
    assert frame.window_size <= 8 << 20
    decoder = zstandard.ZstdDecompressor().decompressobj()
    assert decoder.decompress(body) == whole
    assert (decoder.eof, decoder.unused_data) == (True, b"")


@pytest.mark.parametrize("pieces", _BODIES.values(), ids=_BODIES.keys())
def test_gzip_is_one_member(pieces: list[bytes]) -> None:
    body = _packed(pieces, "gzip")
    whole = b"".join(pieces)

    decoder = zlib.decompressobj(zlib.MAX_WBITS | 16)
    assert decoder.decompress(body) == whole
    assert (decoder.eof, decoder.unused_data) == (True, b"")
    assert gzip.decompress(body) == whole


@pytest.mark.parametrize("pieces", _BODIES.values(), ids=_BODIES.keys())
def test_brotli_is_one_stream(pieces: list[bytes]) -> None:
    assert brotli.decompress(_packed(pieces, "br")) == b"".join(pieces)


@pytest.mark.parametrize("encoding", ["zstd", "gzip", "br"])
def test_a_client_library_reads_it(encoding: Encoding) -> None:
    body = _packed(_BODIES["many pieces"], encoding)

    response = httpx.Response(200, headers={"content-encoding": encoding}, content=body)

    assert response.content == b"".join(_BODIES["many pieces"])
