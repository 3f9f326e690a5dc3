"""Makes .venv contain exactly what the files in this folder pin, with uv or otherwise with pip.

Only the standard library is used: this runs before anything is installed. `./dev` calls it.
"""

import configparser
import contextlib
import fcntl
import hashlib
import importlib.util
import os
import re
import shutil
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from .steps import LOG, ROOT, StepFailed, run, say, step

REQUIREMENTS = ROOT / "requirements"
VENV = ROOT / ".venv"
BIN = VENV / "bin"
INSTALLED = VENV / "installed"
# The packages of this repository: the service, the contract, the authors' tool, the client.
PROJECTS = (".", "contract", "cli", "clients/python")
CACHE = ROOT / ".cache"

# uv's names for pip's settings. uv does not read pip's files and variables.
UV_NAMES = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "no-index": "UV_OFFLINE",
    "trusted-host": "UV_INSECURE_HOST",
    "timeout": "UV_HTTP_TIMEOUT",
    "default-timeout": "UV_HTTP_TIMEOUT",
    "proxy": "ALL_PROXY",
    "cert": "SSL_CERT_FILE",
    "client-cert": "SSL_CLIENT_CERT",
}
UV_SOURCES = {"UV_DEFAULT_INDEX", "UV_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "UV_FIND_LINKS"}


class Installed(NamedTuple):
    """The state of .venv: which requirements, for which interpreter and folder, and their hash."""

    kind: str
    place: str
    digest: str


def ensure_environment(wanted: str) -> bool:
    """Make .venv match the lock file; immediate if it already does. Returns whether it did not."""
    if is_installed(wanted):
        return False
    with only_one_set_up():
        if not is_installed(wanted):  # Another ./dev may just have done it.
            set_up(wanted)
    return True


def is_installed(wanted: str) -> bool:
    found = read_installed()
    return found is not None and found.kind in (wanted, "dev") and found == expected(found.kind)


def read_installed() -> Installed | None:
    try:
        found = Installed(*INSTALLED.read_text().splitlines())
    except (OSError, TypeError):
        return None
    return found if (BIN / "python").exists() else None  # It is a link to the system's Python.


def expected(kind: str) -> Installed:
    digest = hashlib.sha256()
    for path in (f"requirements/{kind}.txt", *project_files()):
        digest.update((ROOT / path).read_bytes())
    return Installed(kind, f"{sys.version_info[:2]} {ROOT}", digest.hexdigest())


def set_up(wanted: str) -> None:
    found = read_installed()
    kind = "dev" if found and found.kind == "dev" else wanted
    began = time.monotonic()
    say(f"Setting up .venv (once). The full output is in {LOG.relative_to(ROOT)}.")
    # Without this file an interrupted set-up starts from an empty .venv; downloads are kept.
    INSTALLED.unlink(missing_ok=True)
    is_reusable = found is not None and found.place == expected(kind).place
    if not install_with_uv(kind, is_reusable=is_reusable):
        install_with_pip(kind)
    INSTALLED.write_text("\n".join(expected(kind)))
    say(f"Ready after {time.monotonic() - began:.0f} s.")


def install_with_uv(kind: str, *, is_reusable: bool) -> bool:
    uv = shutil.which("uv") or install_uv()
    if uv is None:
        return False
    environment = {**os.environ, **uv_settings(os.environ)}
    into = ["--python", BIN / "python"]
    requirements = REQUIREMENTS / f"{kind}.txt"
    try:
        if not is_reusable:
            run(sys.executable, "-m", "venv", "--clear", "--without-pip", VENV)
        with step("installing packages with uv"):
            run(uv, "pip", "sync", *into, "--require-hashes", requirements, env=environment)
        with step("linking the sources of widget-catalog and widget"):
            install = [uv, "pip", "install", *into, "--no-deps", "--no-build-isolation"]
            run(*install, *linked_projects(), env=environment)
    except StepFailed as failed:
        if failed.is_disk_full:
            raise
        say("  uv failed; trying pip, which takes a minute or two")
        return False
    return True


def install_with_pip(kind: str) -> None:
    if importlib.util.find_spec("ensurepip") is None:
        apt_install("python3-venv", why="to make a virtual environment")
    with step("making a virtual environment"):
        run(sys.executable, "-m", "venv", "--clear", VENV)
    requirements = REQUIREMENTS / f"{kind}.txt"
    pip = [BIN / "python", "-m", "pip", "--disable-pip-version-check", "install", "--no-compile"]
    with step("installing packages with pip"):
        run(*pip, "--require-hashes", "-r", requirements)
    with step("linking the sources of widget-catalog and widget"):
        run(*pip, "--no-deps", "--no-build-isolation", *linked_projects())


def linked_projects() -> list[object]:
    return [word for project in PROJECTS for word in ("-e", ROOT / project)]


def project_files() -> list[str]:
    return [str(Path(project, "pyproject.toml")) for project in PROJECTS]


def find_pip() -> list[object] | None:
    """The interpreter's own pip, or the one it bundles for virtual environments."""
    if importlib.util.find_spec("pip"):
        return [sys.executable, "-m", "pip"]
    if importlib.util.find_spec("ensurepip") is None:
        apt_install("python3-venv", why="to get pip")
    ensurepip = importlib.util.find_spec("ensurepip")
    if ensurepip is None or ensurepip.origin is None:
        return None
    bundled, of_debian = (
        Path(ensurepip.origin).parent / "_bundled",
        Path("/usr/share/python-wheels"),
    )
    wheels = [*bundled.glob("pip-*.whl"), *of_debian.glob("pip-*.whl")]
    return [sys.executable, wheels[0] / "pip"] if wheels else None


def install_uv() -> str | None:
    """A pinned uv in .cache, or None if there is none for this platform."""
    requirements = REQUIREMENTS / "uv.txt"
    place = CACHE / f"uv-{hashlib.sha256(requirements.read_bytes()).hexdigest()[:12]}"
    if not place.exists() and (pip := find_pip()):
        partial = place.with_suffix(".part")
        shutil.rmtree(partial, ignore_errors=True)
        install = [*pip, "install", "--disable-pip-version-check", "--no-compile", "--no-deps"]
        options = ["--only-binary", ":all:", "--require-hashes", "-r", requirements]
        # Settings for installing into the user's own Python do not apply to this folder.
        environment = {**os.environ, "PIP_USER": "0", "PIP_REQUIRE_VIRTUALENV": "0"}
        try:
            with step("installing uv, a fast installer"):
                run(*install, *options, "--target", partial, env=environment)
        except StepFailed as failed:
            if failed.is_disk_full:
                raise
            say("  uv cannot be installed here; using pip, which takes a minute or two")
            return None
        partial.rename(place)
    return str(place / "bin" / "uv") if place.exists() else None


def pip_settings(environment: Mapping[str, str]) -> dict[str, str]:
    """The settings in pip's files and variables, in the order of pip's manual: later ones win."""
    home, file = Path.home(), environment.get("PIP_CONFIG_FILE", "")
    user = Path(environment.get("XDG_CONFIG_HOME") or home / ".config")
    files = [Path("/etc/xdg/pip/pip.conf"), Path("/etc/pip.conf"), home / ".pip/pip.conf"]
    files += [user / "pip/pip.conf", Path(sys.prefix, "pip.conf"), Path(file or os.devnull)]
    parser = configparser.RawConfigParser()
    if file != os.devnull:  # Then pip reads no file at all.
        with contextlib.suppress(configparser.Error, UnicodeDecodeError):
            parser.read(files, encoding="utf-8")
    found: dict[str, str] = {}
    for section in ("global", "install"):
        found |= dict(parser[section]) if section in parser else {}
    found |= {key[4:].lower(): value for key, value in environment.items() if key[:4] == "PIP_"}
    return {key.replace("_", "-"): value for key, value in found.items()}


def uv_settings(environment: Mapping[str, str]) -> dict[str, str]:
    """pip's settings with uv's names, unless uv has its own."""
    pip = pip_settings(environment)
    given = {}
    for name, uv_name in UV_NAMES.items():
        if words := pip.get(name, "").split():
            given[uv_name] = ("," if uv_name == "UV_FIND_LINKS" else " ").join(words)
    if "UV_INDEX" in given:
        # Like pip: the best of all indexes. The hashes decide what is installed.
        given["UV_INDEX_STRATEGY"] = "unsafe-best-match"
    if given.get("UV_OFFLINE", "").lower() in ("0", "false", "no", "off"):
        del given["UV_OFFLINE"]
    paths = ssl.get_default_verify_paths()
    if paths.cafile or paths.capath:
        given["UV_SYSTEM_CERTS"] = "1"  # A company's own certificate is in the system's store.
    user = Path(environment.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    has_file = any(map(Path.exists, [user / "uv/uv.toml", Path("/etc/uv/uv.toml")]))
    if has_file or environment.keys() & (UV_SOURCES | {"UV_CONFIG_FILE"}):
        for name in UV_SOURCES | {"UV_INDEX_STRATEGY", "UV_OFFLINE"}:
            given.pop(name, None)
    return {name: value for name, value in given.items() if name not in environment}


@contextlib.contextmanager
def only_one_set_up() -> Iterator[None]:
    """One at a time. The kernel releases the lock when all processes that hold it have ended.

    An installer inherits it, so that one that outlives ./dev is waited for.
    """
    CACHE.mkdir(exist_ok=True)
    with (CACHE / "set-up.lock").open("w") as file:
        os.set_inheritable(file.fileno(), True)
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("Another ./dev is setting up .venv; waiting for it …")
            fcntl.flock(file, fcntl.LOCK_EX)
        LOG.write_text("")
        yield


def lock(options: list[str]) -> None:
    with only_one_set_up():
        uv = shutil.which("uv") or install_uv()
        if uv is None:
            sys.exit("Please install uv, which resolves the versions, then start again.")
        environment = {**os.environ, **uv_settings(os.environ)}
        for further in ("UV_INDEX", "UV_FIND_LINKS", "UV_INDEX_STRATEGY"):
            # They may have the files of one platform only, and the pins must install on all.
            environment.pop(further, None)

        def compile_(*sources: str, to: str) -> None:
            command = [uv, "pip", "compile", *sources, "--universal", "--generate-hashes"]
            command += ["--no-emit-index-url", "--python-version", "3.11", "--quiet", *options]
            command += ["--custom-compile-command", "./dev lock", "-o", f"requirements/{to}.txt"]
            forget_hashes(ROOT / "requirements" / f"{to}.txt")
            with step(f"pinning requirements/{to}.txt"):
                run(*command, env=environment)

        projects = project_files()
        # They are installed from their folders, like the others.
        for own in ("widget-contract", "widget-catalog-client"):
            projects += ["--no-emit-package", own]
        projects += ["--extra", "all"]
        compile_(*projects, "--group", "build", to="runtime")
        compile_(*projects, "--group", "dev", "-c", "requirements/runtime.txt", to="dev")
        compile_("--group", "installer", to="uv")


def forget_hashes(pins: Path) -> None:
    """uv keeps the hashes that it finds, even those of some platforms only."""
    pins.write_text(re.sub(r" \\\n    --hash=\S+", "", pins.read_text()))


def ensure_programs(wanted: Mapping[str, list[str]], why: str) -> None:
    """Install Debian packages whose programs are missing."""
    for package, programs in wanted.items():
        if not any(map(shutil.which, programs)):
            apt_install(package, why)


def ensure_japanese_font() -> None:
    """The demo has Japanese names, and a minimal system has no font for them."""
    fonts = ["fc-list", ":lang=ja"]
    if shutil.which("fc-list") and not subprocess.run(fonts, capture_output=True).stdout:
        apt_install("fonts-vlgothic", why="to show Japanese names")


def apt_install(package: str, why: str) -> None:
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        sys.exit(f"Please install {package} ({why}), then start again.")
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    apt = ["apt-get", "-q", "-o", "DPkg::Lock::Timeout=300"]
    with step(f"installing {package} with apt {why}"):
        run(*apt, "update", env=environment)
        run(*apt, "install", "-y", package, env=environment)
    importlib.invalidate_caches()
