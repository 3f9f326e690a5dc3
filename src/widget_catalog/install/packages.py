"""The packages that the catalog offers: its own, and dependencies that the operator provides."""

import hashlib
import re
import runpy
import tempfile
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from ..core.errors import NotFound
from ..core.http.http import FileBody

# Packed with the service: see clients/build_hook.py. A checkout has no such folder.
_PACKED = Path(__file__).parent / "packages"
_PACKING = Path(__file__).parents[3] / "clients" / "pack.py"
_TOOL = "widget-cli"
_LAUNCHER = "widget-catalog-cli-"


class Package(NamedTuple):
    file: str
    sha256: str
    body: bytes | FileBody

    @property
    def project(self) -> str | None:
        """The normalized name of its Python project; None for an npm package."""
        if not self.file.endswith(".whl"):
            return None
        return normalize(self.file.partition("-")[0])


class Packages:
    """Read on first use, and the same until the service is restarted."""

    def __init__(self, dependencies: str) -> None:
        """`dependencies`: a folder with wheels of others, if any."""
        self._dependencies = dependencies

    @cached_property
    def own(self) -> dict[str, Package]:
        """By the name of their file; raises NotFound if there are none."""
        if _PACKED.is_dir():
            return {it.file: it for it in _read(_PACKED)}
        if not _PACKING.is_file():
            raise NotFound("This catalog was installed without the packages of the tool.")
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            packing = runpy.run_path(str(_PACKING))
            packing["build_wheels"](folder)
            packing["pack"](folder)
            return {it.name: _in_memory(it) for it in sorted(folder.iterdir())}

    @cached_property
    def all(self) -> dict[str, Package]:
        """Files of the operator do not replace our own."""
        if not self._dependencies:
            return self.own
        ours = {it.project for it in self.own.values()}
        others = [
            requirement
            for requirement in _read(Path(self._dependencies))
            if requirement.project is not None and requirement.project not in ours
        ]
        return {**self.own, **{it.file: it for it in others}}

    @property
    def has_dependencies(self) -> bool:
        return len(self.all) > len(self.own)

    @property
    def projects(self) -> dict[str, list[Package]]:
        found: dict[str, list[Package]] = {}
        for package in self.all.values():
            if package.project is not None:
                found.setdefault(package.project, []).append(package)
        return dict(sorted(found.items()))

    @property
    def own_wheels(self) -> list[tuple[str, Package]]:
        return [(it.project, it) for it in self.own.values() if it.project is not None]

    @property
    def tool(self) -> Package:
        return next(it for it in self.own.values() if it.project == _TOOL)

    @property
    def launcher(self) -> Package:
        """The npm package with the tool."""
        return next(it for it in self.own.values() if it.file.startswith(_LAUNCHER))


def normalize(project: str) -> str:
    """As the simple repository API does."""
    return re.sub(r"[-_.]+", "-", project).lower()


def version_of(wheel: Package) -> str:
    return wheel.file.split("-")[1]


def _read(folder: Path) -> Iterator[Package]:
    for path in sorted(folder.iterdir()):
        if path.is_file():
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            size = path.stat().st_size
            yield Package(path.name, digest, FileBody(path, 0, size, is_whole=True))


def _in_memory(path: Path) -> Package:
    content = path.read_bytes()
    return Package(path.name, hashlib.sha256(content).hexdigest(), content)
