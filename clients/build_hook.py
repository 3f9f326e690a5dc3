"""Puts the packages that a catalog offers at `/install` into the wheel of the service.

An editable installation has none: in a checkout, the service packs them when they are asked for.
"""

import runpy
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class OfferedPackages(BuildHookInterface[Any]):
    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if version == "editable":
            return
        root = Path(self.root)
        # `clients/pack.py` needs the tool, which is not installed where wheels are built.
        sys.path.insert(0, str(root / "src"))
        packing = runpy.run_path(str(root / "clients" / "pack.py"))
        self._folder = tempfile.TemporaryDirectory()
        folder = Path(self._folder.name)
        for path in (*packing["build_wheels"](folder), *packing["pack"](folder)):
            build_data["force_include"][str(path)] = f"widget_catalog/install/packages/{path.name}"

    def finalize(self, version: str, *_: Any) -> None:
        if version != "editable":
            self._folder.cleanup()
