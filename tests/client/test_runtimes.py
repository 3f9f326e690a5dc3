"""The client in Chromium (from another origin, under a strict policy), in Node and in Bun."""

import subprocess
from collections.abc import Iterator
from pathlib import Path
from threading import Timer

import pytest
from playwright.sync_api import Browser

from client.expected import (
    LOADED_OFFLINE,
    MISSPELLED,
    STYLE,
    UPDATES,
    all_loaded,
    all_read,
    loaded,
    refused,
)
from client.runtimes import (
    CLIENT,
    JAVASCRIPT,
    RUNTIMES,
    ClientCatalog,
    Runtime,
    js_blocks,
    runtime_of,
)
from support.npm import node_binary
from support.scripted import Scripted
from support.service import run_command

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", params=RUNTIMES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def folder(name: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp(name)


@pytest.fixture(scope="module")
def play(name: str, catalog: ClientCatalog, browser: Browser, folder: Path) -> Iterator[Runtime]:
    with runtime_of(name, catalog, folder, browser) as made:
        yield made


@pytest.fixture(scope="module")
def place(name: str, folder: Path) -> dict[str, str] | None:
    """The cache of Node and Bun, with the class shown in the documentation."""
    if name == "chromium":
        return None
    (code,) = [it for it in js_blocks() if "class FolderCache" in it]
    (folder / "folder-cache.mjs").write_text(code)
    return {"module": str(folder / "folder-cache.mjs"), "folder": str(folder / "cache")}


def test_what_can_be_read_is_read_and_failures_have_their_class(
    play: Runtime, catalog: ClientCatalog
) -> None:
    assert play("reading", catalog.url) == all_read(catalog.url)


def test_an_update_that_needs_consent_is_reported_and_a_safe_one_is_taken(
    play: Runtime, catalog: ClientCatalog
) -> None:
    found = play("updating", catalog.url, [options for options, _ in UPDATES])
    assert found == [expected for _, expected in UPDATES]


def test_a_misspelled_key_of_resolve_is_not_ignored(play: Runtime, catalog: ClientCatalog) -> None:
    assert play("misspelled", catalog.url) == MISSPELLED


def test_calls_of_the_same_moment_are_one_request(play: Runtime, catalog: ClientCatalog) -> None:
    assert play("together", catalog.url) == {
        "good": [["acme/a"], ["acme/b", "acme/c"], ["acme/c"]],
        "forGood": 2,
        "mixed": [["acme/a"], "InvalidRequest"],
        "aborted": "stopped",
    }


def test_a_catalog_that_was_restored_is_not_waited_for(
    play: Runtime, catalog: ClientCatalog
) -> None:
    error, seen = play("following", catalog.url, 1_000_000)
    assert error[0] == "FeedExpired"
    assert seen == []


def test_the_version_that_fits_is_checked_imported_and_counted_once(
    play: Runtime, catalog: ClientCatalog
) -> None:
    assert play("loading", catalog.url) == all_loaded(catalog, counted=1)


def test_without_a_connection_it_starts_from_what_it_has_unless_that_was_revoked(
    play: Runtime, name: str, place: dict[str, str] | None, catalog: ClientCatalog
) -> None:
    bad = f"acme/bad-{name}"
    clock = loaded("1.1.0", "install", style=STYLE)
    assert play("offline", catalog.url, bad, place) == {
        "clock": {**clock, "isOffline": True},
        "otherSdk": "Offline",
        "neverLoaded": "Offline",
        "otherOptions": LOADED_OFFLINE,
        "tampered": "Offline",
    }
    arguments = (bad, "1.0.0", "--reason", "It is bad.", "--data", str(catalog.service.data))
    assert run_command("version", "revoke", *arguments).returncode == 0
    assert play("revoked", catalog.url, bad, place) == {
        "online": refused(bad),
        "offline": ["Revoked", f"{bad} 1.0.0 was revoked: It is bad."],
    }


def test_a_widget_runs_after_a_copy_of_its_bundle_was_revoked(
    play: Runtime, name: str, place: dict[str, str] | None, catalog: ClientCatalog
) -> None:
    original, copy = f"copies/original-{name}", f"copies/copy-{name}"
    arguments = (copy, "1.0.0", "--reason", "A copy.", "--data", str(catalog.service.data))
    assert run_command("version", "revoke", *arguments).returncode == 0

    assert play("copied", catalog.url, original, copy, place) == {
        "original": "no error",
        "copy": "Incompatible",
        "offline": "no error",
    }


@pytest.mark.parametrize(("change", "is_polling"), [("yank", False), ("unyank", True)])
def test_a_change_arrives_by_the_event_stream_or_by_polling(
    play: Runtime, catalog: ClientCatalog, change: str, is_polling: bool
) -> None:
    with catalog.service.client() as http:
        since = http.get("/api/v1/widgets/revocations").json()["revision"]
    reason = ["--reason", "It blinks."] if change == "yank" else []
    data = ["--data", str(catalog.service.data)]
    made = Timer(1, run_command, ("version", change, "acme/greedy", "1.1.0", *reason, *data))
    made.start()
    found = play("watching", catalog.url, since, is_polling)
    made.join()
    assert found == [f"{change}ed", "acme/greedy", "1.1.0"]


@pytest.mark.parametrize("is_polling", [False, True])
def test_no_change_arrives_after_the_signal_was_aborted(
    play: Runtime, catalog: ClientCatalog, is_polling: bool
) -> None:
    assert play("stopping", catalog.url, is_polling) == {"seen": 3, "isPrompt": True}


def test_aborting_at_the_last_change_does_not_wait_for_the_next_poll(
    play: Runtime, catalog: ClientCatalog
) -> None:
    assert play("stoppingAtTheEnd", catalog.url) is True


def test_the_other_examples_of_the_page_run(catalog: ClientCatalog, tmp_path: Path) -> None:
    """Except for those that need a document, and the one that runs until it is stopped."""
    examples = [it for it in js_blocks() if "widget-catalog-client" in it]
    examples = [it for it in examples if "document" not in it and "for await" not in it]
    assert len(examples) >= 5
    addresses = {
        '"widget-catalog-client"': f'"{(CLIENT / "client.js").as_uri()}"',
        '"widget-catalog-client/static"': f'"{(CLIENT / "static.js").as_uri()}"',
        "http://127.0.0.1:8080": catalog.url,
        "catalog/clock": "acme/clock",
    }
    for number, code in enumerate(examples):
        for shown, here in addresses.items():
            code = code.replace(shown, here)
        (tmp_path / f"{number}.mjs").write_text(code)
    files = "".join(f'await import("./{number}.mjs");\n' for number in range(len(examples)))
    (tmp_path / "all.mjs").write_text(files)

    run = [node_binary(), tmp_path / "all.mjs"]
    ended = subprocess.run(run, capture_output=True, text=True, timeout=120, check=False)

    assert (ended.returncode, ended.stderr) == (0, "")
    assert "acme/clock" in ended.stdout


@pytest.mark.parametrize("name", ["chromium"], indirect=True, scope="module")
def test_the_example_of_the_page_mounts_a_widget(play: Runtime, catalog: ClientCatalog) -> None:
    (example,) = [it for it in js_blocks() if "clock.module.mount(" in it]
    code = example.replace("widget-catalog-client", f"{catalog.url}/client/v1/client.js")
    code = code.replace("http://127.0.0.1:8080", catalog.url).replace("catalog/clock", "acme/clock")
    catalog.dashboard.on("GET", "/example.js", Scripted(200, code.encode(), JAVASCRIPT))
    assert play("example", "/example.js") == "2.0.0"
