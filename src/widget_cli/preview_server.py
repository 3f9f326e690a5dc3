"""The local server of `widget dev`, which shows a widget and reports changes.

It listens only on the loopback address. Requests of other sites, through DNS rebinding or from
their pages, are rejected.
"""

import contextlib
import json
import threading
import time
from collections.abc import Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import msgspec

from widget_contract.capabilities import requested
from widget_contract.manifests import DEFAULT_MAIN
from widget_contract.preview import preview_files

from .dialect import in_our_terms
from .errors import ToolError
from .javascript import ModuleCheck
from .loopback import HOST, LocalHandler, serving
from .npm_project import RUN_BUILD, WATCH, find_newer_source, npm_scripts
from .preview_page import PAGE, TYPES, page_files, type_of
from .widget_folder import MANIFEST, LocalWidget, read_manifest_text, read_widget

LOOK_EVERY_S = 0.3
# A build removes the module before it writes the new one.
_WRITTEN_WITHIN_S = 2.0
# If the module is older than its source for so long, the build has probably failed.
_BUILT_WITHIN_S = 3.0
_SEE_TERMINAL = "If its build failed, the terminal says why."
_KEPT_FILES = 10
# Keys of a manifest that only the preview uses.
_SHOWN_KEYS = ("configSchema", "configVersion", "defaultConfig", "defaultSize")
_SAME_ORIGIN = ("Cross-Origin-Resource-Policy", "same-origin")
_KEEP_ALIVE_S = 10

Fingerprint = tuple[tuple[str, int, int], ...]


class State(NamedTuple):
    """`revision` increases with every change. `widget` is the last valid one, if any."""

    revision: int
    widget: LocalWidget | None
    errors: list[str]
    warnings: list[str]

    def document(self) -> dict[str, Any]:
        """For the page."""
        version = None if self.widget is None else _version(self.widget)
        return {"version": version, "faults": self.errors, "warnings": self.warnings}


class PreviewedWidget:
    """The content of a folder, read again after every change. Used by many threads."""

    def __init__(self, folder: Path, check: ModuleCheck) -> None:
        self._folder = folder
        self._check = check
        self._lock = threading.Lock()
        self._seen: Fingerprint = ()
        self._state = State(0, None, [], [])
        self._files: dict[str, bytes] = {}
        self._since: dict[str, float] = {}

    def find_file(self, sha256_hash: str) -> bytes | None:
        """Files remain available for a few changes, for pages that refer to them."""
        return self._files.get(sha256_hash)

    def built_at(self) -> float:
        """When the module was written; 0 if there is none."""
        main = (self._named_files() or [DEFAULT_MAIN])[0]
        try:
            return (self._folder / main).stat().st_mtime
        except (OSError, ValueError):
            return 0.0

    def state(self) -> State:
        with self._lock:
            seen = self._fingerprint()
            is_being_written = self._is_being_written(seen)
            if seen != self._seen and not is_being_written:
                self._seen = seen
                self._state = self._look()
            return self._state

    def _look(self) -> State:
        revision = self._state.revision + 1
        try:
            widget = read_widget(self._folder, check=self._check)
        except ToolError as error:
            errors = error.details or [error.sentence]
            return State(revision, self._state.widget, errors, [])
        files = [it for it in (widget.bundle, widget.style) if it is not None]
        recent = list(self._files.items())[-_KEPT_FILES:]
        self._files = dict(recent) | {it.sha256_hash: it.content for it in files}
        warnings = list(widget.warnings)
        if WATCH in npm_scripts(self._folder):  # It builds by itself, unless it cannot.
            warnings = [it.replace(RUN_BUILD, _SEE_TERMINAL) for it in warnings]
        return State(revision, widget, [], warnings)

    def _is_being_written(self, seen: Fingerprint) -> bool:
        """Whether a file that was there is missing or empty, but only for a moment."""
        was_there = self._state.widget is not None and not self._state.errors
        is_gone = was_there and any(size == 0 for _, _, size in seen)
        return not self._lasts("gone", is_gone, _WRITTEN_WITHIN_S) and is_gone

    def _lasts(self, what: str, is_so: bool, at_least_s: float) -> bool:
        """Whether something has been so for a time, at every look."""
        if not is_so:
            self._since.pop(what, None)
            return False
        now = time.monotonic()
        return now - self._since.setdefault(what, now) >= at_least_s

    def _fingerprint(self) -> Fingerprint:
        found = []
        names = self._named_files()
        for name in (MANIFEST, *names):
            try:
                stat = (self._folder / name).stat()
                found.append((name, stat.st_mtime_ns, stat.st_size))
            except (OSError, ValueError):
                found.append((name, 0, 0))
        # Then there is a warning about it.
        newer = find_newer_source(self._folder, self._folder / names[0]) if names else None
        if self._lasts("stale", newer is not None, _BUILT_WITHIN_S) and newer is not None:
            found.append((newer, 1, 1))
        return tuple(found)

    def _named_files(self) -> list[str]:
        """The files that the manifest names, even if it is invalid."""
        try:
            text = in_our_terms(self._folder, read_manifest_text(self._folder))
            manifest = msgspec.json.decode(text)
        except (ToolError, msgspec.MsgspecError, RecursionError):
            return []
        if not isinstance(manifest, dict):
            return []
        names = (manifest.get("main", DEFAULT_MAIN), manifest.get("style"))
        return [it for it in names if isinstance(it, str)]


def _version(widget: LocalWidget) -> dict[str, Any]:
    manifest, bundle, style = widget.manifest, widget.bundle, widget.style
    whole = json.loads(in_our_terms(widget.folder, manifest.text))
    return {
        "displayName": manifest.display_name,
        "name": manifest.name,
        "version": manifest.version.text,
        "bundleUrl": f"/files/{bundle.sha256_hash}.js",
        "sha256Hash": bundle.sha256_hash,
        "styleUrl": f"/files/{style.sha256_hash}.css" if style else None,
        "minSize": msgspec.to_builtins(manifest.min_size),
        "maxSize": msgspec.to_builtins(manifest.max_size),
        "permissions": msgspec.to_builtins(requested(manifest.permissions, manifest.text)),
        "manifest": {key: whole[key] for key in _SHOWN_KEYS if key in whole},
    }


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, port: int, widget: PreviewedWidget) -> None:
        super().__init__((HOST, port), _Handler)
        self.widget = widget
        self.port = int(self.server_address[1])


class _Handler(LocalHandler):
    server: _Server

    def do_GET(self) -> None:  # noqa: N802
        path = urlsplit(self.path).path
        if not self._is_from_here(path):
            self._send("text/plain", b"Open this address in your browser.\n", status=403)
        elif path == "/changes":
            self._send_changes()
        elif path == "/state":
            document = json.dumps(self.server.widget.state().document())
            self._send(TYPES["json"], document.encode())
        elif (page := page_files().get(path[1:] or PAGE)) is not None:
            policy = ("Content-Security-Policy", page.policy)
            self._send(page.content_type, page.content, policy)
        elif (file := preview_files().get(path.removeprefix("/preview/"))) is not None:
            (_, content_type), *headers = file.headers
            self._send(content_type, file.content, *headers)
        elif (published := self._published(path)) is not None:
            self._send(type_of(path), published)
        else:
            self._send("text/plain", b"Not found.\n", status=404)

    def _is_from_here(self, path: str) -> bool:
        """Whether the host is the printed one, and the origin is our page or none."""
        names = {f"{HOST}:{self.server.port}", f"localhost:{self.server.port}"}
        if self.headers.get("Host") not in names:
            return False
        site = self.headers.get("Sec-Fetch-Site", "none")
        return site in ("none", "same-origin") or path == "/"

    def _published(self, path: str) -> bytes | None:
        """`/files/{hash}.js` or `.css`."""
        match path.split("/"):
            case ["", "files", name] if name.endswith((".js", ".css")):
                return self.server.widget.find_file(name.rpartition(".")[0])
        return None

    def _send_changes(self) -> None:
        self.begin("text/event-stream", _SAME_ORIGIN)
        sent, at = -1, time.monotonic()
        with contextlib.suppress(OSError):  # The page was closed.
            while True:
                revision = self.server.widget.state().revision
                if revision != sent or time.monotonic() - at > _KEEP_ALIVE_S:
                    line = f"data: {revision}\n\n" if revision != sent else ": still here\n\n"
                    self.wfile.write(line.encode())
                    self.wfile.flush()
                    sent, at = revision, time.monotonic()
                time.sleep(LOOK_EVERY_S)

    def _send(
        self, content_type: str, body: bytes, *headers: tuple[str, str], status: int = 200
    ) -> None:
        with contextlib.suppress(OSError):
            self.respond(content_type, body, _SAME_ORIGIN, *headers, status=status)


@contextlib.contextmanager
def showing(widget: PreviewedWidget, port: int) -> Iterator[str]:
    """Serve until the block ends; yields the URL. Port 0: any free port."""
    try:
        server = _Server(port, widget)
    except OSError as error:
        raise ToolError(
            f"Cannot listen on port {port}: {error.strerror}.",
            "Choose another with --port, or leave it out.",
        ) from None
    with serving(server):
        yield f"http://{HOST}:{server.port}/"
