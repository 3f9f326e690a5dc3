"""The files in deploy/: nginx and HAProxy accept their configuration, and everything they name
exists.
"""

import contextlib
import json
import re
import secrets
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml  # type: ignore[import-untyped]
from requirements.install import PROJECTS

from support import haproxy
from support.nginx import nginx_before, nginx_program
from support.service import free_port, running_service, wait_until_it_responses
from widget_catalog.core.load_settings import load_settings

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
NAME = "catalog.example"


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())["services"]
    return found


def environment_of(file: str) -> dict[str, str]:
    """The environment variables that a deployment file sets for the service."""
    found = re.findall(r"(WIDGET_CATALOG_[A-Z0-9_]+)[=:] ?([^\s\\]+)", (DEPLOY / file).read_text())
    given = {name: value.strip('",') for name, value in found}
    return {name: re.sub(r"^\$\{\w+:-(.*)\}$", r"\1", value) for name, value in given.items()}


def test_the_recipe_has_ten_lines_and_installs_what_is_there() -> None:
    guide = (ROOT / "docs" / "operating.md").read_text(encoding="utf-8")
    _, recipe, *_ = re.split(r"^```(?:console)?\n", guide, flags=re.MULTILINE)
    lines = recipe.splitlines()
    assert len(lines) == 10
    assert all(line.startswith("# ") for line in lines)
    named = set(re.findall(r"(?<= )deploy/\S+", recipe))
    assert len(named) == 3
    assert [it for it in named if not (ROOT / it).exists()] == []
    # The unit starts what the recipe installs, with the settings that the guide shows.
    unit = (DEPLOY / "widget-catalog.service").read_text()
    (program,) = re.findall(r"^ExecStart=(\S+) serve$", unit, re.MULTILINE)
    assert f"$ {program} version\n" in guide
    assert f"{program.rpartition('/')[0]}/pip install" in recipe
    shown = re.findall(r"^```ini\n(.*?)^```$", guide, re.MULTILINE | re.DOTALL)
    settings = (DEPLOY / "widget-catalog.env").read_text()
    assert settings.partition("\n")[2] in shown
    (file,) = re.findall(r"^EnvironmentFile=(\S+)$", unit, re.MULTILINE)
    assert f"deploy/widget-catalog.env {file}\n" in recipe
    assert (DEPLOY / "widget-catalog.socket").read_text() in shown


@pytest.mark.slow
@pytest.mark.parametrize(
    "file", ["nginx.one-node.conf", "nginx.caching.conf", "haproxy.one-node.cfg"]
)
def test_a_proxy_of_one_machine_serves_over_https_and_redirects_to_there(
    file: str, tmp_path: Path
) -> None:
    certificate, key = tmp_path / "catalog.example.pem", tmp_path / "catalog.example.key"
    subprocess.run(
        f"openssl req -x509 -newkey rsa:2048 -nodes -subj /CN={NAME}"
        f" -keyout {key} -out {certificate}".split(),
        check=True,
        capture_output=True,
    )
    with running_service(tmp_path / "data", "--demo") as service:
        plain, tls = free_port(), free_port()
        configuration = (DEPLOY / file).read_text().replace(":8080", f":{service.port}")
        configuration = configuration.replace("/etc/ssl/", f"{tmp_path}/")
        configuration = configuration.replace("/var/cache/nginx/widget-catalog", f"{tmp_path}/c")
        configuration = re.sub(r"    listen \[::\]:.*\n", "", configuration)
        configuration = re.sub(r"(listen |bind :)80\b", rf"\g<1>{plain}", configuration)
        configuration = re.sub(r"(listen |bind :)443\b", rf"\g<1>{tls}", configuration)
        with proxy_with(configuration, file, tmp_path, plain):
            redirected = httpx.get(f"http://127.0.0.1:{plain}/docs", headers={"host": NAME})
            assert redirected.status_code == 301
            assert redirected.headers["location"] == f"https://{NAME}/docs"
            with httpx.Client(verify=False) as client:
                for path in ("/", "/api/v1/widgets/catalog/clock"):
                    response = client.get(f"https://127.0.0.1:{tls}{path}", headers={"host": NAME})
                    assert response.status_code == 200, path


@contextlib.contextmanager
def proxy_with(configuration: str, file: str, folder: Path, port: int) -> Iterator[None]:
    place = folder / file
    if file.startswith("nginx"):
        configuration = (
            f"daemon off;\nuser root;\npid {folder}/pid;\nevents {{}}\n"
            f"http {{\naccess_log off;\n{configuration}}}\n"
        )
        command = [nginx_program(), "-e", "stderr", "-p", str(folder), "-c", str(place)]
    else:
        pem = folder / "catalog.example.pem"
        pem.write_bytes(pem.read_bytes() + (folder / "catalog.example.key").read_bytes())
        command = [haproxy.program(), "-db", "-f", str(place)]
    place.write_text(configuration)
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
    try:
        wait_until_it_responses(process, port, "/")
        yield
    finally:
        process.terminate()
        process.wait(30)


@pytest.mark.slow
def test_the_health_check_of_the_image_asks_the_configured_port(tmp_path: Path) -> None:
    dockerfile = (DEPLOY / "Dockerfile").read_text()
    (line,) = re.findall(r"^HEALTHCHECK .*\\\n +(\[.*\])$", dockerfile, re.MULTILINE)
    command = json.loads(line)
    command[0] = sys.executable
    with running_service(tmp_path / "data") as service:
        environment = {"WIDGET_CATALOG_PORT": str(service.port)}
        assert subprocess.run(command, env=environment).returncode == 0
        other = {"WIDGET_CATALOG_PORT": str(free_port())}
        assert subprocess.run(command, env=other, capture_output=True).returncode != 0


def test_the_image_is_built_without_what_it_does_not_need() -> None:
    copied = re.findall(r"^COPY (?!--from)(.+)$", (DEPLOY / "Dockerfile").read_text(), re.MULTILINE)
    needed = {Path(it).parts[0] for line in copied for it in line.split()[:-1]}
    ignored = (ROOT / ".dockerignore").read_text().splitlines()
    assert "*" in ignored
    assert {it.removeprefix("!") for it in ignored if it.startswith("!")} == needed


@pytest.mark.parametrize("file", ["Dockerfile", "compose.yaml", "compose.one-node.yaml"])
def test_the_settings_in_them_are_settings_that_the_service_takes(file: str) -> None:
    environment = environment_of(file)
    assert environment
    if "WIDGET_CATALOG_SECRET_KEY" in environment:
        environment["WIDGET_CATALOG_SECRET_KEY"] = secrets.token_hex(32)
    load_settings(environment=environment)


@pytest.mark.slow
def test_nginx_says_in_the_form_of_the_api_that_no_node_responses(tmp_path: Path) -> None:
    path = "/api/v1/widgets/search"
    with nginx_before([free_port(), free_port()], tmp_path / "nginx") as port:
        for ask in (httpx.get, httpx.post):
            response = ask(f"http://127.0.0.1:{port}{path}", timeout=60)
            assert response.status_code == 502
            assert response.json() == {"error": "The catalog does not respond. Try again soon."}
            headers = response.headers
            assert headers["content-type"] == "application/json"
            assert headers["access-control-allow-origin"] == "*"
            assert (headers["retry-after"], headers["cache-control"]) == ("5", "no-store")


@pytest.mark.slow
def test_nginx_finds_a_node_that_was_just_restarted_when_all_others_fail(tmp_path: Path) -> None:
    first, other = free_port(), free_port()
    with nginx_before([first, other], tmp_path / "nginx") as port, httpx.Client() as client:

        def read() -> int:
            return client.get(f"http://127.0.0.1:{port}/", timeout=60).status_code

        with a_node_at(other):
            # More failures at the first than nginx forgives.
            assert {read() for _ in range(40)} == {200}
        with a_node_at(first):
            assert {read() for _ in range(40)} == {200}


@contextlib.contextmanager
def a_node_at(port: int) -> Iterator[None]:
    """A server that responds to everything; it closes all connections at the end."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", port), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield
        server.shutdown()
        thread.join()


@pytest.mark.slow
def test_nginx_takes_the_configuration_and_asks_the_nodes_of_the_compose_file(
    tmp_path: Path, services: dict[str, Any]
) -> None:
    configuration = (DEPLOY / "nginx.conf").read_text()
    asked = set(re.findall(r"server store:(\d+)", configuration))
    nodes = [it["environment"] for name, it in services.items() if name.startswith("node")]
    assert asked == {it["WIDGET_CATALOG_PORT"] for it in nodes}

    program = nginx_program()
    # The store's host name only exists in a network of the compose file.
    local = tmp_path / "nginx.conf"
    local.write_text(configuration.replace("store:", "127.0.0.1:"))
    checked = subprocess.run(
        [program, "-t", "-e", "stderr", "-c", str(local), "-g", f"pid {tmp_path}/pid;"],
        capture_output=True,
        text=True,
    )
    assert checked.returncode == 0, checked.stderr
    assert "[warn]" not in checked.stderr


@pytest.mark.slow
def test_haproxy_takes_the_configuration_and_asks_the_nodes_of_the_compose_file(
    tmp_path: Path, services: dict[str, Any]
) -> None:
    configuration = (DEPLOY / "haproxy.cfg").read_text()
    nodes = [it["environment"] for name, it in services.items() if name.startswith("node")]
    asked = sorted(re.findall(r"server \w+ store:(\d+)", configuration))
    # In all three lists.
    assert asked == sorted(3 * [it["WIDGET_CATALOG_PORT"] for it in nodes])
    (mounted,) = services["balancer"]["volumes"]
    assert mounted.startswith("./haproxy.cfg:")

    local = tmp_path / "haproxy.cfg"
    local.write_text(configuration.replace("store:", "127.0.0.1:"))
    command = [haproxy.program(), "-c", "-f", str(local)]
    checked = subprocess.run(command, capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr
    assert "[WARNING]" not in checked.stderr


def test_everything_that_the_image_is_made_of_is_there() -> None:
    copied = re.findall(r"^COPY (?!--from)(.+)$", (DEPLOY / "Dockerfile").read_text(), re.MULTILINE)
    sources = [source for line in copied for source in line.split()[:-1]]
    assert "src" in sources
    assert [it for it in sources if not (ROOT / it).exists()] == []
    # Guides and clients are in other folders, and linked from the packages.
    links = [it for it in (ROOT / "src").rglob("*") if it.is_symlink()]
    assert links
    for link in links:
        assert link.resolve().relative_to(ROOT).parts[0] in sources, link


def test_the_image_is_built_only_from_what_is_pinned_by_hash() -> None:
    dockerfile = (DEPLOY / "Dockerfile").read_text().replace("\\\n", " ")
    installs = re.findall(r"pip install (.+)", dockerfile)
    assert len(installs) == 2
    for options in installs:
        assert "--require-hashes" in options or {"--no-index", "--no-build-isolation"} <= set(
            options.split()
        )
    pinned = re.findall(
        r"^([\w-]+)==\S+.* \\\n +--hash=",
        (ROOT / "requirements/runtime.txt").read_text(),
        re.MULTILINE,
    )
    for project in PROJECTS:
        file = tomllib.loads((ROOT / project / "pyproject.toml").read_text())
        assert set(file["build-system"]["requires"]) <= set(pinned)


def test_images_are_named_by_version_and_digest(services: dict[str, Any]) -> None:
    dockerfile = (DEPLOY / "Dockerfile").read_text()
    base, *stages = re.findall(r"^FROM (\S+)", dockerfile, re.MULTILINE)
    assert stages == ["base", "base"]
    images = [it["image"] for it in services.values() if "image" in it]
    assert len(images) == 4
    for image in (base, *images):
        assert re.fullmatch(r"[\w/]+:\d+\.\d+[\w.-]*@sha256:[0-9a-f]{64}", image), image


def test_services_wait_for_services_that_are_there(services: dict[str, Any]) -> None:
    named = {name for it in services.values() for name in it.get("depends_on", ())}
    assert named
    assert named <= services.keys()
