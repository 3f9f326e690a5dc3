"""Two versions side by side, and how their bundles differ."""

import errno
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.demo import import_demo
from support.html import Html
from support.site import InProcessSite
from support.widgets import import_widgets, version_line, widget_line
from widget_catalog.pages.bundle_diff import MAX_BYTES, compare_bundles

ADDRESS = "/widgets/catalog/clock/compare"


def test_the_latest_two_are_compared_unless_others_are_asked_for(demo_site: InProcessSite) -> None:
    for query, wanted in {
        "": ["1.1.0", "2.0.0"],
        "?from=1.0.0&to=2.0.0": ["1.0.0", "2.0.0"],
        "?to=1.1.0": ["1.0.0", "1.1.0"],
    }.items():
        page = Html(demo_site.get(ADDRESS + query).body)
        options = [it for it in page.elements if it.tag == "option"]
        assert [it.text for it in options if "selected" in it.attributes] == wanted
        assert [it.text for it in page.all("th", scope="col")] == wanted


def test_facts_permissions_and_lines_are_shown(demo_site: InProcessSite) -> None:
    response = demo_site.get(f"{ADDRESS}?from=1.0.0&to=2.0.0")
    assert len(response.body) < 60_000
    page = Html(response.body)
    changed = [it.text for it in page.all("tr", class_="changed")]
    assert any(it.startswith("Runs on SDK ^1.0.0 1.x || 2.x") for it in changed)
    assert any(it.startswith("Published 3 Mar 2025 9 Feb 2026") for it in changed)
    assert "lines added" in page.one("main").text
    assert page.all("ins")
    assert page.all("del")
    assert demo_site.get(f"{ADDRESS}?from=1.0.0&to=2.0.0").response.body is response.response.body


def test_what_cannot_be_compared_is_said(site: InProcessSite) -> None:
    versions = [version_line("1.0.0"), version_line("1.1.0", permissions=["network"])]
    site.add(widget_line("acme/far", versions=versions), widget_line("acme/none", versions=[]))
    text = Html(site.get("/widgets/acme/far/compare?from=1.0.0&to=1.1.0").body).one("main").text
    assert "not both stored here" in text
    assert "+ network" in text
    for address in ("/widgets/acme/far/compare?from=1.0.0&to=9", "/widgets/acme/none/compare"):
        page = Html(site.get(address).body)
        assert page.one("p", class_="empty").text.startswith("Version not found.")
    assert site.get("/widgets/acme/nothing/compare").status == 404


def test_a_damaged_bundle_is_not_compared_however_large_it_has_become(
    site: InProcessSite, tmp_path: Path
) -> None:
    here = {"bundleUrl": None, "bundleSize": None, "sha256Hash": None}
    versions = []
    for number in ("1.0.0", "1.1.0"):
        (tmp_path / f"{number}.js").write_text(f"// {number}\n")
        versions.append({**version_line(number), **here, "bundleFile": f"{number}.js"})
    import_widgets(site.node, widget_line("acme/clock", versions=versions), base_folder=tmp_path)
    (stored, *_) = site.node.bundles.list_stored()
    path = Path(stored.place)
    path.chmod(0o644)
    path.write_bytes(b"x" * 5_000_000)

    page = Html(site.get("/widgets/acme/clock/compare?from=1.0.0&to=1.1.0").body)

    assert "not both stored here" in page.one("main").text


@pytest.mark.slow
def test_a_comparison_that_has_to_wait_for_others_is_postponed(
    site: InProcessSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    import_demo(site.node)
    with monkeypatch.context() as patch:
        patch.setattr(subprocess, "Popen", _no_process)
        response = site.get(ADDRESS)
    assert response.status == 200
    assert "cannot be compared at this moment" in Html(response.body).one("main").text
    # The page is not cached.
    assert Html(site.get(ADDRESS).body).all("ins")


def _no_process(*_: object, **__: object) -> None:
    raise BlockingIOError(errno.EAGAIN, "Resource temporarily unavailable")


def test_minified_code_is_broken_into_lines() -> None:
    old = b'const a="x;y";' * 40
    diff = compare_bundles(old, old.replace(b"x;y", b"x;z", 1))
    assert diff.is_broken_up
    assert (diff.added, diff.removed) == (1, 1)
    assert 'const a="x;z";' in [text for kind, text in diff.lines or [] if kind == "added"]


def test_the_same_and_the_giant_have_no_lines() -> None:
    assert compare_bundles(b"a\n", b"a\n").lines == []
    assert compare_bundles(b"a" * (MAX_BYTES + 1), b"").lines is None


texts = st.text("ab;{}\"'`/*\n", max_size=60).map(str.encode)


@given(texts, texts)
def test_lines_added_and_removed_lead_from_one_to_the_other(old: bytes, new: bytes) -> None:
    diff = compare_bundles(old, new)
    assert diff.lines is not None
    assert (diff.lines == []) == (old.decode().splitlines() == new.decode().splitlines())
    assert diff.added - diff.removed == len(new.decode().splitlines()) - len(
        old.decode().splitlines()
    )
