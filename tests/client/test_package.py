"""The npm package: its content, and that it works."""

import gzip
import json
import subprocess
import tarfile
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from client.runtimes import CLIENT
from support.archives import extract_all
from support.npm import node_binary, run_npm
from widget_catalog.core import release

MOST = {"sandbox.js": 6 * 1024, "frame.html": 5 * 1024}
PACKAGE = json.loads((CLIENT / "package.json").read_text())


@pytest.mark.slow
def test_what_npm_packs_is_what_is_needed_and_can_be_imported(tmp_path: Path) -> None:
    report = run_npm("pack", "--json", "--pack-destination", str(tmp_path), folder=CLIENT)
    packed = json.loads(report)[0]
    assert {it["path"] for it in packed["files"]} == {
        "LICENSE",
        "README.md",
        "api.d.ts",
        "client.d.ts",
        "client.js",
        "defaults.js",
        "frame.html",
        "consent.d.ts",
        "consent.js",
        "elements.js",
        "grants.js",
        "package.json",
        "capabilities.js",
        "sandbox.d.ts",
        "sandbox.js",
        "semver.js",
        "settings.d.ts",
        "settings.js",
        "static.d.ts",
        "static.js",
        "texts.js",
        "widget.d.ts",
        "widget.schema.json",
    }
    with tarfile.open(tmp_path / packed["filename"]) as archive:
        extract_all(archive, tmp_path / "node_modules")
    (tmp_path / "node_modules" / "package").rename(tmp_path / "node_modules" / PACKAGE["name"])
    code = "import('widget-catalog-client').then((it) => console.log(Object.keys(it).join()))"
    command = [str(node_binary()), "-e", code]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "Catalog,CatalogError," in done.stdout


def test_the_modules_are_joined_from_their_sources() -> None:
    spec = spec_from_file_location("join", CLIENT / "join.py")
    assert spec is not None
    assert spec.loader is not None
    join = module_from_spec(spec)
    spec.loader.exec_module(join)
    command = "./dev run python clients/js/join.py"
    made = join.joined()
    assert set(made) == {"client.js", "sandbox.js", "frame.html"}
    for name, text in made.items():
        is_same = (CLIENT / name).read_text(encoding="utf-8") == text
        assert is_same, f"clients/js/{name} is not what is in src; rewrite it with: {command}"


def test_the_license_is_that_of_the_repository() -> None:
    assert (CLIENT / "LICENSE").read_bytes() == (CLIENT.parents[1] / "LICENSE").read_bytes()


def test_it_has_the_number_of_the_release_and_no_dependencies() -> None:
    assert PACKAGE["version"] == release.VERSION
    assert not any(key.lower().endswith("dependencies") or key == "scripts" for key in PACKAGE)


def test_the_sandbox_and_its_frame_are_small() -> None:
    sizes = {name: len(gzip.compress((CLIENT / name).read_bytes(), 9)) for name in MOST}
    assert {name: size for name, size in sizes.items() if size > MOST[name]} == {}
