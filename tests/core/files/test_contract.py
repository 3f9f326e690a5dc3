"""The contract of every bundle storage. A new one gets a line in `bundles`."""

import base64
import contextlib
import hashlib
import io
import itertools
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from support.s3 import object_store
from widget_catalog.core.errors import BundleNotFound, BundleRefused
from widget_catalog.core.files.contract import (
    KINDS,
    STORED_ENCODINGS,
    Bundles,
    Encoding,
    Kind,
)
from widget_catalog.core.files.local import LocalBundles
from widget_catalog.core.files.s3 import S3Bundles
from widget_catalog.core.files.s3_client import Bucket
from widget_catalog.core.files.verified_bundles import is_intact, read_verified

CONTENT = b"export function mount() {}\n" * 10_000
HASH = hashlib.sha256(CONTENT).hexdigest()
OTHER = b"export const a = 1;\n"
OTHER_HASH = hashlib.sha256(OTHER).hexdigest()


_numbers = itertools.count()


def local(tmp_path: Path) -> Bundles:
    (tmp_path / "bundles").mkdir()
    return LocalBundles(tmp_path / "bundles")


PLACES = (
    "local",
    pytest.param("rclone", marks=pytest.mark.slow),
    pytest.param("ministack", marks=pytest.mark.slow),
)


@pytest.fixture(params=PLACES)
def bundles(request: pytest.FixtureRequest, tmp_path: Path) -> Bundles:
    if request.param == "local":
        return local(tmp_path)
    port = request.getfixturevalue(f"{request.param}_port")
    return S3Bundles(Bucket(object_store(port, prefix=f"test{next(_numbers)}")))


def put(bundles: Bundles, content: bytes = CONTENT, kind: Kind = "js") -> bool:
    return bundles.put(io.BytesIO(content), hashlib.sha256(content).hexdigest(), kind)


def read(bundles: Bundles, sha256_hash: str = HASH, kind: Kind = "js") -> bytes:
    with bundles.open(sha256_hash, kind) as stream:
        return stream.read()


def keys(bundles: Bundles) -> list[tuple[str | None, Kind]]:
    return [(it.sha256_hash, it.kind) for it in bundles.list_stored()]


def test_what_is_put_is_kept_once_and_comes_back_whole(bundles: Bundles) -> None:
    assert put(bundles)
    assert not put(bundles)

    assert read(bundles) == CONTENT
    stored = bundles.stat(HASH)
    assert stored is not None
    assert (stored.sha256_hash, stored.kind, stored.size_bytes) == (HASH, "js", len(CONTENT))
    assert abs(stored.stored_at - time.time()) < 60
    (listed,) = bundles.list_stored()
    # rclone's HEAD and list may name the seconds before and after.
    assert abs(listed.stored_at - stored.stored_at) <= 1
    assert listed._replace(stored_at=stored.stored_at) == stored
    assert list(bundles.list_leftovers()) == []
    bundles.check()


def test_a_module_and_a_style_sheet_with_the_same_bytes_are_two(bundles: Bundles) -> None:
    assert put(bundles, OTHER, "css")
    assert bundles.stat(OTHER_HASH) is None
    assert put(bundles, OTHER)
    assert put(bundles)

    assert sorted(keys(bundles)[:2]) == sorted([(HASH, "js"), (OTHER_HASH, "js")])
    assert keys(bundles)[2:] == [(OTHER_HASH, "css")]


@pytest.mark.parametrize("kind", KINDS)
def test_files_of_every_kind_are_kept_withdrawn_and_removed_alike(
    bundles: Bundles, kind: Kind
) -> None:
    others = [it for it in KINDS if it != kind]
    assert put(bundles, OTHER, kind)

    assert keys(bundles) == [(OTHER_HASH, kind)]
    assert [bundles.stat(OTHER_HASH, it) for it in others] == [None] * len(others)
    bundles.withdraw(OTHER_HASH, kind)
    assert keys(bundles) == []
    assert read(bundles, OTHER_HASH, kind) == OTHER
    bundles.restore(OTHER_HASH, kind)
    bundles.remove(OTHER_HASH, kind)
    assert keys(bundles) == []


def forms_of(bundles: Bundles, sha256_hash: str = HASH) -> dict[Encoding, bytes]:
    found = {}
    for encoding in STORED_ENCODINGS:
        if bundles.has_encoded(sha256_hash, "js", encoding):
            with bundles.open_encoded(sha256_hash, "js", encoding, 100) as stream:
                found[encoding] = stream.read()
    return found


def put_forms(bundles: Bundles, content: bytes) -> dict[Encoding, bytes]:
    for encoding in STORED_ENCODINGS:
        bundles.put_encoded(content, HASH, "js", encoding)
    return dict.fromkeys(STORED_ENCODINGS, content)


def test_compressed_forms_are_replaced_and_not_listed(bundles: Bundles) -> None:
    put(bundles)
    assert forms_of(bundles) == {}
    with pytest.raises(BundleNotFound):
        bundles.open_encoded(HASH, "js", "br", 10)

    for content in (b"first", b"second", b""):
        wanted = put_forms(bundles, content)
        assert forms_of(bundles) == wanted

    assert keys(bundles) == [(HASH, "js")]
    assert list(bundles.list_leftovers()) == []
    put_forms(bundles, b"0123456789")
    with bundles.open_encoded(HASH, "js", "br", 3) as stream:
        assert stream.read() == b"012"


def test_compressed_forms_are_removed_without_their_file(bundles: Bundles) -> None:
    put(bundles)
    put_forms(bundles, b"compressed")

    bundles.remove_encoded(HASH, "js")

    assert forms_of(bundles) == {}
    assert read(bundles) == CONTENT


def test_compressed_forms_go_with_their_file(bundles: Bundles, tmp_path: Path) -> None:
    put(bundles)
    put_forms(bundles, b"form")
    bundles.withdraw(HASH)
    assert forms_of(bundles) == {}
    bundles.restore(HASH)
    assert forms_of(bundles) == {}

    put_forms(bundles, b"form")
    (stored,) = bundles.list_stored()
    bundles.quarantine(stored, tmp_path / "aside")
    assert forms_of(bundles) == {}

    put(bundles)
    put_forms(bundles, b"form")
    bundles.remove(HASH)
    assert forms_of(bundles) == {}
    assert keys(bundles) == []


def test_a_stream_is_put_from_its_beginning(bundles: Bundles) -> None:
    source = io.BytesIO(CONTENT)
    source.read()

    assert bundles.put(source, HASH)
    assert read(bundles) == CONTENT


@pytest.mark.parametrize("content", [OTHER, b"", CONTENT[:-1]])
def test_bytes_with_another_hash_are_refused_and_leave_nothing(
    bundles: Bundles, content: bytes
) -> None:
    with pytest.raises(BundleRefused):
        bundles.put(io.BytesIO(content), HASH)

    assert bundles.stat(HASH) is None
    assert keys(bundles) == []
    assert list(bundles.list_leftovers()) == []


def test_what_is_kept_is_not_replaced_by_bytes_with_another_hash(bundles: Bundles) -> None:
    put(bundles)

    assert not bundles.put(io.BytesIO(OTHER), HASH)
    assert read(bundles) == CONTENT


def damage(bundles: Bundles, content: bytes) -> None:
    """Replace what is stored as HASH, as a broken disk or somebody with the store's key could."""
    if isinstance(bundles, LocalBundles):
        path = bundles.local_path(HASH)
        path.chmod(0o644)
        path.write_bytes(content)
    elif isinstance(bundles, S3Bundles):
        digest = base64.b64encode(hashlib.sha256(content).digest()).decode()
        key = f"bundles/{HASH[:2]}/{HASH[2:]}.js"
        bundles._bucket.put(key, io.BytesIO(content), digest, replaces=True)


@pytest.mark.parametrize("wrong", [CONTENT[::-1], CONTENT[:-1], CONTENT + b"x" * 1_000_000])
def test_a_damaged_file_is_not_taken_as_stored_but_replaced(bundles: Bundles, wrong: bytes) -> None:
    put(bundles)
    damage(bundles, wrong)
    assert not is_intact(bundles, HASH, "js", len(CONTENT))

    assert put(bundles)

    assert read(bundles) == CONTENT
    assert is_intact(bundles, HASH, "js", len(CONTENT))
    assert not put(bundles)


def test_only_bytes_with_the_hash_are_read_and_no_more_than_announced(bundles: Bundles) -> None:
    with pytest.raises(BundleNotFound):
        read_verified(bundles, HASH, "js", len(CONTENT))
    put(bundles)
    assert read_verified(bundles, HASH, "js", len(CONTENT)) == CONTENT
    damage(bundles, CONTENT + b"x" * 1_000_000)
    assert read_verified(bundles, HASH, "js", len(CONTENT)) == CONTENT
    damage(bundles, CONTENT[::-1])
    with pytest.raises(BundleNotFound):
        read_verified(bundles, HASH, "js", len(CONTENT))


@pytest.mark.parametrize(
    ("start", "stop"),
    [(0, None), (5, None), (0, 5), (10, 20), (100_000, 200_000), (7, 7), (0, len(CONTENT))],
)
def test_a_part_is_read_alone(bundles: Bundles, start: int, stop: int | None) -> None:
    put(bundles)

    with bundles.open(HASH, "js", start, stop) as stream:
        first = stream.read(3)
        assert first + stream.read() == CONTENT[start:stop]
        assert stream.read() == b""


def test_what_is_not_here_is_not_found_and_can_be_removed(bundles: Bundles) -> None:
    put(bundles)
    bundles.remove(HASH)
    bundles.remove(HASH)

    assert bundles.stat(HASH) is None
    with pytest.raises(BundleNotFound):
        bundles.open(HASH)
    assert keys(bundles) == []
    assert put(bundles)


def test_anyone_who_reads_goes_on_when_it_is_removed(bundles: Bundles) -> None:
    put(bundles)
    with bundles.open(HASH) as stream:
        bundles.remove(HASH)
        assert stream.read() == CONTENT


def test_of_many_who_put_the_same_at_once_one_has_put_it(
    bundles: Bundles, request: pytest.FixtureRequest
) -> None:
    gate = threading.Barrier(8)

    def run(_number: int) -> bool:
        gate.wait()
        return put(bundles)

    with ThreadPoolExecutor(8) as threads:
        outcomes = list(threads.map(run, range(8)))

    # A store without conditional puts cannot tell; the bytes are the same in any case.
    assert sum(outcomes) == 1 or (request.node.callspec.id == "rclone" and any(outcomes))
    assert read(bundles) == CONTENT
    assert list(bundles.list_leftovers()) == []


def test_leftovers_can_be_removed_while_others_put(bundles: Bundles) -> None:
    contents = [CONTENT + b"// %d" % i for i in range(many(bundles))]
    with _removing_leftovers(bundles):
        assert all(put(bundles, it) for it in contents)

    assert len(keys(bundles)) == len(contents)
    for content in contents:
        assert read(bundles, hashlib.sha256(content).hexdigest()) == content


def many(bundles: Bundles) -> int:
    """Fewer over the network, where each takes longer."""
    return 100 if isinstance(bundles, LocalBundles) else 5


@contextlib.contextmanager
def _removing_leftovers(bundles: Bundles) -> Iterator[None]:
    ended = threading.Event()

    def run() -> None:
        while not ended.is_set():
            bundles.remove_leftovers()

    with ThreadPoolExecutor(1) as threads:
        removing = threads.submit(run)
        try:
            yield
        finally:
            ended.set()
        removing.result()


def test_what_is_moved_aside_is_gone_here_and_whole_there(bundles: Bundles, tmp_path: Path) -> None:
    put(bundles)
    stored = bundles.stat(HASH)
    assert stored is not None

    bundles.quarantine(stored, tmp_path / "aside")

    assert bundles.stat(HASH) is None
    [moved] = [it for it in (tmp_path / "aside").rglob("*") if it.is_file()]
    assert moved.read_bytes() == CONTENT


def test_files_are_sent_to_the_service_or_to_an_address_of_the_place_itself(
    bundles: Bundles,
) -> None:
    target = bundles.upload_target("a-request", "index.js", len(CONTENT), HASH)
    assert target is None or target.startswith(("https://", "http://127.0.0.1:"))


def test_what_is_withdrawn_is_kept_and_not_served(bundles: Bundles) -> None:
    put(bundles)
    put(bundles, OTHER)
    bundles.withdraw(HASH)
    bundles.withdraw(HASH)

    assert bundles.stat(HASH) is None
    assert keys(bundles) == [(OTHER_HASH, "js")]
    assert read(bundles) == CONTENT
    assert list(bundles.list_leftovers()) == []
    bundles.remove_leftovers()

    bundles.restore(HASH)
    bundles.restore(HASH)
    assert bundles.stat(HASH) is not None
    assert read(bundles) == CONTENT


def test_withdrawn_bytes_can_be_put_again_and_what_is_not_here_is_left_alone(
    bundles: Bundles,
) -> None:
    bundles.withdraw(HASH)
    bundles.restore(HASH)
    assert bundles.stat(HASH) is None

    put(bundles)
    bundles.withdraw(HASH)
    assert put(bundles)
    bundles.restore(HASH)
    assert keys(bundles) == [(HASH, "js")]
    assert read(bundles) == CONTENT
