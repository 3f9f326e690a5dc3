"""Modules and style sheets are compressed in the background, whatever brought them here."""

import hashlib
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.people import Person, a_person
from support.service import wait_for
from support.site import InProcessSite
from widget_catalog.catalog.node.node import Node
from widget_catalog.catalog.reading.encode_bundles import BundleEncoder
from widget_catalog.core.files.compressed_forms import decodes_to
from widget_catalog.core.files.contract import STORED_ENCODINGS

pytestmark = pytest.mark.slow


def module(number: int) -> bytes:
    return b"export const a = %d;\n" % number + b"export function mount() {}\n" * 100


@pytest.fixture
def ann(site: InProcessSite) -> Person:
    return a_person(site, "ann")


@pytest.fixture
def quiet(tmp_path: Path) -> Iterator[InProcessSite]:
    """A site that does not compress."""
    with InProcessSite(
        tmp_path / "quiet", compress_bundles=False, max_bundle_bytes=8 << 20
    ) as made:
        author = a_person(made, "ann")
        for number in range(3):
            assert author.publish("ann/clock", f"1.0.{number}", module(number)).status == 200
        yield made


def forms(node: Node) -> list[str]:
    return sorted(it.name for it in node.folder.bundles.glob("??/*.js.*"))


def wanted(*contents: bytes) -> list[str]:
    hashes = [hashlib.sha256(it).hexdigest()[2:] for it in contents]
    return sorted(f"{it}.js.{suffix}" for it in hashes for suffix in STORED_ENCODINGS.values())


def encoder_of(node: Node) -> BundleEncoder:
    return BundleEncoder(node.store, node.bundles, node.folder, node.replica.applied_seq)


def test_a_published_version_is_compressed(site: InProcessSite, ann: Person) -> None:
    assert ann.publish("ann/clock", "1.0.0", module(1)).status == 200
    assert ann.publish("ann/clock", "1.0.1", module(2)).status == 200

    wait_for(lambda: forms(site.node) == wanted(module(1), module(2)))
    assert site.get("/cdn/@ann/clock/1.0.0/index.js", accept_encoding="gzip").headers[
        "content-encoding"
    ]
    for path in site.node.folder.bundles.glob("??/*.js.gz"):
        sha256_hash = path.parent.name + path.name.partition(".")[0]
        assert decodes_to(path.read_bytes(), "gzip", sha256_hash, 10_000)


def test_what_was_there_before_is_compressed_and_looked_at_once(quiet: InProcessSite) -> None:
    node = quiet.node
    encoder = encoder_of(node)
    wait_for(lambda: forms(node) == wanted(*map(module, range(3))))
    wait_for(lambda: node.folder.encoded.read_text() == str(node.replica.applied_seq()))
    encoder.close()
    for path in node.folder.bundles.glob("??/*.js.*"):
        path.unlink()

    encoder = encoder_of(node)
    time.sleep(2)
    assert forms(node) == []
    encoder.ask(hashlib.sha256(module(1)).hexdigest(), "js", len(module(1)))
    wait_for(lambda: forms(node) == wanted(module(1)))
    encoder.close()


@pytest.mark.parametrize("position", ["1000000", "", "what?"])
def test_another_database_is_looked_at_from_its_beginning(
    quiet: InProcessSite, position: str
) -> None:
    quiet.node.folder.encoded.write_text(position)

    encoder = encoder_of(quiet.node)
    wait_for(lambda: forms(quiet.node) == wanted(*map(module, range(3))))
    encoder.close()


def test_two_workers_compress_a_file_once(quiet: InProcessSite) -> None:
    node = quiet.node
    encoders = [encoder_of(node) for _ in range(2)]
    for encoder in encoders:
        encoder.ask(hashlib.sha256(module(0)).hexdigest(), "js", len(module(0)))
    wait_for(lambda: forms(node) == wanted(*map(module, range(3))))
    written = {it: it.stat().st_mtime_ns for it in node.folder.bundles.glob("??/*.js.*")}
    time.sleep(1)
    assert written == {it: it.stat().st_mtime_ns for it in written}
    for encoder in encoders:
        encoder.close()


def test_files_that_are_not_there_are_left_out(quiet: InProcessSite) -> None:
    node = quiet.node
    lost, damaged, kept = (hashlib.sha256(module(it)).hexdigest() for it in range(3))
    node.bundles.withdraw(lost)
    path = node.folder.bundles / damaged[:2] / f"{damaged[2:]}.js"
    path.chmod(0o600)
    path.write_bytes(module(7))

    encoder = encoder_of(node)
    wait_for(lambda: node.folder.encoded.exists() and node.folder.encoded.read_text() != "")
    encoder.close()

    assert forms(node) == sorted([f"{lost[2:]}.js.revoked", *wanted(module(2))])
    assert kept == hashlib.sha256(module(2)).hexdigest()


def test_it_ends_at_once_whatever_it_is_doing(quiet: InProcessSite) -> None:
    author = a_person(quiet, "bob")
    # Compressing it takes many seconds, even on a fast machine.
    large = b"".join(b"export const a%d = %d;\n" % (it, it**3) for it in range(100_000))
    assert author.publish("bob/large", "1.0.0", large).status == 200
    encoder = encoder_of(quiet.node)
    wait_for(lambda: len(forms(quiet.node)) == 9)
    time.sleep(1)

    began = time.monotonic()
    encoder.close()

    assert time.monotonic() - began < 2
    assert len(forms(quiet.node)) == 9
    assert list(quiet.node.bundles.list_leftovers()) == []
