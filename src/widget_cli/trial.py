"""A widget under development: the content of a folder, read again after every change."""

import json
import threading
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from .errors import ToolError
from .javascript import ModuleCheck
from .widget_folder import MANIFEST, LocalWidget, read_manifest_text, read_widget

LOOK_EVERY_S = 0.3
_KEPT_FILES = 10
# Keys of a manifest that only the preview uses.
_SHOWN_KEYS = ("configSchema", "defaultConfig", "defaultSize")

Fingerprint = tuple[tuple[str, int, int], ...]


class State(NamedTuple):
    """`revision` increases with every change. `widget` is the last valid one, if any."""

    revision: int
    widget: LocalWidget | None
    faults: list[str]
    warnings: list[str]

    def document(self) -> dict[str, Any]:
        """For the page."""
        version = None if self.widget is None else _version(self.widget)
        return {"version": version, "faults": self.faults, "warnings": self.warnings}


class Trial:
    """Used by many threads; the first call after a change reads the folder."""

    def __init__(self, folder: Path, check: ModuleCheck) -> None:
        self._folder = folder
        self._check = check
        self._lock = threading.Lock()
        self._seen: Fingerprint = ()
        self._state = State(0, None, [], [])
        self._files: dict[str, bytes] = {}

    def find_file(self, sha256_hash: str) -> bytes | None:
        """Files remain available for a few changes, for pages that refer to them."""
        return self._files.get(sha256_hash)

    def state(self) -> State:
        with self._lock:
            seen = self._fingerprint()
            if seen != self._seen:
                self._seen = seen
                self._state = self._look()
            return self._state

    def _look(self) -> State:
        revision = self._state.revision + 1
        try:
            widget = read_widget(self._folder, check=self._check)
        except ToolError as error:
            faults = error.details or [error.sentence]
            return State(revision, self._state.widget, faults, [])
        files = [it for it in (widget.bundle, widget.style) if it is not None]
        recent = list(self._files.items())[-_KEPT_FILES:]
        self._files = dict(recent) | {it.sha256_hash: it.content for it in files}
        return State(revision, widget, [], list(widget.warnings))

    def _fingerprint(self) -> Fingerprint:
        found = []
        for name in (MANIFEST, *self._named_files()):
            try:
                stat = (self._folder / name).stat()
                found.append((name, stat.st_mtime_ns, stat.st_size))
            except (OSError, ValueError):
                found.append((name, 0, 0))
        return tuple(found)

    def _named_files(self) -> list[str]:
        """The files that the manifest names, even if it is invalid."""
        try:
            manifest = msgspec.json.decode(read_manifest_text(self._folder))
        except (ToolError, msgspec.MsgspecError, RecursionError):
            return []
        if not isinstance(manifest, dict):
            return []
        names = (manifest.get("main", "index.js"), manifest.get("style"))
        return [it for it in names if isinstance(it, str)]


def _version(widget: LocalWidget) -> dict[str, Any]:
    manifest, bundle, style = widget.manifest, widget.bundle, widget.style
    whole = json.loads(manifest.text)
    return {
        "displayName": manifest.display_name,
        "name": manifest.name,
        "version": manifest.version.text,
        "bundleUrl": f"/files/{bundle.sha256_hash}.js",
        "sha256Hash": bundle.sha256_hash,
        "styleUrl": f"/files/{style.sha256_hash}.css" if style else None,
        "minSize": msgspec.to_builtins(manifest.min_size),
        "maxSize": msgspec.to_builtins(manifest.max_size),
        "permissions": list(manifest.permissions),
        "manifest": {key: whole[key] for key in _SHOWN_KEYS if key in whole},
    }
