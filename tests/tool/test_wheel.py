"""The tool installs by itself: its wheel, its own dependencies, and nothing of the service."""

import re
import subprocess
import sys
import tomllib
import venv
from importlib import metadata
from pathlib import Path

import pytest

from widget_cli.release import VERSION

PROJECT = Path(__file__).parents[2] / "cli"


def needed(*names: str) -> set[str]:
    """These packages and all that they need here, without extras."""
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = re.sub(r"[-_.]+", "-", waiting.pop()).lower()
        if name in found or "extra ==" in name:
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
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(target)]
    subprocess.run(command, cwd=PROJECT, check=True, capture_output=True)
    (built,) = target.glob("*.whl")
    return built


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh environment with the wheel, which sees the packages it depends on and no others."""
    folder = tmp_path_factory.mktemp("fresh") / "venv"
    venv.create(folder, with_pip=True)
    python = folder / "bin" / "python"
    options = ["--no-deps", "--no-index", "--disable-pip-version-check", "--quiet"]
    subprocess.run([python, "-m", "pip", "install", *options, wheel], check=True)
    (site,) = (folder / "lib").glob("python*/site-packages")
    listed = tomllib.loads((PROJECT / "pyproject.toml").read_text())["project"]["dependencies"]
    for package in needed(*(re.split(r"[^\w-]", it, maxsplit=1)[0] for it in listed)):
        for file in metadata.files(package) or []:
            top = Path(str(file)).parts[0]
            source = Path(str(metadata.distribution(package).locate_file(top)))
            if top not in ("..", "__pycache__") and not (site / top).exists():
                (site / top).symlink_to(source)
    return python


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


def test_the_wheel_is_of_this_release(wheel: Path) -> None:
    assert wheel.name == f"widget_cli-{VERSION}-py3-none-any.whl"


def test_the_license_is_that_of_the_repository() -> None:
    """A copy and no link: what is built for others keeps links to files as they are."""
    assert (PROJECT / "LICENSE").read_bytes() == (PROJECT.parent / "LICENSE").read_bytes()
    assert not (PROJECT / "LICENSE").is_symlink()


def test_the_command_works_with_its_own_dependencies_alone(python: Path, tmp_path: Path) -> None:
    command = str(python.parent / "widget")
    said = run(python, command, "--help", folder=tmp_path)
    assert (said.returncode, said.stderr) == (0, "")
    assert run(python, command, "init", "clock", folder=tmp_path).returncode == 0
    said = run(python, command, "validate", "clock", folder=tmp_path)
    assert (said.returncode, said.stdout) == (0, "Fine: clock 0.1.0, 1.6 KiB.\n")  # It has parsed.


@pytest.mark.parametrize("module", ["widget_catalog", "sqlalchemy", "granian", "numpy"])
def test_nothing_of_the_service_is_there(python: Path, tmp_path: Path, module: str) -> None:
    said = run(python, "-c", f"import {module}", folder=tmp_path)
    assert said.stderr.endswith(f"ModuleNotFoundError: No module named '{module}'\n")
