"""`widget-catalog serve`: its output on start, and its errors."""

import contextlib
import os
import re
import signal
import socket
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.commands import Said, widget_catalog
from support.folders import filled_folder
from support.permissions import read_only, without_root_powers
from support.service import Service, free_port, running_service
from support.widgets import widget_line
from widget_catalog.app.start import warn_of_settings
from widget_catalog.core.load_settings import load_settings
from widget_catalog.core.release import CLI_LATEST

pytestmark = pytest.mark.slow

_URL_RULE = "must be an http(s) URL without query, fragment or username."


@contextlib.contextmanager
def _taken_port() -> Iterator[int]:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        yield int(other.getsockname()[1])


def _greeting(service: Service) -> str:
    """It is printed after its own first response, which may be a moment after ours."""
    deadline = time.monotonic() + 30
    while "stop   Ctrl-C" not in service.log:
        assert time.monotonic() < deadline, service.log
        time.sleep(0.05)
    return service.log


def test_behind_a_proxy_it_says_where_it_listens(tmp_path: Path) -> None:
    public = ("--base-url", "https://catalog.example")
    with running_service(tmp_path / "data", *public) as service:
        assert _greeting(service).startswith(
            "\nWidget Catalog is running at https://catalog.example\n"
            f"  here   {service.url}, for your proxy or load balancer\n"
        )


def test_it_says_where_it_is_and_what_to_do_next(tmp_path: Path) -> None:
    data = tmp_path / "some [bold] folder"
    with running_service(data, "--set", "service_name=Ours [/bold]") as service:
        greeting = _greeting(service)
        link = re.search(r"\S+/join\?invitation=wci_\S+", greeting)
        assert link is not None
        assert greeting == (
            f"\nOurs [/bold] is running at {service.url}\n"
            f"  try    curl '{service.url}/api/v1/widgets/search?limit=3'\n"
            f"  read   {service.url}/docs/api\n"
            f"  data   {data}\n"
            "  cache  80 MB per worker\n"
            "  first  create the operator's account at\n"
            f"         {link.group()}\n"
            "  stop   Ctrl-C\n\n"
        )
        # All URLs of the greeting work.
        with service.client() as client:
            assert client.get("/api/v1/widgets/search?limit=3").status_code == 200
            assert client.get("/docs/api").status_code == 200


def test_a_demo_fills_an_empty_folder_and_only_an_empty_one(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with running_service(data, "--demo") as service, service.client() as client:
        total = client.get("/api/stats").json()["widgets"]
        assert total > 10
        assert f" example widgets to {data}.\n" in service.log
        assert client.post("/api/v1/widgets/catalog/clock").status_code == 200
        before = client.get("/api/stats").json()["downloads"]
    with running_service(data, "--demo") as service, service.client() as client:
        assert client.get("/api/stats").json()["downloads"] == before
        assert "example widgets" not in service.log


def test_a_port_that_is_taken_is_one_sentence(tmp_path: Path) -> None:
    with _taken_port() as port:
        said = widget_catalog("serve", "--data", tmp_path / "data", "--port", str(port))

    assert said.code == 1
    assert said.err == (
        f"Error: Cannot listen on 127.0.0.1 port {port}: Address already in use. "
        "Choose another port with --port.\n"
    )
    assert not (tmp_path / "data").exists()


def test_a_metrics_port_that_is_taken_is_one_sentence(tmp_path: Path) -> None:
    with _taken_port() as port:
        said = widget_catalog(
            "serve",
            *("--data", tmp_path / "data"),
            *("--port", str(free_port())),
            *("--metrics-port", str(port)),
        )

    assert (said.code, said.err.count("\n")) == (1, 1)
    assert (
        f"port {port}: Address already in use. Choose another port with --metrics-port" in said.err
    )


def test_a_port_with_a_service_on_it_is_taken_too(tmp_path: Path) -> None:
    """Its workers share the port with each other, but not with other processes."""
    with running_service(tmp_path / "data", "--workers", "2") as service:
        said = widget_catalog("serve", "--data", tmp_path / "other", "--port", str(service.port))

    assert (said.code, said.err.count("\n")) == (1, 1)
    assert "Address already in use" in said.err


def test_an_address_that_is_not_this_machines_is_one_sentence(tmp_path: Path) -> None:
    said = widget_catalog(
        "serve", "--data", tmp_path / "data", "--host", "192.0.2.1", "--port", str(free_port())
    )

    assert (said.code, said.err.count("\n")) == (1, 1)
    assert said.err.startswith("Error: Cannot listen on 192.0.2.1 port ")
    assert said.err.endswith(
        ": this machine does not have this address. Choose one of its own with --host, or 0.0.0.0 "
        "for all.\n"
    )


def test_a_folder_that_cannot_be_used_is_one_sentence(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o555)
    reasons = {
        file / "data": "Not a directory.",
        closed / "data": "Permission denied.",
    }
    for data, reason in reasons.items():
        said = widget_catalog(
            "serve",
            *("--data", data),
            *("--port", str(free_port())),
            before=without_root_powers,
        )
        assert said == Said(1, "", f"Error: The data folder {data} cannot be used: {reason}\n")


def test_a_file_in_place_of_the_folder_is_called_a_file(tmp_path: Path) -> None:
    file = tmp_path / "catalog.db"
    file.touch()
    for command in (["serve", "--port", str(free_port())], ["stats"], ["doctor"]):
        said = widget_catalog(*command, "--data", file)

        assert said == Said(1, "", f"Error: {file} is a file. Pass a folder with --data.\n")


def test_a_second_service_on_the_same_folder_names_the_first(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with running_service(data, "--workers", "2") as service:
        # On any port: the same one would be taken anyway.
        for port in (service.port, free_port()):
            said = widget_catalog("serve", "--data", data, "--port", str(port))

            assert (said.code, said.err.count("\n")) == (1, 1)
            who = f"process {service.process.pid}, at {service.url}, since 20"
            assert said.err.startswith(f"Error: Another service ({who}")
            assert said.err.endswith(
                f") is already using the data folder {data}. Stop it, or choose another --data.\n"
            )
        assert widget_catalog("stats", "--data", data).code == 0
        service.kill()
        # Its file is still there, but has no effect.
        with running_service(data, "--workers", "2") as successor:
            # Only the parent: its workers end with it.
            os.kill(successor.process.pid, signal.SIGKILL)
            successor.process.wait(60)
            with running_service(data) as last:
                assert last.process.poll() is None


def test_a_catalog_that_may_not_be_written_is_one_sentence(tmp_path: Path) -> None:
    data = filled_folder(tmp_path / "data", widget_line())
    with read_only(data):
        said = widget_catalog(
            "serve",
            *("--data", data),
            *("--port", str(free_port())),
            before=without_root_powers,
        )

    assert (said.code, said.out, said.err.count("\n")) == (1, "", 1)
    assert said.err.startswith(f"Error: The data folder {data} ")


def test_the_database_of_a_newer_release_is_refused_and_left_alone(tmp_path: Path) -> None:
    data = filled_folder(tmp_path / "data", widget_line())
    with contextlib.closing(sqlite3.connect(data / "catalog.db")) as database:
        database.execute("UPDATE alembic_version SET version_num = '9999'")
        database.execute("UPDATE schema_support SET oldest_writer = '9999'")
        database.commit()
        before = list(database.iterdump())

    for command in (["serve", "--port", str(free_port())], ["import", "-"], ["stats"]):
        said = widget_catalog(*command, "--data", data)
        assert (said.code, said.out, said.err.count("\n")) == (1, "", 1)
        assert said.err.startswith(
            "Error: This database was made by a newer release of Widget Catalog "
            "(its schema is '9999'). Start that release, or restore a backup made with this one."
        )
    with contextlib.closing(sqlite3.connect(data / "catalog.db")) as database:
        assert list(database.iterdump()) == before


def test_every_error_of_the_settings_is_reported_at_once(tmp_path: Path) -> None:
    config = tmp_path / "catalog.toml"
    config.write_text('workers = 0\nlog_format = "[/red]"\nrate_limit = "sometimes"\nodd = 1\n')

    said = widget_catalog(
        "serve",
        *("--config", config),
        *("--set", "cache_mb=none"),
        *("--port", "99999"),
        environment={"WIDGET_CATALOG_BASE_URL": "nowhere", "WIDGET_CATALOG_TYPO": "1"},
    )

    assert (said.code, said.out) == (2, "")
    assert sorted(said.err.splitlines()) == sorted(
        [
            "Setting WIDGET_CATALOG_TYPO: there is no such setting.",
            f"Setting {config}: odd: there is no such setting.",
            "Setting --set cache_mb: must be a whole number, not 'none'.",
            "Setting --port: must be from 1 to 65535.",
            f"Setting {config}: workers: must be from 1 to 256.",
            f"Setting WIDGET_CATALOG_BASE_URL: {_URL_RULE}",
            f"Setting {config}: log_format: must be console or json.",
            f"Setting {config}: rate_limit: must be like 300/minute or 10/second.",
        ]
    )


@pytest.mark.parametrize("content", [b"port = = 1", b"\xff\xfe", None], ids=["bad", "raw", "none"])
def test_a_settings_file_that_cannot_be_read_is_one_sentence(
    tmp_path: Path, content: bytes | None
) -> None:
    config = tmp_path / "catalog.toml"
    if content is not None:
        config.write_bytes(content)

    said = widget_catalog("stats", "--config", config)

    assert (said.code, said.out, said.err.count("\n")) == (2, "", 1)
    assert said.err.startswith(f"Setting {config}: ")


def test_it_warns_of_a_setting_that_refuses_every_release_of_the_tool(
    capsys: pytest.CaptureFixture[str],
) -> None:
    warn_of_settings(load_settings(None, None, {"min_cli_version": CLI_LATEST}))
    assert capsys.readouterr().err == ""

    warn_of_settings(load_settings(None, None, {"min_cli_version": "99.0.0"}))

    assert capsys.readouterr().err == (
        "Warning: min_cli_version is 99.0.0, and the newest release of the authors' tool is "
        f"{CLI_LATEST}: no release of it can publish.\n"
    )


def test_it_warns_of_secrets_that_everybody_can_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = tmp_path / "catalog.toml"
    config.write_text('oidc_client_secret = "hush"\n')
    config.chmod(0o644)

    warn_of_settings(load_settings(None, config), config)

    said = capsys.readouterr().err
    assert said.startswith(f"Warning: {config} contains oidc_client_secret, and every user ")
    assert said.endswith(f"Run: chmod o-rwx {config}\n")
    assert "hush" not in said
