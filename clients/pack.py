"""Packs the npm packages of this folder: `./dev run python clients/pack.py FOLDER`.

The Vite plugin includes the preview, and the package of the tool its wheels; so `npm publish` gets
these files, not the folders. `--index URL`: the Python package index of which machines without
Python and without uv fetch uv; no address is in the repository.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from widget_cli.vite_plugin_package import packed, plugin_files

CLIENTS = Path(__file__).parent
ROOT = CLIENTS.parent
WHEELS = (ROOT / "contract", ROOT / "cli")


def pack(folder: Path, index: str | None = None) -> list[Path]:
    """Write the packages; the same sources give the same files."""
    packages = {
        "js": listed_files(CLIENTS / "js"),
        "vite": plugin_files(),
        "cli": {**listed_files(CLIENTS / "cli"), **tool_files(index)},
        "create": listed_files(CLIENTS / "create"),
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
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", folder]
        for project in WHEELS:
            subprocess.run(command, cwd=project, check=True, capture_output=True)  # noqa: S603
        for wheel in Path(folder).glob("*.whl"):
            files[f"wheels/{wheel.name}"] = wheel.read_bytes()
    return files


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--index", metavar="URL")
    arguments = parser.parse_args()
    for written in pack(arguments.folder, arguments.index):
        sys.stdout.write(f"{written.stat().st_size:>9,}  {written}\n")
