"""The version, in every file that states it."""

import datetime
import os
import re
import subprocess
import sys
from pathlib import Path

SOURCE = "src/widget_catalog/core/release.py"
CHANGELOG = "CHANGELOG.md"
OPENAPI = "docs/openapi.json"
# What precedes and follows the version. Each occurs in its file at least once.
PLACES: dict[str, tuple[tuple[str, str], ...]] = {
    SOURCE: (('VERSION = "', '"'), ('CLI_LATEST = "', '"')),
    "src/widget_catalog_client/calls.py": (('USER_AGENT = "widget-catalog-client/', '"'),),
    "src/widget_cli/__init__.py": (('VERSION = "', '"'),),
    "pyproject.toml": (
        ('\nversion = "', '"'),
        ('"widget-catalog-client==', '"'),
        ('"widget-contract==', '"'),
    ),
    "contract/pyproject.toml": (('\nversion = "', '"'),),
    "cli/pyproject.toml": (('"widget-contract==', '"'),),
    "clients/python/pyproject.toml": (('\nversion = "', '"'), ('"widget-contract==', '"')),
    "clients/js/package.json": (('"version": "', '"'),),
    "clients/vite/package.json": (('"version": "', '"'),),
    "clients/cli/package.json": (('"version": "', '"'),),
    "clients/create/package.json": (('"version": "', '"'), ('"widget-catalog-cli": "', '"')),
    "src/widget_cli/template/npm/package.json": (('"vite-plugin-widget-catalog": "^', '"'),),
    "deploy/kubernetes/kustomization.yaml": (("newTag: ", "\n"),),
    "docs/operating.md": (("widget-catalog version\n", "\n"),),
    "docs/publishing.md": (
        ("$ widget --version\n", "\n"),
        ("vite-plugin-widget-catalog-", ".tgz"),
        ("widget-catalog-cli-", ".tgz"),
        ("create-dashboard-widget-", ".tgz"),
    ),
    "docs/managing-widgets.md": (
        ("clients/github-action@v", "\n"),
        ("publish-widget@v", "\n"),
    ),
}
_NUMBER = r"(?:0|[1-9]\d*)"
_VERSION = re.compile(rf"{_NUMBER}\.{_NUMBER}\.{_NUMBER}")


class CannotRelease(Exception):
    """A sentence for the person who releases."""


def current_version(root: Path) -> str:
    found = re.search(r'^VERSION = "(.+)"$', (root / SOURCE).read_text(), re.MULTILINE)
    if found is None:
        raise CannotRelease(f"There is no VERSION in {SOURCE}.")
    return found[1]


def set_version(root: Path, version: str, date: datetime.date) -> list[str]:
    """Set it everywhere, and give the changelog's section `Unreleased` its name.

    Returns the files that were changed: none if this is the version already. Nothing is written
    if a file does not state the present version where it should.
    """
    if not _VERSION.fullmatch(version):
        raise CannotRelease(f"{version} is not a version such as 0.2.0.")
    before = current_version(root)
    if _numbers(version) < _numbers(before):
        raise CannotRelease(f"{version} is lower than {before}, the present version.")
    texts = {path: _replaced(root, path, before, version) for path in PLACES}
    if version == before:
        return []
    released = f'RELEASED_AT = "{date.isoformat()}T00:00:00.000Z"'
    texts[SOURCE] = re.sub(r'^RELEASED_AT = ".*"$', released, texts[SOURCE], flags=re.MULTILINE)
    texts[CHANGELOG] = _with_section((root / CHANGELOG).read_text("utf-8"), version, date)
    for path, text in texts.items():
        (root / path).write_text(text, "utf-8")
    _write_openapi(root)
    return [*texts, OPENAPI]


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def _replaced(root: Path, path: str, before: str, after: str) -> str:
    text = (root / path).read_text("utf-8")
    for start, end in PLACES[path]:
        if f"{start}{before}{end}" not in text:
            raise CannotRelease(f"{path} does not contain {start.strip()}{before}.")
        text = text.replace(f"{start}{before}{end}", f"{start}{after}{end}")
    return text


def _with_section(changelog: str, version: str, date: datetime.date) -> str:
    """The changelog with a section of this version, and an empty one for what follows."""
    heading = "## Unreleased\n"
    _, found, rest = changelog.partition(heading)
    if not found or not rest.partition("\n## ")[0].strip():
        raise CannotRelease(f"{CHANGELOG} has no text below {heading.strip()}.")
    return changelog.replace(heading, f"{heading}\n## {version} – {date.isoformat()}\n", 1)


def _write_openapi(root: Path) -> None:
    """In another process: this one may have loaded the former version."""
    command = [sys.executable, "-m", "widget_catalog.catalog.api.openapi"]
    environment = {**os.environ, "PYTHONPATH": str(root / "src")}
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, check=True)
    (root / OPENAPI).write_bytes(done.stdout)
