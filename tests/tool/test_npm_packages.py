"""The npm packages as they are published: what is in them, and that others can use them."""

import hashlib
import json
import os
import pty
import re
import stat
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from support.archives import extract_all
from support.npm import node_binary, npm_commands, run_locked, run_npm
from support.scripted import Scripted, ScriptedServer, scripted_server
from tool.terminal import read_terminal
from widget_catalog.core import release
from widget_cli.scaffold import Template, begin_widget
from widget_cli.vite_plugin_package import PLUGIN, plugin_dependency

pytestmark = pytest.mark.slow

CLIENTS = Path(__file__).parents[2] / "clients"
NAMES = ("widget-catalog-client", PLUGIN, "widget-catalog-cli", "create-dashboard-widget")
UV = "0.99.0"
WHY = "Installing the tool, once. It is a Python program: about 8 MB of packages."
FETCH = """
import { startProgress } from "./node_modules/widget-catalog-cli/progress.js";
import { fetchUv } from "./node_modules/widget-catalog-cli/fetch-uv.js";
try {
  console.log(await fetchUv(process.argv[1], process.argv[2], startProgress()));
} catch (error) {
  console.log(error.message);
}
"""


@pytest.fixture(scope="module")
def packages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    spec = spec_from_file_location("pack", CLIENTS / "pack.py")
    assert spec is not None
    assert spec.loader is not None
    packing = module_from_spec(spec)
    spec.loader.exec_module(packing)
    return dict(zip(NAMES, packing.pack(tmp_path_factory.mktemp("packages")), strict=True))


@pytest.fixture(scope="module")
def machine(packages: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the packages are installed."""
    folder = tmp_path_factory.mktemp("machine")
    for name in NAMES:
        with tarfile.open(packages[name]) as archive:
            extract_all(archive, folder / "node_modules")
        (folder / "node_modules" / "package").rename(folder / "node_modules" / name)
    return folder


@pytest.mark.parametrize("name", NAMES)
def test_packages_have_the_release_a_license_and_all_listed_files(
    packages: dict[str, Path], name: str
) -> None:
    with tarfile.open(packages[name]) as archive:
        files = {it.removeprefix("package/") for it in archive.getnames()}
        opened = archive.extractfile("package/package.json")
        assert opened is not None
        package = json.load(opened)
    assert packages[name].name == f"{name}-{release.VERSION}.tgz"
    assert (package["name"], package["version"]) == (name, release.VERSION)
    assert {"LICENSE", "README.md"} <= files
    for listed in package["files"]:
        assert listed in files or any(it.startswith(f"{listed}/") for it in files), listed
    own = {key: it for key, it in package.get("dependencies", {}).items() if key in NAMES}
    assert set(own.values()) <= {release.VERSION}
    assert "scripts" not in package


@pytest.mark.parametrize("folder", ["cli", "create", "vite"])
def test_the_license_is_that_of_the_repository(folder: str) -> None:
    assert (CLIENTS / folder / "LICENSE").read_bytes() == (CLIENTS.parent / "LICENSE").read_bytes()


@pytest.mark.parametrize("name", NAMES)
def test_publint_and_attw_find_nothing(packages: dict[str, Path], name: str) -> None:
    linted = run_locked(
        "publint/src/cli.js", "--strict", str(packages[name]), folder=packages[name].parent
    )
    assert (linted.returncode, "All good!" in linted.stdout) == (0, True), linted.stdout
    if name == "create-dashboard-widget":  # It has no module to import.
        return
    script = "@arethetypeswrong/cli/dist/index.js"
    # A document, which has no types.
    options: tuple[str, ...] = (
        "--exclude-entrypoints",
        "frame.html",
        "--profile",
        "esm-only",
        "--no-emoji",
    )
    options = (*options, "--format", "ascii")
    checked = run_locked(script, *options, str(packages[name]), folder=packages[name].parent)
    assert checked.returncode == 0, checked.stdout + checked.stderr


@pytest.mark.parametrize(
    ("source", "specifier"),
    [
        ("", f"file:vendor/{PLUGIN}-{release.VERSION}.tgz"),
        ("registry", f"^{release.VERSION}"),
        (
            "https://catalog.example/install/",
            f"https://catalog.example/install/{PLUGIN}-{release.VERSION}.tgz",
        ),
    ],
)
def test_a_new_widget_gets_the_plugin_from_where_it_is_said(
    packages: dict[str, Path], source: str, specifier: str
) -> None:
    dependency = plugin_dependency(source)
    assert dependency.specifier == specifier
    assert list(dependency.files.values()) == (
        [packages[PLUGIN].read_bytes()] if not source else []
    )


def run_node(
    machine: Path, *arguments: str, path: Path | str, **environment: str
) -> subprocess.CompletedProcess[str]:
    kept = {key: it for key, it in os.environ.items() if key.startswith(("PIP_", "SSL_", "LANG"))}
    own = {"PATH": str(path), "HOME": os.environ["HOME"], "NO_COLOR": "1"}
    return subprocess.run(
        [node_binary(), *arguments],
        cwd=machine,
        env={**kept, **own, "XDG_CACHE_HOME": str(machine / "cache"), **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def test_npm_create_makes_a_widget_and_installs_the_tool_once(machine: Path) -> None:
    create = "node_modules/create-dashboard-widget/create.js"
    # With uv if `./dev` has one, which takes a tenth of the time, and otherwise with pip.
    folders = [*CLIENTS.parent.glob(".cache/uv-*/bin"), Path(sys.executable).parent]
    path = ":".join([*map(str, folders), "/usr/bin", "/bin"])
    done = run_node(machine, create, "clock", "--template", "svelte", path=path)
    assert done.returncode == 0, done.stderr
    lines = done.stderr.splitlines()
    shown = lines[: lines.index("Created the widget clock in clock.")]
    assert shown[0] == WHY
    assert re.fullmatch(r"Installed in \d+ s\. Later commands .* need no network\.", shown[-1])
    assert [it.rpartition(" with ")[0] for it in shown[1:-1] if "·" not in it] == [
        "Creating a Python environment",
        "Installing the packages",
    ]
    assert lines[-2:] == [
        "If you have no command widget, install it as the page /install of your catalog says,",
        "or from the registry: npm install --global widget-catalog-cli",
    ]
    assert (machine / "clock" / "src" / "Widget.svelte").exists()

    # From then on, with nothing but Node, and without a network.
    widget = "node_modules/widget-catalog-cli/widget.js"
    nowhere = {"WIDGET_INDEX_URL": "http://127.0.0.1:1/"}
    done = run_node(machine, widget, "validate", "nothing", path=machine, **nowhere)
    assert (done.returncode, "There is no widget.json in nothing." in done.stderr) == (5, True)
    assert [it.name for it in (machine / "cache" / "widget-catalog-cli").iterdir()] != []


def test_the_version_is_printed_without_installing_anything(machine: Path, tmp_path: Path) -> None:
    widget = "node_modules/widget-catalog-cli/widget.js"
    done = run_node(machine, widget, "--version", path=tmp_path, XDG_CACHE_HOME=str(tmp_path))
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{release.VERSION}\n", "")
    assert list(tmp_path.iterdir()) == []


def test_a_terminal_shows_in_one_line_what_is_installed_and_a_log_in_one_line_a_step(
    machine: Path, tmp_path: Path
) -> None:
    """An installer that prints what pip prints, and control characters of an index."""
    uv = tmp_path / "uv"
    uv.write_text(
        "#!/bin/sh\n"
        "echo 'Collecting httpx>=0.28 (from widget-cli)'\n"
        "printf '  Downloading \\033[2Jh11-0.16.0-py3-none-any.whl (9 kB)\\n'\n"
        "echo 'ERROR: the disk is \033[31mfull' >&2\n"
        'test "$1" = --version\n'
    )
    uv.chmod(0o755)
    widget = [str(node_binary()), "node_modules/widget-catalog-cli/widget.js", "search"]
    environment = {"PATH": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    why = f"{WHY}\n"
    failed = "Error: The tool could not be installed: "
    done = run_node(machine, *widget[1:], path=tmp_path, XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert done.returncode == 1
    assert done.stderr.startswith(f"{why}Creating a Python environment with uv\n{failed}")
    assert "\x1b" not in done.stderr

    master, terminal = pty.openpty()
    process = subprocess.run(
        widget,
        cwd=machine,
        env=environment,
        stdin=terminal,
        stdout=terminal,
        stderr=terminal,
        timeout=60,
        check=False,
    )
    os.close(terminal)
    shown = b"".join(iter(lambda: read_terminal(master), b"")).decode().replace("\r\n", "\n")
    os.close(master)
    assert process.returncode == 1
    lines = [re.sub(r" · \d+ s", "", it) for it in shown.split("\r\x1b[2K")]
    step = "Creating a Python environment with uv"
    assert lines[:3] == ["", why, step]
    assert [it for it in dict.fromkeys(lines[3:-1]) if it != step] == [
        f"{step} · collecting httpx>=0.28",
        f"{step} · downloading [2Jh11-0.16.0 (9 kB)",
    ]
    assert lines[-1].startswith(failed)


def test_npm_create_needs_no_other_package(packages: dict[str, Path], tmp_path: Path) -> None:
    """A catalog offers it in networks whose registry has none of ours."""
    tarball = str(packages["create-dashboard-widget"])
    nowhere = ("--registry", "http://127.0.0.1:1/", "--fetch-retries", "0")
    (tmp_path / "package.json").write_text("{}")
    run_npm("install", "--no-audit", "--no-fund", *nowhere, tarball, folder=tmp_path)
    bundled = "create-dashboard-widget/node_modules/widget-catalog-cli/widget.js"
    assert (tmp_path / "node_modules" / bundled).is_file()


def test_without_python_and_uv_it_says_what_to_do(machine: Path, tmp_path: Path) -> None:
    widget = "node_modules/widget-catalog-cli/widget.js"
    done = run_node(machine, widget, "search", path=tmp_path, XDG_CACHE_HOME=str(tmp_path))
    assert (done.returncode, done.stdout) == (1, "")
    assert (
        "Error: The tool needs Python 3.11 or newer, or uv, and neither was found." in done.stderr
    )
    assert "    at " not in done.stderr


@pytest.fixture
def index(machine: Path) -> Iterator[ScriptedServer]:
    """A package index with a uv, which is the released one."""
    wheel = machine / "uv.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("uv/__init__.py", "")
        archive.writestr(f"uv-{UV}.data/scripts/uv", "#!/bin/sh\necho uv $1\n")
    pinned = machine / "node_modules" / "widget-catalog-cli" / "uv.json"
    before = pinned.read_text()
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    pinned.write_text(json.dumps({"version": UV, "sha256": [digest], "index": None}))
    platforms = ("manylinux_2_17_x86_64", "manylinux_2_28_aarch64", "macosx_11_0_arm64")
    links = [f'<a href="../../files/uv-{UV}-py3-none-{it}.whl#sha256=0">it</a>' for it in platforms]
    with scripted_server() as server:
        page = "\n".join([f'<a href="uv-0.1.0-py3-none-{platforms[0]}.whl">old</a>', *links])
        server.on("GET", "/simple/uv/", Scripted(200, page.encode()))
        for platform in platforms:
            path = f"/files/uv-{UV}-py3-none-{platform}.whl"
            server.on("GET", path, Scripted(200, wheel.read_bytes()))
        yield server
    pinned.write_text(before)


def test_uv_is_fetched_from_the_index_and_its_hash_verified(
    machine: Path, index: ScriptedServer, tmp_path: Path
) -> None:
    def fetched(into: str) -> str:
        code = ("--input-type=module", "-e", FETCH, str(tmp_path / into), f"{index.url}/simple")
        return run_node(machine, *code, path=tmp_path).stdout.strip()

    program = Path(fetched("cache"))
    assert program == tmp_path / "cache" / UV / "uv"
    assert program.stat().st_mode & stat.S_IXUSR
    assert subprocess.run([program, "venv"], capture_output=True, check=True).stdout == b"uv venv\n"
    assert len(index.asked) == 2
    assert fetched("cache") == str(program)
    assert len(index.asked) == 2

    pinned = machine / "node_modules" / "widget-catalog-cli" / "uv.json"
    pinned.write_text(json.dumps({"version": UV, "sha256": ["0" * 64], "index": None}))
    host = index.url.removeprefix("http://")
    assert fetched("other") == f"{host} has another uv {UV} than was released."
    assert not (tmp_path / "other").exists()


def test_a_project_is_installed_by_npm_itself(machine: Path) -> None:
    """From the registry, with the plugin that `widget init` wrote, in an empty folder."""
    folder = machine / "installed"
    begin_widget(folder, "clock", None, Template.TS)
    path = f"{npm_commands()}:/usr/bin:/bin"
    environment = {**os.environ, "PATH": path, "NO_COLOR": "1"}
    options = ("--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts")
    for command in (["npm", "install", *options], ["npm", "run", "build"]):
        done = subprocess.run(
            command, cwd=folder, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
    assert (folder / "dist" / "index.js").stat().st_size < 2_000
    lock = json.loads((folder / "package-lock.json").read_text())
    found = lock["packages"][f"node_modules/{PLUGIN}"]
    assert found["resolved"] == f"file:vendor/{PLUGIN}-{release.VERSION}.tgz"
