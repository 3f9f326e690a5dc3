"""`widget-catalog mirror`, next to a service on the same folder."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.folders import empty_folder, filled_folder
from support.service import Service, clean_environment, run_command, running_service, wait_for
from support.widgets import widget_line
from widget_catalog.catalog.node.node import open_node
from widget_catalog.core.actors import COMMAND_LINE
from widget_catalog.publishing.change_widget import list_widget, unlist_widget

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    lines = [widget_line("acme/clock"), widget_line("acme/notes"), widget_line("core/map")]
    with running_service(filled_folder(tmp_path_factory.mktemp("a") / "data", *lines)) as running:
        yield running


def said(*arguments: str) -> tuple[int, str]:
    done = run_command("mirror", *arguments)
    return done.returncode, done.stderr.decode().strip()


def test_copies_then_only_looks_and_says_how_it_is(tmp_path: Path, origin: Service) -> None:
    data = ("--data", str(tmp_path / "data"))
    assert said(*data) == (
        1,
        "Error: Pass the URL of the catalog to copy: widget-catalog mirror URL",
    )
    assert said("--status", *data) == (1, "Error: This catalog is not a mirror.")
    wrong = f"Error: {origin.url} has no scope nosuch."
    assert said(origin.url, "--scope", "acme", "--scope", "nosuch", *data) == (1, wrong)
    assert not (tmp_path / "data").exists()
    assert said(origin.url, "--scope", "acme", *data) == (0, "Copied 2 widgets.")
    assert said(*data) == (0, "Nothing has changed.")
    code, status = said("--status", *data)
    assert code == 0
    assert status.startswith(f"A mirror of {origin.url}: last checked at ")
    checked = run_command("doctor", *data)
    assert (checked.returncode, status in checked.stderr.decode()) == (0, True)
    refused = run_command("widget", "unlist", "acme/clock", *data)
    assert refused.returncode == 1
    assert b"is a mirror of" in refused.stderr
    none = ("--official", "--data", str(tmp_path / "other"))
    assert said(origin.url, *none) == (0, "There are no widgets to copy.")
    assert said("--end", *data) == (0, f"No longer a mirror of {origin.url}.")


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["http://127.0.0.1:9"], "Error: http://127.0.0.1:9/api/settings cannot be reached: "),
        (["catalog.example"], "Error: 'catalog.example' is not the address of a catalog: "),
        (["http://x", "--scope", "A b"], "Error: 'A b' is not a scope: "),
        (
            ["http://x", "--every", "soon"],
            "Error: --every soon: write a number followed by s, m or h",
        ),
        (["http://x", "--every", "5m", "--follow"], "Error: Use --every or --follow, not both."),
    ],
)
def test_what_cannot_be_done_is_one_sentence(
    tmp_path: Path, arguments: list[str], sentence: str
) -> None:
    code, told = said(*arguments, "--data", str(tmp_path / "data"))
    assert (code, told[: len(sentence)]) == (1, sentence)
    assert "\n" not in told
    assert not (tmp_path / "data").exists()  # Nothing that looks like a catalog is left behind.


@pytest.mark.parametrize("how", [["--follow"], ["--every", "1s"]])
def test_a_service_shows_what_is_copied_beside_it(
    tmp_path: Path, origin: Service, how: list[str]
) -> None:
    data = empty_folder(tmp_path / "data")
    command = [sys.executable, "-m", "widget_catalog", "mirror", origin.url, "--data", str(data)]
    with running_service(data) as mirror, mirror.client() as http:
        process = subprocess.Popen(
            [*command, *how], env=clean_environment(), stderr=subprocess.DEVNULL
        )
        try:
            path = "/api/v1/widgets/core/map"
            wait_for(lambda: http.get(path).status_code == 200)
            wait_for(lambda: "mirrorOf" in http.get("/api/settings").json())
            node = open_node(origin.data, is_durable=False)
            unlist_widget(node.store, COMMAND_LINE, "core/map")
            wait_for(lambda: http.get(path).status_code == 404)
            list_widget(node.store, COMMAND_LINE, "core/map")
            wait_for(lambda: http.get(path).status_code == 200)
            node.store.close()
            process.terminate()
            assert process.wait(60) == 0
        finally:
            process.kill()
            process.wait(60)
