"""Without the optional packages: the default works, and what needs them says what to install."""

import json
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.service import clean_environment
from support.widgets import widget_line
from widget_catalog.core.errors import InvalidSettings
from widget_catalog.core.load_settings import load_settings
from widget_catalog.core.setting_rules import MODULES, is_installed
from widget_catalog.pages.icons import Icons, load_glyphs

PROJECT = Path(__file__).parents[2] / "pyproject.toml"
# Imported packages of the extras: `None` in `sys.modules` is as if they were not there.
OPTIONAL = ("boto3", "botocore", "fonticon_mdi7", "fontTools", "psycopg", "psycopg_binary")
NEEDED = {
    "database": ("postgresql://ann:secret@db.example/catalog", "postgresql"),
    "bundles": ("s3://bucket/prefix", "s3"),
}


@pytest.fixture
def no_extras(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    load_glyphs.cache_clear()
    for name in OPTIONAL:
        monkeypatch.setitem(sys.modules, name, None)
    yield
    load_glyphs.cache_clear()


def test_every_extra_is_in_the_project_and_all_are_in_all() -> None:
    extras = tomllib.loads(PROJECT.read_text())["project"]["optional-dependencies"]

    assert extras.pop("all") == [f"widget-catalog[{','.join(sorted(MODULES))}]"]
    assert extras.keys() == MODULES.keys()
    assert all(len(MODULES[it]) >= len(extras[it]) for it in extras)


@pytest.mark.usefixtures("no_extras")
def test_settings_that_need_an_extra_name_it_all_at_once() -> None:
    flags = {name: value for name, (value, _) in NEEDED.items()}
    with pytest.raises(InvalidSettings) as caught:
        load_settings({**flags, "secret_key": "0123456789abcdef" * 2 + "xyz"})

    for name, (_, extra) in NEEDED.items():
        assert (
            f'{name}: needs packages that are not installed: pip install "widget-catalog[{extra}]"'
            in str(caught.value)
        )


@pytest.mark.parametrize(
    ("extra", "module"), [(extra, it) for extra, modules in MODULES.items() for it in modules]
)
def test_an_extra_is_installed_only_with_all_its_packages(
    extra: str, module: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert is_installed(extra)
    monkeypatch.setitem(sys.modules, module, None)

    assert not is_installed(extra)


def test_an_icon_font_that_other_packages_installed_by_half_is_not_used(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    load_glyphs.cache_clear()
    monkeypatch.setitem(sys.modules, "fonticon_mdi7", None)

    assert ">C</text>" in Icons().tile("mdi:clock", "Clock")
    assert 'pip install "widget-catalog[icons]"' in "".join(capsys.readouterr())
    load_glyphs.cache_clear()


@pytest.mark.usefixtures("no_extras")
def test_without_its_font_an_icon_is_a_letter() -> None:
    icons = Icons()

    assert ">C</text>" in icons.tile("mdi:clock", "Clock")
    assert "<path" in icons.tile("lucide:clock", "Clock")


@pytest.mark.slow
def test_a_catalog_on_disk_needs_no_extra(tmp_path: Path) -> None:
    file = tmp_path / "widgets.ndjson"
    file.write_text(json.dumps(widget_line()) + "\n")
    for arguments in (["import", str(file)], ["doctor"], ["export", "-"]):
        code = (
            f"import sys; sys.modules.update(dict.fromkeys({OPTIONAL!r}));"
            "from widget_catalog.__main__ import run; run()"
        )
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments, "--data", str(tmp_path / "data")],
            capture_output=True,
            text=True,
            env=clean_environment(),
            check=False,
        )
        assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["name"] == widget_line()["name"]
