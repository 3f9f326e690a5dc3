"""A catalog for Verdaccio and Datasette, written as each of them stores it."""

import json
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from . import catalogs
from .folders import fingerprint
from .rig import say

_VERDACCIO = """\
storage: ./storage
auth: {htpasswd: {file: ./htpasswd, max_users: -1}}
uplinks: {}
packages: {"**": {access: $all}}
server: {keepAliveTimeout: 600, rateLimit: {windowMs: 1000, max: 1000000}}
userRateLimit: {windowMs: 1000, max: 1000000}
log: {type: stdout, format: pretty, level: fatal}
"""
_TABLES = """
CREATE TABLE widgets (scope TEXT, name TEXT, display_name TEXT, description TEXT, icon TEXT,
  is_official INTEGER, download_count INTEGER, latest TEXT, versions TEXT,
  PRIMARY KEY (scope, name));
CREATE VIRTUAL TABLE widgets_fts USING fts5(display_name, description, name, content='widgets');
"""


def ensure_storage(folder: Path, widgets: int, versions_each: int) -> Path:
    """Verdaccio's folder: a package for each widget. Publishing them would take an hour."""
    return _ensure(folder, widgets, versions_each, _write_storage)


def ensure_database(folder: Path, widgets: int, versions_each: int) -> Path:
    """Datasette's folder: a row for each widget, with full-text search."""
    return _ensure(folder, widgets, versions_each, _write_database)


def _ensure(folder: Path, widgets: int, versions_each: int, write: Any) -> Path:
    wanted = f"{fingerprint(widgets)} {versions_each} {_VERDACCIO} {_TABLES}"
    stamp = folder / "fingerprint"
    if stamp.exists() and stamp.read_text() == wanted:
        return folder
    say(f"Writing the same {widgets:,} widgets into {folder.name} (once) …")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    made = catalogs.lines(widgets, versions_each, is_exact=True)
    write(folder, map(json.loads, made))
    stamp.write_text(wanted)
    return folder


def package_name(widget: dict[str, Any]) -> str:
    return f"@{widget['scope']}/{widget['name']}"


def _write_storage(folder: Path, widgets: Iterator[dict[str, Any]]) -> None:
    names = []
    for widget in widgets:
        name = package_name(widget)
        place = folder / "storage" / name
        place.mkdir(parents=True)
        (place / "package.json").write_text(json.dumps(_package(name, widget)))
        names.append(name)
    known = {"list": names, "secret": "0123456789abcdef" * 2}
    (folder / "storage" / ".verdaccio-db.json").write_text(json.dumps(known))
    (folder / "config.yaml").write_text(_VERDACCIO)


def _package(name: str, widget: dict[str, Any]) -> dict[str, Any]:
    """As `npm publish` stores it, with what the manifest of a widget says."""
    versions = {it["version"]: _version(name, widget, it) for it in widget["versions"]}
    times = {it["version"]: it["publishedAt"] for it in widget["versions"]}
    return {
        "_id": name,
        "_rev": "1-0",
        "name": name,
        "description": widget["description"],
        "readme": widget["description"],
        "versions": versions,
        "dist-tags": {"latest": next(reversed(versions))},
        "time": {"created": widget["createdAt"], "modified": max(times.values()), **times},
        "_distfiles": {},
        "_attachments": {},
        "_uplinks": {},
    }


def _version(name: str, widget: dict[str, Any], version: dict[str, Any]) -> dict[str, Any]:
    taken = ("minSize", "maxSize", "sdkVersion", "configVersion", "permissions", "license")
    return {
        "_id": f"{name}@{version['version']}",
        "name": name,
        "version": version["version"],
        "description": widget["description"],
        "keywords": widget["displayName"].lower().split(),
        "dist": {
            "tarball": f"http://127.0.0.1/{name}/-/{widget['name']}-{version['version']}.tgz",
            "shasum": version["sha256Hash"][:40],
            "integrity": f"sha256-{version['sha256Hash']}",
            "unpackedSize": version["bundleSize"],
        },
        **{key: version[key] for key in taken},
    }


def _write_database(folder: Path, widgets: Iterator[dict[str, Any]]) -> None:
    with sqlite3.connect(folder / "catalog.db") as database:
        database.executescript(_TABLES)
        database.executemany(
            "INSERT INTO widgets VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", map(_row, widgets)
        )
        database.execute("INSERT INTO widgets_fts (widgets_fts) VALUES ('rebuild')")
    database.close()


def _row(widget: dict[str, Any]) -> tuple[Any, ...]:
    fields = ("scope", "name", "displayName", "description", "icon", "isOfficial", "downloadCount")
    versions = widget["versions"]
    return (*(widget[it] for it in fields), json.dumps(versions[-1]), json.dumps(versions))
