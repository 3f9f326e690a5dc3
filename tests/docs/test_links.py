"""Everything named in the docs exists: links, headings, commands, options, source
files, packages.
"""

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from pathlib import Path

import pytest
import typer
from bench.options import Options as BenchOptions
from typer.core import TyperGroup

from widget_catalog.app.main import app
from widget_catalog.core import release

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "widget_catalog"
DECISIONS = ROOT / "docs" / "decisions"
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *SOURCE.glob("*/README.md")])
ARCHITECTURE = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
WALKS = ARCHITECTURE + (ROOT / "docs" / "internals.md").read_text(encoding="utf-8")

_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_INLINE = re.compile(r"`([^`\n]+)`")
_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
_HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
_DEV = re.compile(r"\./dev ([a-z]+)([^\n`|#&]*)")
# As a command, not as a user, a file or a folder of that name.
_CATALOG = re.compile(
    r"(?:^|`|\$ |# |&& |\| |run |bin/)widget-catalog ([a-z]+)([^\n`|#&>]*)", re.MULTILINE
)
_OPTION = re.compile(r"(?<!\S)(--[a-z-]+)")
_PLACE = re.compile(r"^([\w/]+\.py): ([\w.]+)$")
_FILE = re.compile(r"^\w[\w/]*\.(?:py|md|toml|txt|json|ndjson)$")
_FOLDER = re.compile(r"^(?:tests|docs|src|bench|requirements)/[\w/]*$")


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


@cache
def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def prose_of(page: Path) -> str:
    return _FENCE.sub("", text_of(page))


def code_of(page: Path) -> str:
    """Fenced and inline code, which contains the commands to be typed."""
    return "\n".join(
        [*_FENCE.findall(text_of(page)), *(f"`{it}`" for it in _INLINE.findall(prose_of(page)))]
    )


def anchors_of(page: Path) -> set[str]:
    """The headings of a page as link anchors."""
    headings = _HEADING.findall(prose_of(page))
    return {re.sub(r"[^\w\- ]", "", it.lower()).replace(" ", "-") for it in headings}


@cache
def dev_commands() -> frozenset[str]:
    said = subprocess.run([sys.executable, ROOT / "dev", "help"], capture_output=True, check=True)
    return frozenset(re.findall(r"^  ([a-z]+) ", said.stdout.decode(), re.MULTILINE))


@cache
def catalog_options() -> dict[str, set[str]]:
    """The options of every command of `widget-catalog`; those in a group as `account create`."""
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    commands = dict(group.commands)
    for name, command in group.commands.items():
        if isinstance(command, TyperGroup):
            commands |= {f"{name} {inner}": it for inner, it in command.commands.items()}
    return {
        name: {
            option
            for parameter in command.params
            for option in [*parameter.opts, *parameter.secondary_opts]
        }
        for name, command in commands.items()
    }


def test_every_link_leads_somewhere() -> None:
    assert not [f"{name_of(page)}: {it}" for page in PAGES for it in broken_links(page)]


def broken_links(page: Path) -> Iterator[str]:
    for target in _LINK.findall(prose_of(page)):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        leads_to = (page.parent / path).resolve() if path else page
        if not leads_to.exists() or (anchor and anchor not in anchors_of(leads_to)):
            yield target


def test_every_dev_command_exists() -> None:
    known = {f"--{it.name}" for it in fields(BenchOptions)} | {"--help"}
    for page in PAGES:
        for command, rest in _DEV.findall(text_of(page)):
            assert command in dev_commands(), f"{name_of(page)}: ./dev {command}"
            if command == "bench":
                unknown = set(_OPTION.findall(rest)) - known
                assert not unknown, f"{name_of(page)}: ./dev {command}{rest}"


def test_every_command_of_the_operator_and_every_option_exists() -> None:
    for page in PAGES:
        for command, rest in _CATALOG.findall(code_of(page)):
            assert command in catalog_options(), f"{name_of(page)}: widget-catalog {command}"
            inner = f"{command} {rest.split()[0]}" if rest.split() else command
            name = inner if inner in catalog_options() else command
            unknown = set(_OPTION.findall(rest)) - catalog_options()[name]
            assert not unknown, f"{name_of(page)}: widget-catalog {command}{rest}"


def test_commands_are_really_found() -> None:
    """Otherwise the tests above would pass for any text."""
    pages = [code_of(page) for page in PAGES]
    known = {it for it in catalog_options() if " " not in it}
    assert {it for page in pages for it, _ in _CATALOG.findall(page)} == known
    assert {it for page in pages for it, _ in _DEV.findall(page)} >= {"serve", "test", "bench"}


def test_every_file_folder_and_function_named_exists() -> None:
    assert not [f"{name_of(page)}: {it}" for page in PAGES for it in missing_names(page)]


def missing_names(page: Path) -> Iterator[str]:
    for code in _INLINE.findall(prose_of(page)):
        if found := _PLACE.match(code):
            file, name = found.groups()
            places = [it / file for it in (page.parent, ROOT, SOURCE) if (it / file).exists()]
            if not places or name not in names_in(places[0]):
                yield code
        elif "/" in code and (_FILE.match(code) or _FOLDER.match(code)) and not exists(page, code):
            yield code


def exists(page: Path, path: str) -> bool:
    """Paths are relative to the root, to our package, or to the page."""
    if path.startswith(("bundles/", "backup/", "move/")):  # In a reader's own folder.
        return True
    return any((place / path).exists() for place in (ROOT, SOURCE, page.parent))


@cache
def names_in(file: Path) -> frozenset[str]:
    """Functions and classes of a source file; methods and fields as `Class.name`."""
    names = set()
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):
            for member in node.body:
                if isinstance(member, ast.FunctionDef | ast.AsyncFunctionDef):
                    names.add(f"{node.name}.{member.name}")
                elif isinstance(member, ast.AnnAssign) and isinstance(member.target, ast.Name):
                    names.add(f"{node.name}.{member.target.id}")
    return frozenset(names)


def test_a_decision_is_named_like_its_title_and_listed() -> None:
    index = text_of(DECISIONS / "README.md")
    for page in DECISIONS.glob("[0-9]*.md"):
        number, title = re.match(r"# (\d+)\. (.+)\n", text_of(page)).groups()  # type: ignore[union-attr]
        words = re.findall(r"[a-z0-9]+", title.lower().replace("'", "").replace("_", "-"))
        assert page.name == f"{int(number):04}-{'-'.join(words)}.md"
        assert f"\n- [{number}. {title}]({page.name})\n" in index


def test_every_room_is_in_the_tree_and_has_its_page() -> None:
    rooms = {it.name for it in SOURCE.iterdir() if (it / "__init__.py").exists()}
    assert {it.parent.name for it in SOURCE.glob("*/README.md")} - {"demo"} == rooms
    for room in rooms:
        assert f"\n  {room}/" in ARCHITECTURE, room


def test_the_architecture_page_is_short() -> None:
    assert len(ARCHITECTURE.splitlines()) <= 250


def test_every_function_named_in_a_walk_exists() -> None:
    places = [it for it in _INLINE.findall(WALKS) if _PLACE.match(it)]
    assert len(places) > 25
    everywhere = {name for file in SOURCE.glob("**/*.py") for name in names_in(file)}
    methods = {it.rpartition(".")[2] for it in everywhere}
    for code in _INLINE.findall(WALKS.partition("## Walk 1")[2]):
        if re.match(r"^[A-Z]\w+\.[a-z_]\w*$", code):  # Class.method
            assert code in everywhere, code
        elif re.match(r"^_[a-z]\w+$", code):  # A function given only by its name.
            assert code in methods, code


@pytest.mark.parametrize("folder", [".", "cli"])
def test_every_dependency_has_a_comment_with_its_reason(folder: str) -> None:
    """Behind it, or above it; an extra has one above it."""
    text = text_of(ROOT / folder / "pyproject.toml")
    project = tomllib.loads(text)["project"]
    wanted = {*project["dependencies"], *project["optional-dependencies"]} - {"all"}
    explained = re.findall(
        r'^  "([^"]+)",  # \w|^  # \w.*\n  "([^"]+)",$|^# \w.*\n(\w+) = \["', text, re.MULTILINE
    )
    assert {"".join(it) for it in explained} >= wanted


def test_the_changelog_tells_of_this_release() -> None:
    latest = re.search(r"^## (\d\S+) – (\S+)$", text_of(ROOT / "CHANGELOG.md"), re.MULTILINE)
    assert latest is not None
    assert latest.groups() == (release.VERSION, release.RELEASED_AT[:10])


def test_the_readme_names_the_two_commands() -> None:
    readme = text_of(ROOT / "README.md")
    assert "./dev serve" in readme
    assert "./dev test" in readme
