"""/install: the page, and the package index as installers use it."""

import hashlib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.html import Html
from support.site import InProcessSite, Reply
from widget_catalog.core.release import VERSION

JSON = "application/vnd.pypi.simple.v1+json"
URL = "https://widgets.example"
OURS = ["widget-catalog-client", "widget-cli", "widget-contract"]
TOOL = f"widget_cli-{VERSION}-py3-none-any.whl"
LAUNCHER = f"widget-catalog-cli-{VERSION}.tgz"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessSite]:
    with InProcessSite(tmp_path_factory.mktemp("site") / "data", base_url=URL) as site:
        yield site


@pytest.fixture
def closed(tmp_path: Path) -> Iterator[InProcessSite]:
    """With dependencies that the operator offers, and with files that are none."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    for name in ("Some_Thing-1.2+local-py3-none-any.whl", "widget_cli-99-py3-none-any.whl"):
        (folder / name).write_bytes(name.encode())
    (folder / "notes.txt").write_text("private")
    with InProcessSite(tmp_path / "data", base_url=URL, tool_dependencies=str(folder)) as site:
        yield site


def commands(site: InProcessSite) -> list[str]:
    reply = site.get("/install")
    assert reply.status == 200
    return [it.text for it in Html(reply.body).all("pre")]


def digest(reply: Reply) -> str:
    assert reply.status == 200
    return hashlib.sha256(reply.body).hexdigest()


def test_the_page_has_a_line_for_each_installer_with_the_address_of_this_catalog(
    site: InProcessSite,
) -> None:
    assert commands(site) == [
        f"uv tool install widget-cli --index {URL}/install/simple/",
        f'pipx install --pip-args="--constraint {URL}/install/constraints.txt" widget-cli',
        f"npm install --global {URL}/install/{LAUNCHER}",
        f"npx {URL}/install/{LAUNCHER} init clock",
        f"widget login {URL}",
    ]


def test_the_index_lists_our_packages_for_people_and_for_programs(site: InProcessSite) -> None:
    page = Html(site.get("/install/simple/").body)
    assert page.links == [f"{it}/" for it in OURS]
    reply = site.get("/install/simple/", accept=f"{JSON}, text/html; q=0.01")
    assert (reply.headers["content-type"], reply.headers["vary"]) == (JSON, "accept")
    assert reply.json() == {
        "meta": {"api-version": "1.1"},
        "projects": [{"name": it} for it in OURS],
    }


@pytest.mark.parametrize("name", ["widget-cli", "Widget_CLI", "widget.cli"])
def test_a_project_has_its_files_with_size_and_hash(site: InProcessSite, name: str) -> None:
    file = site.get(f"/install/{TOOL}")
    (link,) = Html(site.get(f"/install/simple/{name}/").body).links
    assert link == f"../../{TOOL}#sha256={digest(file)}"
    listed = site.get(f"/install/simple/{name}/", accept=JSON).json()
    assert (listed["name"], listed["versions"]) == ("widget-cli", [VERSION])
    assert listed["files"] == [
        {
            "filename": TOOL,
            "url": f"../../{TOOL}",
            "hashes": {"sha256": digest(file)},
            "size": len(file.body),
        }
    ]


def test_constraints_name_every_wheel_of_ours_with_its_hash(site: InProcessSite) -> None:
    lines = site.get("/install/constraints.txt").body.decode().splitlines()
    assert [it.partition(" @ ")[0] for it in lines] == OURS
    for line in lines:
        path, _, sha256 = line.partition(f" @ {URL}")[2].partition("#sha256=")
        assert digest(site.get(path)) == sha256


def test_the_wheel_is_the_tool_of_this_release(site: InProcessSite, tmp_path: Path) -> None:
    (tmp_path / TOOL).write_bytes(site.get(f"/install/{TOOL}").body)
    with zipfile.ZipFile(tmp_path / TOOL) as wheel:
        source = Path(__file__).parents[2] / "src" / "widget_cli" / "main.py"
        assert wheel.read("widget_cli/main.py") == source.read_bytes()


def test_a_file_that_the_client_has_is_not_sent_again(site: InProcessSite) -> None:
    first = site.get(f"/install/{LAUNCHER}")
    assert first.headers["content-type"] == "application/gzip"
    again = site.get(f"/install/{LAUNCHER}", if_none_match=first.headers["etag"])
    assert (again.status, again.body) == (304, b"")


def test_what_is_not_offered_is_404_and_a_missing_slash_is_added(site: InProcessSite) -> None:
    for path in ("simple/httpx/", "nothing.whl", "..%2Fpackages.py", "simple/widget-cli/x"):
        assert site.get(f"/install/{path}").status == 404, path
    for path in ("/install/simple", "/install/simple/widget-cli"):
        moved = site.get(path)
        assert (moved.status, moved.headers["location"]) == (308, f"{path}/")


def test_the_first_steps_begin_with_the_page(site: InProcessSite) -> None:
    assert "/install" in Html(site.get("/").body).links


def test_pip_is_told_to_trust_a_catalog_without_https_as_its_only_index(tmp_path: Path) -> None:
    """Otherwise it ignores that index."""
    (tmp_path / "wheels").mkdir()
    (tmp_path / "wheels" / "some_thing-1.2-py3-none-any.whl").write_bytes(b"")
    url, wheels = "http://nas:8080", str(tmp_path / "wheels")
    with InProcessSite(tmp_path / "data", base_url=url, tool_dependencies=wheels) as site:
        assert (
            '--pip-args="--trusted-host nas:8080 --index-url http://nas:8080/' in commands(site)[1]
        )


def test_dependencies_of_the_operator_are_offered_and_make_other_indexes_unnecessary(
    closed: InProcessSite,
) -> None:
    both = f"--index-url {URL}/install/simple/ --constraint {URL}/install/constraints.txt"
    index = f"WIDGET_INDEX_URL={URL}/install/simple/"
    assert commands(closed)[:5] == [
        f"uv tool install widget-cli --default-index {URL}/install/simple/",
        f'pipx install --pip-args="{both}" widget-cli',
        f"npm install --global {URL}/install/{LAUNCHER}",
        f"{index} widget --version",
        f"{index} npx {URL}/install/{LAUNCHER} init clock",
    ]
    (link,) = Html(closed.get("/install/simple/some-thing/").body).links
    assert link is not None
    assert link.startswith("../../Some_Thing-1.2%2Blocal-py3-none-any.whl#sha256=")
    file = closed.get("/install/Some_Thing-1.2+local-py3-none-any.whl")
    assert digest(file) == link.partition("#sha256=")[2]


def test_files_of_the_operator_do_not_replace_ours_and_only_wheels_are_offered(
    closed: InProcessSite,
) -> None:
    listed = closed.get("/install/simple/widget-cli/", accept=JSON).json()
    assert [it["filename"] for it in listed["files"]] == [TOOL]
    assert closed.get("/install/widget_cli-99-py3-none-any.whl").status == 404
    assert closed.get("/install/notes.txt").status == 404


@pytest.mark.parametrize(
    ("url", "is_needed"),
    [
        ("https://widgets.example", False),
        ("http://127.0.0.1:8080", False),
        ("http://widgets.example", True),
        ("http://192.0.2.7:8080", True),
    ],
)
def test_where_the_tool_needs_to_be_told_that_a_network_is_trusted_the_page_says_so(
    tmp_path: Path, url: str, is_needed: bool
) -> None:
    with InProcessSite(tmp_path / "data", base_url=url) as site:
        assert commands(site)[-1] == f"widget login {url}"
        assert ("add <code>--insecure</code>" in site.get("/install").body.decode()) is is_needed
