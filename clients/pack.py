"""Packs the npm packages of this folder: `./dev run python clients/pack.py FOLDER`; with
`--wheels`, also the Python packages, as a catalog offers them at `/install`.

The Vite plugin includes the preview, the package of the tool its wheels, and that of
`npm create` the tool, so that it works from a catalog, too. So `npm publish` gets these files, not
the folders. `--index URL`: the Python package index of which machines without Python and
without uv fetch uv; no address is in the repository.
"""

import argparse
import json
import re
import sys
import tempfile
from pathlib import Path

from hatchling.builders.wheel import WheelBuilder

from widget_cli.vite_plugin_package import packed, plugin_files

CLIENTS = Path(__file__).parent
ROOT = CLIENTS.parent
TOOL = (ROOT / "contract", ROOT / "cli")


def pack(folder: Path, index: str | None = None) -> list[Path]:
    """Write the packages; the same sources give the same files."""
    tool = {**listed_files(CLIENTS / "cli"), **tool_files(index)}
    (dependency,) = json.loads((CLIENTS / "create" / "package.json").read_text())["dependencies"]
    bundled = {f"node_modules/{dependency}/{path}": content for path, content in tool.items()}
    packages = {
        "js": listed_files(CLIENTS / "js"),
        "vite": plugin_files(),
        "cli": tool,
        "create": {**listed_files(CLIENTS / "create"), **bundled},
    }
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for files in packages.values():
        about = json.loads(files["package.json"])
        path = folder / f"{about['name']}-{about['version']}.tgz"
        path.write_bytes(packed(files))
        paths.append(path)
    return paths


def listed_files(package: Path) -> dict[str, bytes]:
    """What npm takes: the files that package.json lists, and those that every package has."""
    names = json.loads((package / "package.json").read_text())["files"]
    every = ("package.json", "README.md", "LICENSE", *names)
    return {it: (package / it).read_bytes() for it in every if (package / it).is_file()}


def tool_files(index: str | None) -> dict[str, bytes]:
    """The wheels of the tool, and which uv may be fetched to install them."""
    pinned = (ROOT / "requirements" / "uv.txt").read_text()
    (version,) = re.findall(r"^uv==(\S+)", pinned, re.MULTILINE)
    uv = {"version": version, "sha256": re.findall(r"sha256:(\w+)", pinned), "index": index}
    files = {"uv.json": (json.dumps(uv, indent=2) + "\n").encode()}
    with tempfile.TemporaryDirectory() as folder:
        for wheel in build_wheels(Path(folder), TOOL):
            files[f"wheels/{wheel.name}"] = wheel.read_bytes()
    return files


def build_wheels(
    folder: Path, projects: tuple[Path, ...] = (*TOOL, CLIENTS / "python")
) -> list[Path]:
    """Wheels of these projects; equal sources give equal files."""
    builders = [WheelBuilder(str(it)) for it in projects]
    built = [it.build(directory=str(folder), versions=["standard"]) for it in builders]
    return [Path(path) for paths in built for path in paths]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--index", metavar="URL")
    parser.add_argument("--wheels", action="store_true")
    arguments = parser.parse_args()
    wheels = build_wheels(arguments.folder) if arguments.wheels else []
    for written in (*pack(arguments.folder, arguments.index), *wheels):
        sys.stdout.write(f"{written.stat().st_size:>9,}  {written}\n")
