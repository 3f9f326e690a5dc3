"""Puts the packages that a catalog offers at `/install` into the wheel of the service.

The source distribution contains them, too, so that a wheel built from it has them. An editable
installation has none: in a checkout, the service packs them when they are asked for.
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
        root = Path(self.root)
        if version == "editable" or not (root / "clients" / "pack.py").exists():
            return
        inside = "src/" if self.target_name == "sdist" else ""
        # `clients/pack.py` needs the tool, which is not installed where wheels are built.
        sys.path.insert(0, str(root / "src"))
        packing = runpy.run_path(str(root / "clients" / "pack.py"))
        self._folder = tempfile.TemporaryDirectory()
        folder = Path(self._folder.name)
        for path in (*packing["build_wheels"](folder), *packing["pack"](folder)):
            place = f"{inside}widget_catalog/install/packages/{path.name}"
            build_data["force_include"][str(path)] = place

    def finalize(self, *_: Any) -> None:
        if self._folder is not None:
            self._folder.cleanup()
