"""Files large enough for helper processes: the result must be the same."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.shadow_modules import write_shadow_module
from support.widgets import ndjson, version_line, widget_line
from transfer.import_state import MAX_BUNDLE_BYTES, exported, state_of, stored_line, take
from widget_catalog.catalog.node.node import Node, prepare_node
from widget_catalog.catalog.replica.comparison import Differences, check_replica
from widget_catalog.catalog.replica.encoding import prepare
from widget_catalog.core.clock import now
from widget_catalog.core.errors import InvalidImport
from widget_catalog.core.jobs import process_pool
from widget_catalog.core.jobs.process_pool import map_batches
from widget_catalog.transfer.drafting import draft_lines
from widget_catalog.transfer.import_catalog import import_catalog

pytestmark = pytest.mark.slow

# Helpers get what follows the first 2,000 lines.
MANY = 3_500
FEW = 500


def plain_lines() -> list[bytes]:
    return [ndjson(widget_line(f"many/w{i}", downloadCount=i)) for i in range(MANY)]


def children() -> set[int]:
    """The running child processes of this one."""
    return {
        int(pid)
        for pid in Path(f"/proc/{os.getpid()}/task/{os.getpid()}/children").read_text().split()
    }


def test_a_large_file_gives_what_its_pieces_give(
    node: Node, tmp_path: Path, base_folder: Path
) -> None:
    lines = plain_lines()
    (base_folder / "clock.js").write_bytes(b"export default 1;\n")
    other = [version_line("2.0.0", sha256Hash="b" * 64)]
    lines[100] = b"\n"
    lines[2_600] = ndjson(widget_line("files/clock", versions=[stored_line("1.0.0")]))
    lines[2_601] = ndjson(widget_line("files/clock", displayName="Twice", versions=other))
    lines[3_100] = ndjson(widget_line("many/w3", displayName="Again", versions=other))
    lines[3_400] = ndjson(widget_line("files/clock", versions=[stored_line("1.0.0")]))

    summary = take(node, b"".join(lines), base_folder)

    pieces = prepare_node(tmp_path / "pieces")
    try:
        for start in range(0, MANY, FEW):
            take(pieces, b"".join(lines[start : start + FEW]), base_folder)
        assert exported(node) == exported(pieces)
        assert (summary.widgets_added, summary.versions_skipped) == (MANY - 4, 1)
        assert check_replica(node.store, node.replica) == Differences()
    finally:
        pieces.store.close()


def test_a_large_file_that_was_imported_changes_nothing_the_second_time(
    node: Node, base_folder: Path
) -> None:
    content = b"".join(plain_lines())
    take(node, content, base_folder)
    before = state_of(node)

    assert take(node, content, base_folder).versions_skipped == MANY

    assert state_of(node) == before


def test_a_error_far_behind_names_its_line_and_takes_all_back(
    node: Node, base_folder: Path
) -> None:
    before, already = state_of(node), children()
    lines = plain_lines()
    lines[3_432] = ndjson(widget_line("many/bad", displayName=""))

    with pytest.raises(InvalidImport, match=r"^Line 3433: displayName: "):
        take(node, b"".join(lines), base_folder)

    assert state_of(node) == before
    assert children() == already


def test_helpers_that_are_killed_are_done_without(
    node: Node, base_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_pool, "_cores", lambda: 2)
    already, killed = children(), set[int]()

    def lines() -> Iterator[bytes]:
        for i, line in enumerate(plain_lines()):
            if i == 2_750:
                killed.update(children() - already)
                for pid in killed:
                    os.kill(pid, signal.SIGKILL)
            yield line

    summary = import_catalog(node.store, node.bundles, lines(), base_folder, MAX_BUNDLE_BYTES)

    assert killed
    assert summary.widgets_added == MANY


def test_where_no_helper_can_be_started_it_is_done_without(
    node: Node, base_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(base_folder / "nothing"))

    assert take(node, b"".join(plain_lines()), base_folder).widgets_added == MANY


def test_responses_come_in_the_order_of_the_batches_no_matter_who_gives_them() -> None:
    batches = [[number] * 1_000 for number in range(200)]

    responses = list(map_batches(sum, iter(batches), alone=1))

    assert responses == [(batch, sum(batch)) for batch in batches]


def test_on_a_single_core_no_other_process_is_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process_pool, "_cores", lambda: 1)
    already = children()

    for batch, response in map_batches(sum, ([number] for number in range(50)), alone=1):
        assert response == sum(batch)
        assert children() == already


# The command, as on a machine with two cores: on a single one it starts no helper.
_ON_TWO_CORES = """
from widget_catalog.core.jobs import process_pool
from widget_catalog.__main__ import run
process_pool._cores = lambda: 2
run()
"""


def test_helpers_end_when_the_import_is_killed(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _ON_TWO_CORES, "import", "-", "--data", str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as importer:
        assert importer.stdin is not None
        importer.stdin.write(b"".join(plain_lines()))
        importer.stdin.flush()
        listed = Path(f"/proc/{importer.pid}/task/{importer.pid}/children")
        helpers: list[str] = []
        deadline = time.monotonic() + 60
        while not helpers and time.monotonic() < deadline:
            helpers = listed.read_text().split()
            time.sleep(0.05)
        importer.kill()
        assert helpers

    while time.monotonic() < deadline and any(Path(f"/proc/{pid}").exists() for pid in helpers):
        time.sleep(0.05)
    assert not any(Path(f"/proc/{pid}").exists() for pid in helpers)


def test_helpers_run_no_file_of_the_current_folder(tmp_path: Path) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    created = write_shadow_module(folder, "xxhash")
    (folder / "many.ndjson").write_bytes(b"".join(plain_lines()[:2_600]))
    command = [sys.executable, "-P", "-c", _ON_TWO_CORES, "import", "many.ndjson"]

    imported = subprocess.run(
        [*command, "--data", str(tmp_path / "data")],
        cwd=folder, capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert not created.exists()
    assert imported.returncode == 0
    assert imported.stderr == (
        "Added 2,600 widgets and 2,600 versions (0 bundles stored); 0 versions already there.\n"
    )


def test_long_lines_are_not_held_by_the_hundred() -> None:
    """However long they are, only a few are in memory at once."""
    notes = version_line(releaseNotes="x" * 1_000_000)
    long = ndjson(widget_line("many/long", versions=[notes]))

    batches = [len(batch) for batch in draft_lines([long] * 30, now(), prepare)]

    assert sum(batches) == 30
    assert max(batches) < 10
