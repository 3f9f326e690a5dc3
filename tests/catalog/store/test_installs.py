"""Installs by day: collected with every count, written a little later, shown as a chart."""

import asyncio
import time

import pytest

from support.html import Html
from support.site import InProcessSite
from support.widgets import import_widgets, widget_line
from widget_catalog.catalog.node.node import Node
from widget_catalog.catalog.reading import count_download
from widget_catalog.catalog.reading.count_download import DownloadCounter
from widget_catalog.catalog.store import installs
from widget_catalog.catalog.store.installs import read_installs
from widget_catalog.pages.store_reads import InstallsReader


def count(counter: DownloadCounter, *widget_ids: int) -> None:
    async def all_of_them() -> None:
        await asyncio.gather(*(counter.count(it) for it in widget_ids))

    asyncio.run(all_of_them())


def show_charts_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (installs, count_download):
        monkeypatch.setattr(module, "WRITE_EVERY_S", 0.0)
    monkeypatch.setattr(InstallsReader, "kept_s", 0.0)


def wait_until_written(site: InProcessSite, *counts: int) -> None:
    """By day, of the widgets in their order: a count is acknowledged before."""
    widgets = range(1, len(counts) + 1)
    deadline = time.monotonic() + 60
    while [sum(days_of(site.node, it)) for it in widgets] != list(counts):
        assert time.monotonic() < deadline
        time.sleep(0.005)


def days_of(node: Node, widget_id: int) -> list[int]:
    return [count for _, count in read_installs(node.store, widget_id, 90)[1]]


def test_what_was_counted_is_written_by_day_when_the_counter_closes(node: Node) -> None:
    import_widgets(node, widget_line("a/x", downloadCount=500), widget_line("a/y"))
    for _ in range(2):
        counter = DownloadCounter(node.store)
        count(counter, 1, 2, 1)
        counter.close()
    assert (days_of(node, 1), days_of(node, 2)) == ([4], [2])


def test_it_is_written_without_another_count(node: Node, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (installs, count_download):
        monkeypatch.setattr(module, "WRITE_EVERY_S", 0.05)
    import_widgets(node, widget_line("a/x"))
    counter = DownloadCounter(node.store)
    count(counter, 1)

    async def wait() -> None:
        while days_of(node, 1) != [1]:
            await asyncio.sleep(0.02)

    asyncio.run(asyncio.wait_for(wait(), 20))
    count(counter, 1)
    asyncio.run(asyncio.sleep(0.1))
    count(counter, 1)
    counter.close()
    assert days_of(node, 1) == [3]


def test_the_page_of_a_widget_has_a_chart(
    site: InProcessSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    show_charts_at_once(monkeypatch)
    site.add(widget_line("acme/clock"))
    assert not Html(site.get("/widgets/acme/clock").body).all("figure")
    for _ in range(3):
        assert site.post("/api/v1/widgets/acme/clock").status == 200
    wait_until_written(site, 3)
    page = Html(site.get("/widgets/acme/clock").body)
    assert page.one("figcaption").text.split() == "3 in the last 90 days".split()


def test_the_highest_bar_fills_the_chart() -> None:
    shown = installs.installs_of(20_000, {20_000: 10, 19_999: 5, 19_000: 99})
    assert (len(shown.counts), shown.total, shown.most) == (90, 15, 10)
    assert shown.bars == "M264 40v-20.0h2V40zM267 40v-40.0h2V40z"


def test_a_page_shows_the_last_chart_while_it_cannot_be_read(
    site: InProcessSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    show_charts_at_once(monkeypatch)
    site.add(widget_line("acme/clock"), widget_line("acme/list"))

    def charts() -> list[str]:
        pages = [Html(site.get(f"/widgets/acme/{it}").body) for it in ("clock", "list")]
        return [it.text.split()[0] for page in pages for it in page.all("figcaption")]

    def rename(old: str, new: str) -> None:
        with site.node.store.writing() as tx:
            tx.connection.exec_driver_sql(f"ALTER TABLE {old} RENAME TO {new}")

    assert site.post("/api/v1/widgets/acme/clock").status == 200
    wait_until_written(site, 1)
    assert charts() == ["1"]
    rename("installs_by_day", "elsewhere")
    assert charts() == ["1"]
    rename("elsewhere", "installs_by_day")
    assert site.post("/api/v1/widgets/acme/clock").status == 200
    assert site.post("/api/v1/widgets/acme/list").status == 200
    wait_until_written(site, 2, 1)
    assert charts() == ["2", "1"]
