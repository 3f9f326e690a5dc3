"""Mirrors in tests: catalogs to copy, servers in between, and exports to compare."""

import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import httpx

from support.folders import empty_folder
from support.pictures import a_picture
from support.service import NO_CERTIFICATES
from support.widgets import version_line, widget_line
from widget_catalog.catalog.model.widgets import Version, Widget
from widget_catalog.catalog.node.node import Node, open_node
from widget_catalog.catalog.store.files import list_stored_files
from widget_catalog.core.files.hashing import hash_stream
from widget_catalog.mirror.mirroring import Mirroring, Selection
from widget_catalog.mirror.other_hosts import OtherHosts
from widget_catalog.transfer.export_catalog import export_catalog, name_files
from widget_catalog_client import Catalog

MAX_BUNDLE_BYTES = 1 << 21


def file_lines(folder: Path) -> list[dict[str, Any]]:
    """Widgets to import: with bundles, style sheets and manifests, and some without."""

    def stored(version: str, **fields: Any) -> dict[str, Any]:
        name = f"{len(list(folder.iterdir()))}.js"
        (folder / name).write_text(f"export function mount() {{ return '{name}' }}\n")
        return version_line(version, bundleFile=name, bundleUrl=None, bundleSize=None,
                            sha256Hash=None, **fields)  # fmt: skip

    folder.mkdir()
    (folder / "style.css").write_text("p { color: teal }\n")
    stated = [{"domain": "sensor", "access": "read", "entities": ["sensor.clock_*"]}, "malformed"]
    kept = {"x": {"kept": [1, 2.5, None]}, "capabilities": stated}
    manifest = json.dumps({"name": "Clock", "version": "2.0.0", **kept})
    dated = {"publishedAt": "2026-02-01T00:00:00.000Z", "displayName": "Clock 2"}
    (folder / "README.md").write_text("# Clock\n")
    (folder / "light.png").write_bytes(a_picture("png", 700, 70))
    files = [
        {"path": "screenshots/light.png", "file": "light.png"},
        {"path": "README.md", "file": "README.md"},
    ]
    more = {"cssFile": "style.css", "files": files, "manifest": manifest, **dated}
    clock = [stored("1.0.0"), stored("2.0.0", **more)]
    return [
        widget_line("acme/clock", versions=clock, displayName="Clock 2", downloadCount=7),
        widget_line("acme/notes", versions=[stored("1.0.0", yanked=True, yankedReason="Bad.")]),
        widget_line("acme/bare", versions=[], isOfficial=None),
        widget_line("acme/elsewhere", isOfficial=None),
        widget_line("core/map", versions=[stored("1.0.0+build")], isOfficial=True),
        widget_line("core/old", versions=[stored("1.0.0", deprecationMessage="Use map.")]),
    ]


def exported(node: Node) -> dict[str, dict[str, Any]]:
    """The listed widgets of a catalog by id, without what differs on a mirror: counts.

    Texts that a version inherits from its widget are the widget's.
    """

    def files_of(_widget: Widget, version: Version) -> dict[str, Any]:
        files = name_files(version, lambda it: it.sha256_hash)
        return {"bundleFile": version.sha256_hash, **files}

    found = {}
    for line in map(json.loads, export_catalog(node.store, files_of)):
        del line["downloadCount"]
        for version in line["versions"]:
            for key in ("displayName", "description", "icon"):
                version[key] = version[key] or line[key]
            if version.get("manifest") is not None:
                version["manifest"] = json.loads(version["manifest"])
        if line["listed"]:
            found[f"{line['scope']}/{line['name']}"] = line
    return found


def assert_bundles_are_whole(node: Node) -> None:
    with node.store.reading() as connection:
        files = list(list_stored_files(connection))
    for file in files:
        kind: Any = file.kind
        with node.bundles.open(file.sha256_hash, kind) as content:
            assert hash_stream(content) == (file.sha256_hash, file.size_bytes)


class Copying(NamedTuple):
    """A mirror in this process. `asked` are the requests it has sent."""

    node: Node
    mirroring: Mirroring
    asked: list[str]


@contextlib.contextmanager
def a_mirror(
    data: Path, url: str, wanted: Selection | None = None, others: OtherHosts | None = None
) -> Iterator[Copying]:
    if not data.exists():
        empty_folder(data)
    node = open_node(data, is_durable=False)
    asked: list[str] = []
    hooks = {"request": [lambda request: asked.append(request.url.raw_path.decode())]}
    with (
        httpx.Client(verify=NO_CERTIFICATES, timeout=30, event_hooks=hooks) as http,
        Catalog(url, http=http, retries=0) as catalog,
    ):
        mirroring = Mirroring(node.store, node.bundles, catalog, MAX_BUNDLE_BYTES, others)
        mirroring.begin(wanted or Selection())
        asked.clear()
        yield Copying(node, mirroring, asked)
    node.store.close()


class Passed(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes


Tamper = Callable[[str, Passed], "Passed | Iterator[bytes]"]
"""What is sent instead of what came, by the path that was asked for; an iterator: these bytes, with
neither a length nor an end that is told."""


class Tampering:
    def __init__(self, url: str) -> None:
        self.url = url
        self.tamper: Tamper = lambda _path, passed: passed


@contextlib.contextmanager
def tampering_server(target: str) -> Iterator[Tampering]:
    """A proxy of another server that may change its responses."""
    http = httpx.Client(base_url=target, verify=NO_CERTIFICATES, timeout=30)
    tampering = Tampering("")

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            came = http.get(self.path, headers={"accept-encoding": "identity"})
            kept = {"content-type": came.headers.get("content-type", "")}
            told = tampering.tamper(self.path, Passed(came.status_code, kept, came.content))
            if isinstance(told, Passed):
                self.send_response(told.status)
                for name, value in {"content-length": str(len(told.body)), **told.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(told.body)
                return
            self.close_connection = True
            self.send_response(200)
            self.end_headers()
            with contextlib.suppress(OSError):
                for piece in told:
                    self.wfile.write(piece)

        def log_message(self, *_: object) -> None:
            pass

    with http, ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        tampering.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield tampering
        finally:
            server.shutdown()
            thread.join()
