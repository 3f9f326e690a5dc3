"""The tool is installed from a running catalog, by pip and by npm's launcher, and runs."""

import os
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.environments import environment_with_pip, site_of
from support.npm import npm_commands
from support.service import Service, running_service
from tool.test_wheel import link_dependencies
from widget_catalog.core.release import VERSION

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with running_service(tmp_path_factory.mktemp("service") / "data") as service:
        yield service


@pytest.mark.parametrize(
    "options",
    [
        ("--index-url", "{url}/install/simple/"),
        ("--no-index", "--constraint", "{url}/install/constraints.txt"),
    ],
    ids=["index", "constraints"],
)
def test_pip_installs_the_tool_which_runs(
    service: Service, options: tuple[str, ...], tmp_path: Path
) -> None:
    """Its dependencies are those of the tests: there may be no other index here."""
    environment_with_pip(tmp_path / "venv")
    programs = tmp_path / "venv" / "bin"
    given = [it.format(url=service.url) for it in options]
    command = [
        str(programs / "python"),
        "-m",
        "pip",
        "--isolated",
        "install",
        "--no-deps",
        "--quiet",
    ]
    command += ["--disable-pip-version-check", *given, "widget-cli", "widget-contract"]
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "NO_COLOR": "1"}
    subprocess.run(command, env=environment, check=True)
    link_dependencies(site_of(tmp_path / "venv"), "widget_cli", "widget_contract")
    command = [str(programs / "widget"), "--version"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == f"{VERSION}\n"


def test_npx_runs_the_tool(service: Service, tmp_path: Path) -> None:
    folders = [str(npm_commands()), *map(str, ROOT.glob(".cache/uv-*/bin")), "/usr/bin", "/bin"]
    environment = {**os.environ, "PATH": ":".join(folders), "XDG_CACHE_HOME": str(tmp_path)}
    address = f"{service.url}/install/widget-catalog-cli-{VERSION}.tgz"
    done = subprocess.run(
        ["npx", "--yes", "--cache", str(tmp_path / "npm"), address, "--version"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, f"{VERSION}\n"), done.stderr


def test_the_wheel_of_the_service_has_what_a_checkout_packs(
    service: Service, tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    (built,) = tmp_path.glob("*.whl")
    folder = "widget_catalog/install/packages/"
    with zipfile.ZipFile(built) as wheel, service.client() as client:
        packed = [it for it in wheel.namelist() if it.startswith(folder)]
        assert len(packed) == 7
        for package in packed:
            served = client.get(f"/install/{package.removeprefix(folder)}")
            assert served.content == wheel.read(package), package
