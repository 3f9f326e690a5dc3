"""A document of megabytes, counted and requested all the time, does not delay other requests."""

import gzip
import http.client
import json
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest
import zstandard

from support.folders import filled_folder
from support.load import CountingLoad
from support.service import Service, running_service
from support.widgets import version_line, widget_line

_BIG, _SMALL = "/api/v1/widgets/acme/big", "/api/v1/widgets/acme/small"
_REGISTRY = "/api/widgets/acme/registry.json"
_READS = 60


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    random = Random(1)
    words = [random.randbytes(random.randint(1, 4)).hex() for _ in range(3000)]
    versions = [
        version_line(f"1.{i}.0", releaseNotes=" ".join(random.choices(words, k=3300))[:20_000])
        for i in range(250)
    ]
    data = filled_folder(
        tmp_path_factory.mktemp("large") / "data",
        widget_line("acme/big", versions=versions),
        widget_line("acme/small"),
    )
    with running_service(data) as made:
        yield made


class _Reading:
    """Clients that request the large document repeatedly, compressed, until the end."""

    def __init__(self, service: Service, *asked: tuple[str, str, str]) -> None:
        self.statuses: set[int] = set()
        self._port = service.port
        self._is_over = threading.Event()
        self._threads = [threading.Thread(target=self._ask, args=it) for it in asked]

    def __enter__(self) -> "_Reading":
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        for thread in self._threads:
            thread.join()

    def _ask(self, method: str, path: str, encoding: str) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
        while not self._is_over.is_set():
            connection.request(method, path, headers={"Accept-Encoding": encoding})
            response = connection.getresponse()
            response.read()
            self.statuses.add(response.status)
        connection.close()


def test_reads_of_other_widgets_do_not_wait_for_a_document_of_megabytes(service: Service) -> None:
    with service.client() as client:
        body = client.get(_BIG, headers={"Accept-Encoding": "identity"}).content
    began = time.perf_counter()
    gzip.compress(body, compresslevel=1)
    packing_s = time.perf_counter() - began
    took = []
    asked = [("HEAD", _BIG, "gzip"), ("GET", _BIG, "gzip"), ("HEAD", _REGISTRY, "br")]

    with CountingLoad(service, ["acme/big"], clients=1) as counts, _Reading(service, *asked) as big:
        counts.wait_for(1)
        with service.client() as client:
            for _ in range(_READS):
                began = time.perf_counter()
                assert client.get(_SMALL).status_code == 200
                took.append(time.perf_counter() - began)
        counts.wait_for(1)

    assert big.statuses == {200}
    assert counts.statuses.keys() == {200}
    # When it was compressed on the event loop, half of the reads waited at least that long.
    assert statistics.median(took) < packing_s / 4, (took, packing_s)


@pytest.mark.parametrize("path", [_BIG, _REGISTRY])
def test_a_document_of_megabytes_comes_whole_in_every_encoding(service: Service, path: str) -> None:
    decoders: dict[str, Callable[[bytes], bytes]] = {
        "gzip": gzip.decompress,
        "zstd": lambda body: zstandard.ZstdDecompressor().decompress(body),
    }
    with service.client() as client:
        plain = client.get(path, headers={"Accept-Encoding": "identity"})
        etags = {plain.headers["etag"]}
        for encoding, decode in decoders.items():
            with client.stream("GET", path, headers={"Accept-Encoding": encoding}) as response:
                packed = b"".join(response.iter_raw())
            assert response.headers["content-encoding"] == encoding
            assert int(response.headers["content-length"]) == len(packed)
            assert decode(packed) == plain.content
            etags.add(response.headers["etag"])
            head = client.head(path, headers={"Accept-Encoding": encoding})
            assert head.headers["content-length"] == response.headers["content-length"]
            assert head.headers["etag"] == response.headers["etag"]
            known = {"Accept-Encoding": encoding, "If-None-Match": response.headers["etag"]}
            assert client.get(path, headers=known).status_code == 304
    assert int(plain.headers["content-length"]) == len(plain.content) > 4 << 20
    assert len(etags) == 3
    json.loads(plain.content)


def test_a_client_that_goes_away_in_the_middle_leaves_no_trace_in_the_log(
    service: Service, tmp_path: Path
) -> None:
    for _ in range(3):
        connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=30)
        connection.request("GET", _BIG, headers={"Accept-Encoding": "identity"})
        assert connection.getresponse().read(1000).startswith(b'{"widget":{')
        connection.close()

    with service.client() as client:
        assert client.get(_SMALL).status_code == 200
    assert "Traceback" not in service.log
    assert "rror" not in service.log
