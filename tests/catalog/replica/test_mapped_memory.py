"""Mapped pages of the replica and freed memory are returned to the system."""

from pathlib import Path

from support.site import InProcessSite
from support.widgets import import_widgets, version_line, widget_line
from widget_catalog.catalog.replica.file import release_memory

_CLOCK = "/api/v1/widgets/acme/clock"


def test_what_is_mapped_of_the_replica_is_given_back_and_read_again(site: InProcessSite) -> None:
    import_widgets(site.node, widget_line("acme/clock", versions=[version_line("1.0.0")]))
    replica = site.node.folder.replica
    before = site.get(_CLOCK)
    assert _resident_kb(replica) > 0

    release_memory(replica, most_bytes=0)

    assert _resident_kb(replica) == 0
    import_widgets(site.node, widget_line("acme/other"))
    assert site.get(_CLOCK).body == before.body
    assert site.get("/api/v1/widgets/acme/other").status == 200
    assert _resident_kb(replica) > 0


def test_a_little_is_kept(site: InProcessSite) -> None:
    import_widgets(site.node, widget_line("acme/clock"))
    replica = site.node.folder.replica
    assert site.get(_CLOCK).status == 200

    release_memory(replica, most_bytes=1 << 40)

    assert _resident_kb(replica) > 0


def test_freed_memory_between_used_parts_is_returned(tmp_path: Path) -> None:
    texts = [bytes(2_000) for _ in range(20_000)]
    kept = texts[49::50]
    del texts
    before = _anonymous_kb()

    release_memory(tmp_path, most_bytes=0)

    assert before - _anonymous_kb() > 10_000
    assert len(kept) == 400


def _anonymous_kb() -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(it.split()[1]) for it in lines if it.startswith("RssAnon:"))


def _resident_kb(folder: Path) -> int:
    """How much of the replica's file this process has mapped, according to the system."""
    resident, is_ours = 0, False
    for line in Path("/proc/self/smaps").read_text().splitlines():
        if "-" in line.split()[0]:
            is_ours = line.endswith(".mdb") and str(folder.resolve()) in line
        elif is_ours and line.startswith("Rss:"):
            resident += int(line.split()[1])
    return resident
