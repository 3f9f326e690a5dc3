"""Texts of earlier releases, which limited none: they are served, and searched up to a limit."""

from pathlib import Path

from support.folders import empty_folder
from support.site import InProcessSite
from support.widgets import add_old_widgets, widget_line
from widget_catalog.catalog.model.text_limits import MAX_LINE, MAX_NAME
from widget_catalog.catalog.node.node import open_node

SEARCH = "/api/v1/widgets/search?q="


def test_a_store_with_texts_beyond_the_limits_starts_and_answers(tmp_path: Path) -> None:
    name = "early " + "n" * MAX_NAME + " faraway"
    about = "soon " + "d" * 64 * MAX_LINE + " distant"
    node = open_node(empty_folder(tmp_path / "data"), is_durable=False)
    add_old_widgets(node, widget_line("acme/old", displayName=name, description=about))
    node.store.close()

    with InProcessSite(tmp_path / "data") as site:
        site.add_old(widget_line("acme/new", displayName=name, description=about))
        words = ("early", "soon", "faraway", "distant")
        totals = [site.get(SEARCH + it).json()["total"] for it in words]
        detail = site.get("/api/v1/widgets/acme/old").json()["widget"]
        page = site.get("/widgets/acme/old")

    assert totals == [2, 2, 0, 0]
    assert (detail["displayName"], detail["description"]) == (name, about)
    assert page.status == 200
