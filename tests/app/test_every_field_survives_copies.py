"""Every declared field of a version, and every file, survives each way to copy a catalog."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from support.commands import widget_catalog
from support.nodes import environment_of
from support.passwords import quick_passwords
from support.people import a_person
from support.pictures import a_picture
from support.postgresql import new_database
from support.s3 import rclone, settings_of
from support.service import running_service
from support.site import InProcessSite
from support.widgets import version_line, widget_line
from widget_contract.manifests import DECLARED_KEYS

WORDS = st.lists(st.text("aZ09äß漢🙂*_-", min_size=1, max_size=9), min_size=1, max_size=5)
LINE = WORDS.map(" ".join)
KEYWORD = st.from_regex(r"[a-z0-9][a-z0-9-]{1,29}", fullmatch=True)
ADDRESS = st.from_regex(r"https://[a-z]{1,20}\.example(/[a-z?&=%#.]{0,20})?", fullmatch=True)
SMALL, LARGE = st.integers(1, 4), st.integers(5, 12)
# A value for each declared field, which is not its default.
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "releaseNotes": st.lists(LINE, min_size=1, max_size=3).map("\n\n".join),
    "displayName": LINE,
    "description": LINE,
    "icon": st.sampled_from(["mdi:clock", "mdi:map-marker"]),
    "minSize": st.fixed_dictionaries({"w": SMALL, "h": SMALL}),
    "maxSize": st.fixed_dictionaries({"w": LARGE, "h": LARGE}),
    "sdkVersion": st.sampled_from(["^1.0.0", ">=1.2.0 <3", "1.x || 2.x"]),
    "configVersion": st.integers(0, 2**53 - 1),
    "permissions": st.lists(
        st.sampled_from(["network", "storage", "user"]), min_size=1, unique=True
    ),
    "license": LINE,
    "readme": st.lists(LINE, min_size=1, max_size=3).map("\n\n".join),
    "homepage": ADDRESS,
    "repository": ADDRESS,
    "author": LINE | st.fixed_dictionaries({"name": LINE}, optional={"url": ADDRESS}),
    "translations": st.dictionaries(
        st.sampled_from(["de", "ja", "pt-BR"]),
        st.fixed_dictionaries({"displayName": LINE}, optional={"description": LINE}),
        min_size=1,
    ),
    "keywords": st.lists(KEYWORD, min_size=1, max_size=10, unique=True),
}
SIDE = st.integers(1, 1500)
VERSIONS = st.lists(st.fixed_dictionaries(VALUES), min_size=4, max_size=6)


@pytest.fixture(scope="module")
def s3(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with rclone(tmp_path_factory.mktemp("rclone")) as port:
        yield port


def test_there_is_a_value_for_each_field() -> None:
    assert VALUES.keys() == set(DECLARED_KEYS.values())


def named_files(readme: str, pictures: list[tuple[int, int]], kind: str) -> dict[str, bytes]:
    sizes = enumerate(pictures)
    files = {f"screenshots/p{number}.{kind}": a_picture(kind, *it) for number, it in sizes}
    return {**files, "README.md": f"Barometer {readme}".encode()}


FILES = st.lists(
    st.builds(
        named_files,
        st.lists(LINE, min_size=1, max_size=3).map("\n\n".join),
        st.lists(st.tuples(SIDE, SIDE), min_size=1, max_size=3),
        st.sampled_from(["png", "jpg", "webp"]),
    ),
    min_size=6,
    max_size=6,
)


@given(published=VERSIONS, imported=VERSIONS, files=FILES)
@settings(
    max_examples=2,
    deadline=None,
    phases=[Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_every_field_survives(
    tmp_path_factory: pytest.TempPathFactory,
    postgresql_url: str,
    s3: int,
    published: list[dict[str, Any]],
    imported: list[dict[str, Any]],
    files: list[dict[str, bytes]],
) -> None:
    """Published, and imported without a manifest; then copied from one folder to the next."""
    folder = tmp_path_factory.mktemp("copies")
    url = new_database(postgresql_url)
    shared = environment_of(url, base_url="http://127.0.0.1:8080", **settings_of(s3))

    def run(*arguments: str | Path, data: str, **more: Any) -> None:
        said = widget_catalog(*arguments, "--data", folder / data, **more)
        assert said.code == 0, said

    with quick_passwords(), InProcessSite(folder / "origin") as site:
        ann = a_person(site, "ann")
        for number, fields in enumerate(published):
            key = f"ann/w{number}"
            assert ann.publish(key, files=files[number], **fields).status == 200
        site.add(
            *[
                widget_line(f"bob/w{number}", versions=[version_line(**fields)])
                for number, fields in enumerate(imported)
            ]
        )
    expected = shown(folder / "origin", len(published), len(imported))
    for version, fields in zip(expected, [*published, *imported], strict=True):
        assert {key: version[key] for key in fields} == fields
    for version, named in zip(expected[: len(published)], files, strict=False):
        assert named.items() <= version["served"].items()

    run("export", folder / "catalog.ndjson", "--bundles", data="origin")
    run("import", folder / "catalog.ndjson", data="imported")
    with running_service(folder / "imported") as service:
        run("mirror", service.url, data="mirrored")
    run("site", folder / "site", "--base-url", "https://site.example", data="mirrored")
    run("mirror", folder / "site", data="carried")
    run("backup", folder / "backup", data="carried")
    run("restore", folder / "backup", data="restored")
    run("move", data="restored", environment=shared)
    run("move", "--back", data="moved", environment=shared)

    for copy in ("imported", "mirrored", "carried", "restored", "moved"):
        assert shown(folder / copy, len(published), len(imported)) == expected, copy


def shown(data: Path, published: int, imported: int) -> list[dict[str, Any]]:
    """The details of all versions. Search finds them by their READMEs."""
    keys = [f"ann/w{it}" for it in range(published)] + [f"bob/w{it}" for it in range(imported)]
    with InProcessSite(data) as site:
        found = [site.get(f"/api/v1/widgets/{it}/1.0.0").json() for it in keys]
        served = [
            {file["path"]: site.get(_local(file["url"])).body for file in version["files"]}
            for version in found[:published]
        ]
        pages = site.get("/search?q=barometers").body.decode()
        assert [f'href="/widgets/{it}"' in pages for it in keys] == [
            *[True] * published,
            *[False] * imported,
        ]
    # Its own fields, and those of its entry.
    served += [{}] * imported
    return [
        {**version, **version["version"], "widget": None, "version": None, "served": files}
        for version, files in zip(found, served, strict=True)
    ]


def _local(url: str) -> str:
    return url.removeprefix("https://catalog.example")
