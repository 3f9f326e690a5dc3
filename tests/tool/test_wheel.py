"""The tool installs with the contract: two wheels, their dependencies, nothing of the service."""

import re
import subprocess
import sys
import tomllib
import venv
import zipfile
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from support.environments import environment_with_pip, site_of
from widget_cli import VERSION

ROOT = Path(__file__).parents[2]
# The folders of the wheels, by the prefix of their names.
PROJECTS = {
    "widget_catalog": ROOT,
    "widget_catalog_client": ROOT / "clients" / "python",
    "widget_cli": ROOT / "cli",
    "widget_contract": ROOT / "contract",
}

TYPED = """\
from widget_catalog_client import AsyncCatalog, Catalog, InstalledWidget
from widget_contract.semver import SemVer

catalog = Catalog("https://catalog.example")
reveal_type(catalog.search("clock").widgets[0].display_name)
reveal_type(catalog.detail("acme/clock").versions[0].min_size.w)
reveal_type(catalog.version("acme/clock", "1.0.0").files[0].sha256_hash)
reveal_type(catalog.resolve("1.0.0", [InstalledWidget("acme/clock")]).results[0].offer)
reveal_type(next(iter(catalog.watch())).listed)
reveal_type(SemVer.parse("1.0.0"))


async def ask() -> None:
    reveal_type((await AsyncCatalog("https://catalog.example").changes()).newest)


catalog.revocations().revocatons
"""
REVEALED = (
    "str",
    "int",
    "str",
    "widget_contract.wire_running.OfferedVersion | None",
    "bool",
    "widget_contract.semver.SemVer",
    "int",
)
MISSPELLED = (
    'error: "Revocations" has no attribute "revocatons"; maybe "revocations"?  [attr-defined]'
)


def needed(*names: str) -> set[str]:
    """These packages and all their dependencies here, without extras."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        if name in found or name == "widget-contract":
            continue
        try:
            wanted = metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            continue  # For another platform or an older Python.
        found.add(name)
        waiting += [
            re.split(r"[^\w.-]", it, maxsplit=1)[0] for it in wanted if "extra ==" not in it
        ]
    return found


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    target = tmp_path_factory.mktemp("wheels")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(target)]
    for project in PROJECTS.values():
        subprocess.run(command, cwd=project, check=True, capture_output=True)
    return {it.name.partition("-")[0]: it for it in target.glob("*.whl")}


@pytest.fixture(scope="module")
def python(wheels: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new environment with tool and contract, and only their dependencies."""
    folder = tmp_path_factory.mktemp("fresh") / "venv"
    python = environment_with_pip(folder)
    options = ["--no-deps", "--no-index", "--disable-pip-version-check", "--quiet"]
    installed = [wheels["widget_contract"], wheels["widget_cli"]]
    subprocess.run([python, "-m", "pip", "install", *options, *installed], check=True)
    link_dependencies(site_of(folder), "widget_cli", "widget_contract")
    return python


def link_dependencies(site: Path, *packages: str) -> None:
    """What these packages of ours depend on, from the environment of the tests."""
    listed = [it for package in packages for it in dependencies(package)]
    for package in needed(*(re.split(r"[^\w-]", it, maxsplit=1)[0] for it in listed)):
        for file in metadata.files(package) or []:
            top = Path(str(file)).parts[0]
            source = Path(str(metadata.distribution(package).locate_file(top)))
            if top not in ("..", "__pycache__") and not (site / top).exists():
                (site / top).symlink_to(source)


def project_table(package: str) -> dict[str, Any]:
    table: dict[str, Any] = tomllib.loads((PROJECTS[package] / "pyproject.toml").read_text())
    return table["project"]  # type: ignore[no-any-return]


def dependencies(package: str) -> list[str]:
    return list(project_table(package)["dependencies"])


def run(python: Path, *arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(folder), "NO_COLOR": "1"}
    return subprocess.run(
        [python, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
def test_the_wheel_is_of_this_release(wheels: dict[str, Path]) -> None:
    assert wheels["widget_cli"].name == f"widget_cli-{VERSION}-py3-none-any.whl"


@pytest.mark.parametrize("package", ["widget_catalog", "widget_catalog_client", "widget_cli"])
def test_service_and_tool_require_the_contract_they_were_made_with(package: str) -> None:
    pinned = f"widget-contract=={project_table('widget_contract')['version']}"
    assert pinned in dependencies(package)


@pytest.mark.slow
def test_no_file_belongs_to_two_wheels(wheels: dict[str, Path]) -> None:
    """Otherwise removing one package from an environment would break another."""
    files = [set(zipfile.ZipFile(it).namelist()) for it in wheels.values()]
    assert len(files) == 4
    assert sum(map(len, files)) == len(set.union(*files))
    assert {it.partition("/")[0] for it in set.union(*files)} == {
        *wheels,
        *(f"{name}-{wheel.name.split('-')[1]}.dist-info" for name, wheel in wheels.items()),
    }


@pytest.mark.slow
def test_the_service_brings_the_javascript_client_along(wheels: dict[str, Path]) -> None:
    """The package includes it through a link."""
    with zipfile.ZipFile(wheels["widget_catalog"]) as wheel:
        packed = wheel.read("widget_catalog/core/http/static/client/client.js")
    assert packed == (ROOT / "clients" / "js" / "client.js").read_bytes()


def test_the_service_requires_the_client_it_was_made_with() -> None:
    pinned = f"widget-catalog-client=={project_table('widget_catalog_client')['version']}"
    assert pinned in dependencies("widget_catalog")


@pytest.mark.slow
def test_installed_wheels_have_types(wheels: dict[str, Path], tmp_path: Path) -> None:
    """In an environment of its own: mypy takes the types of installed packages only if they say
    that they have some, and every field is `Any` otherwise.
    """
    venv.create(tmp_path / "venv")
    site = site_of(tmp_path / "venv")
    for package in ("widget_contract", "widget_catalog_client"):
        zipfile.ZipFile(wheels[package]).extractall(site)
    link_dependencies(site, "widget_catalog_client", "widget_contract")
    (tmp_path / "sample.py").write_text(TYPED)
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "sample.py"]
    command += ["--python-executable", str(tmp_path / "venv" / "bin" / "python")]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    said = [line.partition(": ")[2] for line in done.stdout.splitlines()]
    assert said == [f'note: Revealed type is "{it}"' for it in REVEALED] + [MISSPELLED]


@pytest.mark.parametrize("package", ["widget_catalog_client", "widget_cli", "widget_contract"])
def test_the_license_is_that_of_the_repository(package: str) -> None:
    """A copy and not a link: distributions keep links as they are."""
    copy = PROJECTS[package] / "LICENSE"
    assert copy.read_bytes() == (ROOT / "LICENSE").read_bytes()
    assert not copy.is_symlink()


@pytest.mark.slow
def test_the_command_works_with_its_own_dependencies_alone(python: Path, tmp_path: Path) -> None:
    command = str(python.parent / "widget")
    said = run(python, command, "--help", folder=tmp_path)
    assert (said.returncode, said.stderr) == (0, "")
    assert (
        run(python, command, "init", "clock", "--template", "plain", folder=tmp_path).returncode
        == 0
    )
    said = run(python, command, "validate", "clock", folder=tmp_path)
    assert (said.returncode, said.stdout) == (0, "Valid: clock 0.1.0, 1.6 KiB.\n")  # It was parsed.


@pytest.mark.slow
@pytest.mark.parametrize("module", ["widget_catalog", "sqlalchemy", "granian", "numpy"])
def test_nothing_of_the_service_is_there(python: Path, tmp_path: Path, module: str) -> None:
    said = run(python, "-c", f"import {module}", folder=tmp_path)
    assert said.stderr.endswith(f"ModuleNotFoundError: No module named '{module}'\n")
