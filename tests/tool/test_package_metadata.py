"""The Python and npm packages as an index shows them: metadata, README, size."""

import hashlib
import json
import re
import subprocess
import sys
import tarfile
import tomllib
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

from support.archives import extract_all

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PROJECTS = {
    "widget_catalog": ROOT,
    "widget_catalog_client": ROOT / "clients" / "python",
    "widget_cli": ROOT / "cli",
    "widget_contract": ROOT / "contract",
}
NPM = {
    "widget-catalog-client": "js",
    "vite-plugin-widget-catalog": "vite",
    "widget-catalog-cli": "cli",
    "create-dashboard-widget": "create",
}
# Of the placeholder in the repository; a release names its own.
REPOSITORY = "https://git.example/widget-catalog"


def build(project: Path, target: Path, *options: str) -> None:
    command = [sys.executable, "-m", "hatchling", "build", *options, "-d", str(target)]
    subprocess.run(command, cwd=project, check=True, capture_output=True)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheels and source distributions."""
    target = tmp_path_factory.mktemp("built")
    for project in PROJECTS.values():
        build(project, target)
    return target


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    spec = spec_from_file_location("pack", ROOT / "clients" / "pack.py")
    assert spec is not None
    assert spec.loader is not None
    packing = module_from_spec(spec)
    spec.loader.exec_module(packing)
    files: list[Path] = packing.pack(tmp_path_factory.mktemp("packed"))
    return dict(zip(NPM, files, strict=True))


def run(*command: str | Path) -> str:
    done = subprocess.run(
        [sys.executable, "-m", *command], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def find_built(built: Path, package: str, ending: str) -> Path:
    (found,) = built.glob(f"{package}-[0-9]*{ending}")
    return found


def test_twine_accepts_metadata_and_readmes(built: Path) -> None:
    files = sorted(built.iterdir())
    assert len(files) == 8
    assert run("twine", "check", "--strict", *files).count("PASSED") == 8


@pytest.mark.parametrize("package", PROJECTS)
def test_pyroma_rates_packages_at_least_9_of_10(built: Path, package: str) -> None:
    archive = find_built(built, package, ".tar.gz")
    # From there: pyroma would read the file as a module of this repository.
    said = run("pyroma", "--min", "9", "--file", archive)
    assert re.search(r"Final rating: (9|10)/10", said), said


@pytest.mark.parametrize("package", PROJECTS)
def test_a_source_distribution_builds_the_same_wheel(
    built: Path, package: str, tmp_path: Path
) -> None:
    """Links to other folders of the repository become files."""
    with tarfile.open(find_built(built, package, ".tar.gz")) as archive:
        extract_all(archive, tmp_path)
    (source,) = tmp_path.iterdir()
    build(source, tmp_path / "wheel", "-t", "wheel")
    wheel = find_built(built, package, ".whl")
    rebuilt = (tmp_path / "wheel" / wheel.name).read_bytes()
    # Not the bytes: to show how they differ would take minutes.
    assert hashlib.sha256(rebuilt).digest() == hashlib.sha256(wheel.read_bytes()).digest()


@pytest.mark.parametrize("package", PROJECTS)
def test_python_packages_say_whose_they_are_and_where(package: str) -> None:
    table: dict[str, Any] = tomllib.loads((PROJECTS[package] / "pyproject.toml").read_text())
    project = table["project"]
    assert project["license"] == "MIT"
    assert project["authors"][0]["name"] == "The Widget Catalog authors"
    assert len(project["keywords"]) >= 4
    assert set(project["urls"]) == {"Homepage", "Documentation", "Changelog", "Issues", "Source"}
    assert all(it.startswith(REPOSITORY) for it in project["urls"].values())
    is_typed = (ROOT / "src" / package / "py.typed").exists()
    assert ("Typing :: Typed" in project["classifiers"]) == is_typed


@pytest.mark.parametrize("folder", NPM.values())
def test_npm_packages_say_whose_they_are_and_where(folder: str) -> None:
    package = json.loads((ROOT / "clients" / folder / "package.json").read_text())
    assert package["author"] == "The Widget Catalog authors"
    assert package["license"] == "MIT"
    assert len(package["keywords"]) >= 3
    assert package["homepage"] == REPOSITORY
    assert package["bugs"] == f"{REPOSITORY}/issues"
    assert package["repository"] == {
        "type": "git",
        "url": f"git+{REPOSITORY}.git",
        "directory": f"clients/{folder}",
    }


@pytest.mark.parametrize(
    ("readme", "install"),
    [
        ("contract", "pip install widget-contract"),
        ("cli", "pipx install widget-cli"),
        ("clients/python", "pip install widget-catalog-client"),
        ("clients/js", "npm install widget-catalog-client"),
        ("clients/vite", "npm install --save-dev vite vite-plugin-widget-catalog"),
        ("clients/cli", "npm install --global widget-catalog-cli"),
        ("clients/create", "npm create dashboard-widget clock"),
    ],
)
def test_a_readme_starts_with_how_to_install_it(readme: str, install: str) -> None:
    lines = (ROOT / readme / "README.md").read_text(encoding="utf-8").splitlines()
    assert lines[1:4] == ["", "```console", f"$ {install}"]


def test_readmes_state_the_size_of_the_package(built: Path, packed: dict[str, Path]) -> None:
    sizes = {
        PROJECTS[project]: find_built(built, project, ".whl").stat().st_size
        for project in PROJECTS
        if PROJECTS[project] != ROOT
    }
    sizes |= {ROOT / "clients" / NPM[it]: file.stat().st_size for it, file in packed.items()}
    for folder, size_bytes in sizes.items():
        text = " ".join((folder / "README.md").read_text(encoding="utf-8").split())
        (stated,) = re.findall(r"(?:wheel|package) is (\d+) kB", text)
        # Half a kilobyte and a tenth: small changes need no new figure.
        assert abs(int(stated) * 1000 - size_bytes) <= 500 + size_bytes / 10, (folder, size_bytes)
