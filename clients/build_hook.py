"""Puts the packages that a catalog offers at `/install` into the wheel of the service.

The source distribution contains them in its folder `packages`, so that a wheel built from it is the
same. An editable installation has none: in a checkout, the service packs them when they are asked
for.
"""

import runpy
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class OfferedPackages(BuildHookInterface[Any]):
    _folder: tempfile.TemporaryDirectory[str] | None = None

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        is_source = self.target_name == "sdist"
        place = "packages" if is_source else "widget_catalog/install/packages"
        for path in sorted(self._pack(), key=lambda it: it.name):
            build_data["force_include"][str(path)] = f"{place}/{path.name}"

    def _pack(self) -> list[Path]:
        root = Path(self.root)
        if not (root / "clients" / "pack.py").exists():  # In a source distribution.
            return list((root / "packages").iterdir())
        # `clients/pack.py` needs the tool, which is not installed where wheels are built.
        sys.path.insert(0, str(root / "src"))
        packing = runpy.run_path(str(root / "clients" / "pack.py"))
        self._folder = tempfile.TemporaryDirectory()
        folder = Path(self._folder.name)
        return [*packing["build_wheels"](folder), *packing["pack"](folder)]

    def finalize(self, *_: Any) -> None:
        if self._folder is not None:
            self._folder.cleanup()
