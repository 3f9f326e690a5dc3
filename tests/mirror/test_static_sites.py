"""A mirror of a static site in a folder or at a URL: complete, cut off, being written, or older."""

import asyncio
import contextlib
import functools
import hashlib
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterator
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import msgspec
import pytest

from mirror.mirrors import MAX_BUNDLE_BYTES, assert_bundles_are_whole, exported, file_lines
from support.commands import widget_catalog
from support.folders import empty_folder
from support.widgets import import_widgets, version_line, widget_line
from widget_catalog.catalog.node.node import Node, open_node
from widget_catalog.catalog.store.widgets import find_widget
from widget_catalog.core.actors import COMMAND_LINE
from widget_catalog.core.load_settings import load_settings
from widget_catalog.mirror.mirroring import Mirroring, Round, Selection
from widget_catalog.mirror.places import open_upstream
from widget_catalog.moderation.revoke_version import revoke_version, unrevoke_version
from widget_catalog.publishing.change_widget import (
    deprecate_version,
    set_official,
    unlist_widget,
    unyank_version,
    yank_version,
)
from widget_catalog.static_site.static_site import SiteFolder, build_static_site
from widget_catalog_client import ClientError
from widget_contract.errors import CatalogError
from widget_contract.names import Scope, WidgetName
from widget_contract.static_sites import parse_sums
from widget_contract.wire import WidgetDetail

pytestmark = pytest.mark.slow

URL = "https://files.example"
CLOCK = "acme/clock"
CLOCK_FILE = "api/v1/widgets/acme/clock.json"


@pytest.fixture
def origin(tmp_path: Path) -> Iterator[Node]:
    node = open_node(empty_folder(tmp_path / "origin"), is_durable=False)
    import_widgets(node, *file_lines(tmp_path / "files"), base_folder=tmp_path / "files")
    yield node
    node.store.close()


@pytest.fixture
def copy(tmp_path: Path) -> Iterator[Node]:
    node = open_node(empty_folder(tmp_path / "copy"), is_durable=False)
    yield node
    node.store.close()


def build(node: Node, folder: Path, advance: Callable[[int], None] = lambda _: None) -> None:
    settings = load_settings({"data": node.folder.path, "base_url": URL}, environment={})
    target = SiteFolder(folder)
    target.begin()
    site, close = build_static_site(node, settings, target)
    asyncio.run(site.write(advance))
    close()
    target.finish()


def sync(node: Node, place: Path | str) -> Round:
    with open_upstream(str(place)) as catalog:
        mirroring = Mirroring(node.store, node.bundles, catalog, MAX_BUNDLE_BYTES)
        mirroring.begin(Selection())
        return mirroring.run()


def change_everything(node: Node, base_folder: Path) -> None:
    """Every kind of change to a widget."""
    store = node.store
    new = widget_line(CLOCK, versions=[version_line("3.0.0")])
    import_widgets(node, new, widget_line("new/one"), base_folder=base_folder)
    yank_version(store, COMMAND_LINE, CLOCK, "1.0.0", "Slow.")
    unyank_version(store, COMMAND_LINE, "acme/notes", "1.0.0")
    deprecate_version(store, COMMAND_LINE, CLOCK, "1.0.0", "Old.")
    revoke_version(store, node.bundles, COMMAND_LINE, CLOCK, "2.0.0", "Malware.")
    set_official(store, COMMAND_LINE, "acme/bare", is_official=True)
    unlist_widget(store, COMMAND_LINE, "core/old")


def find(node: Node, key: str) -> Any:
    with node.store.reading() as connection:
        stored = find_widget(connection, *_parts(key))
    assert stored is not None
    return stored.widget


def _parts(key: str) -> tuple[Scope, WidgetName]:
    scope, _, name = key.partition("/")
    return Scope(scope), WidgetName(name)


def revoked(node: Node) -> list[str]:
    return [it.number for it in find(node, CLOCK).versions if it.revocation is not None]


@contextlib.contextmanager
def plain_host(folder: Path) -> Iterator[str]:
    class Handler(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

    handler = functools.partial(Handler, directory=folder)
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/site"
        finally:
            server.shutdown()
            thread.join()


@pytest.mark.parametrize("is_url", [False, True])
def test_a_mirror_follows_a_site(is_url: bool, origin: Node, copy: Node, tmp_path: Path) -> None:
    site = tmp_path / "host" / "site"
    site.parent.mkdir()
    build(origin, site)
    with plain_host(site.parent) if is_url else contextlib.nullcontext(site) as place:
        assert sync(copy, place).errors == []
        assert exported(copy) == exported(origin)
        assert sync(copy, place) == Round(0, [])

        change_everything(origin, tmp_path / "files")
        build(origin, site)
        assert sync(copy, place).errors == []
        assert exported(copy) == exported(origin)
        assert revoked(copy) == ["2.0.0"]
        assert not find(copy, "core/old").is_listed

        unrevoke_version(origin.store, origin.bundles, COMMAND_LINE, CLOCK, "2.0.0")
        build(origin, site)
        assert sync(copy, place).errors == []
    assert exported(copy) == exported(origin)
    assert_bundles_are_whole(copy)


def _cut(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


def _flip(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("path", "damage"),
    [
        ("SHA256SUMS", _cut),
        ("static.json", Path.unlink),
        ("api/v1/widgets/changes.json", _cut),
        (CLOCK_FILE, Path.unlink),
        ("api/v1/widgets/acme/clock/3.0.0.json", _flip),
        ("cdn/@acme/clock/4.0.0/index.js", Path.unlink),
    ],
)
def test_a_copy_that_is_not_complete_changes_nothing_wrongly(
    path: str, damage: Callable[[Path], None], origin: Node, copy: Node, tmp_path: Path
) -> None:
    site, files = tmp_path / "site", tmp_path / "files"
    build(origin, site)
    sync(copy, site)
    before = exported(copy)
    revoke_version(origin.store, origin.bundles, COMMAND_LINE, CLOCK, "2.0.0", "Malware.")
    (files / "4.js").write_text("export default 4")
    stored = version_line(
        "4.0.0", bundleFile="4.js", bundleUrl=None, bundleSize=None, sha256Hash=None
    )
    new = widget_line(CLOCK, versions=[version_line("3.0.0"), stored])
    import_widgets(origin, new, base_folder=files)
    build(origin, site)
    whole = tmp_path / "whole"
    shutil.copytree(site, whole)
    damage(site / path)

    errors: list[str] = []
    try:
        errors = sync(copy, site).errors
    except CatalogError as error:
        errors = [str(error)]

    assert errors != []
    assert exported(copy) == before
    assert sync(copy, whole).errors == []
    assert exported(copy) == exported(origin)
    assert revoked(copy) == ["2.0.0"]


def test_an_older_site_is_refused_and_undoes_nothing(
    origin: Node, copy: Node, tmp_path: Path
) -> None:
    old, new = tmp_path / "old", tmp_path / "new"
    build(origin, old)
    revoke_version(origin.store, origin.bundles, COMMAND_LINE, CLOCK, "2.0.0", "Malware.")
    build(origin, new)
    sync(copy, new)
    before = exported(copy)

    with pytest.raises(ClientError, match=r"is older than what was copied from it: .* change 6, "):
        sync(copy, old)

    assert exported(copy) == before
    assert revoked(copy) == ["2.0.0"]


def test_a_site_is_one_state_of_a_catalog_that_changes_meanwhile(
    origin: Node, copy: Node, tmp_path: Path
) -> None:
    """Otherwise a mirror that goes on after its revision would miss changes."""
    site, files = tmp_path / "site", tmp_path / "files"
    before = exported(origin)
    to_do = [lambda: change_everything(origin, files)]

    build(origin, site, lambda _: to_do.pop()() if to_do else None)

    detail = msgspec.json.decode((site / CLOCK_FILE).read_bytes(), type=WidgetDetail)
    assert [it.version for it in detail.versions] == ["2.0.0", "1.0.0"]
    assert sync(copy, site).errors == []
    assert exported(copy) == before
    build(origin, site)
    assert sync(copy, site).errors == []
    assert exported(copy) == exported(origin)


def test_every_file_is_in_the_list_of_hashes(origin: Node, tmp_path: Path) -> None:
    site = tmp_path / "site"
    build(origin, site)
    (site / "SHA256SUMS.asc").write_text("a signature of the list before")
    change_everything(origin, tmp_path / "files")
    build(origin, site)

    files = {it.relative_to(site).as_posix(): it for it in site.rglob("*") if it.is_file()}
    sums = parse_sums(files.pop("SHA256SUMS").read_bytes())
    del files[".widget-catalog-site"]
    assert sums == {path: hashlib.sha256(it.read_bytes()).hexdigest() for path, it in files.items()}
    command = ["sha256sum", "--quiet", "--strict", "--check", "SHA256SUMS"]
    assert subprocess.run(command, cwd=site, check=True, capture_output=True).stdout == b""


def test_what_is_no_site_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for place in (tmp_path / "empty", tmp_path / "nosuch", f"file://{tmp_path}/empty"):
        said = widget_catalog("mirror", place, "--data", tmp_path / "data")
        assert (said.code, said.err.count("\n")) == (1, 1)
        assert "is not a complete static site: it has no readable static.json" in said.err
    assert not (tmp_path / "data").exists()
