"""Bundles of an object store cached on a node's disk."""

import hashlib
import io
import os
import resource
import time
from pathlib import Path

import pytest

from widget_catalog.core.errors import BundleNotFound, StoreUnavailable
from widget_catalog.core.files.cache import BundleCache
from widget_catalog.core.files.local import LocalBundles


def put(store: LocalBundles, content: bytes) -> str:
    sha256_hash = hashlib.sha256(content).hexdigest()
    store.put(io.BytesIO(content), sha256_hash)
    return sha256_hash


@pytest.fixture
def store(tmp_path: Path) -> LocalBundles:
    (tmp_path / "store").mkdir()
    return LocalBundles(tmp_path / "store")


@pytest.fixture
def cache(store: LocalBundles, tmp_path: Path) -> BundleCache:
    (tmp_path / "cache").mkdir()
    return BundleCache(store, tmp_path / "cache", 10_000)


def test_what_was_fetched_stays_when_the_store_has_lost_it(
    store: LocalBundles, cache: BundleCache
) -> None:
    sha256_hash = put(store, b"a bundle")
    assert not cache.local_path(sha256_hash).exists()
    cache.fetch(sha256_hash, "js", 10_000)
    store.remove(sha256_hash)

    assert cache.local_path(sha256_hash).read_bytes() == b"a bundle"


def test_a_compressed_form_is_fetched_without_its_file(
    store: LocalBundles, cache: BundleCache
) -> None:
    sha256_hash = put(store, b"a bundle")
    with pytest.raises(BundleNotFound):
        cache.fetch(sha256_hash, "js", 8, "br")
    store.put_encoded(b"smaller", sha256_hash, "js", "br")

    cache.fetch(sha256_hash, "js", 8, "br")

    assert cache.local_path(sha256_hash, "js", "br").read_bytes() == b"smaller"
    assert not cache.local_path(sha256_hash).exists()


def test_what_was_used_longest_ago_makes_room(store: LocalBundles, cache: BundleCache) -> None:
    hashes = [put(store, b"%d" % number * 3_000) for number in range(3)]
    for age, sha256_hash in zip((900, 600, 300), hashes, strict=True):
        cache.fetch(sha256_hash, "js", 10_000)
        then = time.time() - age
        os.utime(cache.local_path(sha256_hash), (then, then))
    assert cache.local_path(hashes[0]).exists()  # Just used.

    cache.fetch(put(store, b"x" * 3_000), "js", 10_000)

    kept = [cache.local_path(it).exists() for it in hashes]
    assert kept == [True, False, True]


def test_what_is_in_use_stays_even_if_it_does_not_fit(
    store: LocalBundles, cache: BundleCache
) -> None:
    hashes = [put(store, b"%d" % number * 11_000) for number in range(2)]
    for sha256_hash in hashes:
        cache.fetch(sha256_hash, "js", 20_000)
    assert [cache.local_path(it).exists() for it in hashes] == [True, True]

    then = time.time() - 60
    os.utime(cache.local_path(hashes[0]), (then, then))
    cache.fetch(put(store, b"x" * 3_000), "js", 10_000)

    assert [cache.local_path(it).exists() for it in hashes] == [False, True]


def test_not_every_fetch_looks_at_all_files(store: LocalBundles, tmp_path: Path) -> None:
    (tmp_path / "cache").mkdir()
    cache = BundleCache(store, tmp_path / "cache", 100_000)
    hashes = [put(store, b"%d" % number * 600) for number in range(3)]
    cache.fetch(hashes[0], "js", 10_000)
    # More than the limit, which has not been noticed yet.
    old = tmp_path / "cache" / "00" / "old.js"
    old.parent.mkdir(exist_ok=True)
    old.write_bytes(b"x" * 100_000)
    os.utime(old, (1, 1))

    cache.fetch(hashes[1], "js", 10_000)
    assert old.exists()
    cache.fetch(hashes[2], "js", 10_000)  # By now a hundredth of the limit was added.
    assert not old.exists()
    assert all(cache.local_path(it).exists() for it in hashes)


def test_what_a_killed_fetch_left_behind_is_removed(
    store: LocalBundles, cache: BundleCache, tmp_path: Path
) -> None:
    abandoned, present = (tmp_path / "cache" / f".incoming-{it}" for it in "ab")
    for path in (abandoned, present):
        path.write_bytes(b"half a bun")
    then = time.time() - 7200
    os.utime(abandoned, (then, then))

    cache.fetch(put(store, b"a bundle"), "js", 10_000)

    assert (abandoned.exists(), present.exists()) == (False, True)


def test_what_is_damaged_in_the_store_is_not_kept(
    store: LocalBundles, cache: BundleCache, tmp_path: Path
) -> None:
    sha256_hash = put(store, b"a bundle")
    path = store.local_path(sha256_hash)
    path.chmod(0o644)
    path.write_bytes(b"another")

    name = f"bundles/{sha256_hash[:2]}/{sha256_hash[2:]}.js"
    with pytest.raises(BundleNotFound, match=f"{name} is damaged in the object store."):
        cache.fetch(sha256_hash, "js", 10_000)

    assert not [it for it in (tmp_path / "cache").rglob("*") if it.is_file()]


def test_no_more_than_the_size_of_a_bundle_is_fetched(
    store: LocalBundles, cache: BundleCache
) -> None:
    sha256_hash = put(store, b"a bundle")
    path = store.local_path(sha256_hash)
    path.chmod(0o644)
    path.write_bytes(b"a bundle" + b"x" * 1_000_000)

    cache.fetch(sha256_hash, "js", 8)

    assert cache.local_path(sha256_hash).read_bytes() == b"a bundle"


def test_a_full_disk_is_not_an_internal_error(
    store: LocalBundles, cache: BundleCache, tmp_path: Path
) -> None:
    sha256_hash = put(store, b"a bundle")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))  # Looks the same to writers.
    try:
        with pytest.raises(StoreUnavailable, match="The bundle cache cannot be written"):
            cache.fetch(sha256_hash, "js", 10_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)

    assert not [it for it in (tmp_path / "cache").rglob("*") if it.is_file()]
    cache.fetch(sha256_hash, "js", 10_000)
