"""The documentation of the authors' tool: commands, exit codes, manifest, files, packages."""

import re
from pathlib import Path

import msgspec
import typer
from typer.core import TyperCommand, TyperGroup

from widget_cli.errors import ExitCode
from widget_cli.main import app
from widget_cli.widget_folder import MAX_BUNDLE_BYTES
from widget_contract.manifests import Manifest, parse_manifest

ROOT = Path(__file__).parents[2]
GUIDE = "".join(
    (ROOT / "docs" / page).read_text(encoding="utf-8")
    for page in ("publishing.md", "managing-widgets.md")
)
# Operators' pages refer to commands of `widget-catalog` by their last words.
OPERATORS_PAGES = ("operating", "administering", "import-and-export", "backup", "monitoring")
PAGES = {ROOT / "cli" / "README.md", *ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")} - {
    ROOT / "docs" / f"{page}.md" for page in OPERATORS_PAGES
}

_COMMAND = re.compile(r"(?:^|`|\$ |&& |run:? |- )widget ([a-z]+)([^\n`|#&>]*)", re.MULTILINE)
_CODE = re.compile(r"^```.*?^```$|`[^`\n]+`", re.MULTILINE | re.DOTALL)


def commands() -> dict[str, set[str]]:
    """Every command, those of `tokens` and `org` as `org show`, with its options."""
    found: dict[str, set[str]] = {}

    def walk(group: TyperGroup, prefix: str) -> None:
        for name, command in group.commands.items():
            if isinstance(command, TyperGroup):
                found[f"{prefix}{name}"] = {"--help"}
                walk(command, f"{prefix}{name} ")
            elif isinstance(command, TyperCommand):
                options = {it for each in command.params for it in each.opts}
                found[f"{prefix}{name}"] = options | {"--help"}

    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    walk(group, "")
    return found


def named() -> list[tuple[str, set[str]]]:
    """Every command line in the docs: the command, and its options."""
    known = commands()
    shown = []
    for page in PAGES:
        for code in _CODE.findall(page.read_text(encoding="utf-8")):
            for first, rest in _COMMAND.findall(code):
                second = rest.split()[:1]
                name = f"{first} {second[0]}" if f"{first} {''.join(second)}" in known else first
                shown.append((name, set(re.findall(r"(?<!\S)(--[a-z-]+)", rest))))
    return shown


def test_every_command_and_option_in_the_pages_exists() -> None:
    known = commands()
    for name, options in named():
        assert name in known, name
        assert options <= known[name], (name, options - known[name])


def test_the_guide_names_every_command() -> None:
    told = {name.split()[0] for name, _ in named()}
    assert told >= {name.split()[0] for name in commands()}
    for name in commands():
        assert name.split()[-1] in GUIDE, name


def test_the_guide_lists_every_exit_code() -> None:
    listed = re.findall(r"^\| `(\d+)` \| ([^|]+) \|", GUIDE, re.MULTILINE)
    assert listed == [(str(it.value), it.meaning) for it in ExitCode]


def test_the_guide_lists_every_key_of_a_manifest() -> None:
    table = GUIDE.partition("| Key | Required |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| `(\w+)` \| (yes|no) \|", table, re.MULTILINE)
    fields = [it for it in msgspec.structs.fields(Manifest) if it.name != "text"]
    told = {re.sub(r"(?<!^)([A-Z])", r"_\1", key).lower(): needed for key, needed in rows}
    assert told == {it.name: "yes" if it.required else "no" for it in fields}


def test_the_manifest_in_the_guide_is_a_good_one() -> None:
    examples = re.findall(r"^```json\n(.*?)^```$", GUIDE, re.MULTILINE | re.DOTALL)
    example, capabilities, schema = examples
    assert parse_manifest(example).permissions == ("storage",)
    stated = {**msgspec.json.decode(example), **msgspec.json.decode(capabilities)}
    permissions = parse_manifest(msgspec.json.encode(stated).decode()).permissions
    assert permissions == ("storage", "read:camera", "control:lock")
    assert msgspec.json.decode(schema)["properties"].keys() >= {"title", "minutes"}


def test_the_limit_in_the_guide_is_the_limit() -> None:
    assert f"at most {MAX_BUNDLE_BYTES >> 20} MiB" in GUIDE


def test_the_contract_lists_every_key_of_the_context_with_its_sdk_and_permission() -> None:
    types = (ROOT / "clients/js/widget.d.ts").read_text(encoding="utf-8")
    declared = types.partition("interface WidgetContext {")[2].partition("\n}")[0]
    members = re.findall(r"/\*\*(.*?)\*/\s+(\w+)\?", declared, re.DOTALL)
    typed = [
        (
            key,
            *re.findall(r"Since SDK ([\d.]+)\.", about),
            *re.findall(r"permission `(\w+)`", about),
        )
        for about, key in members
    ]
    page = (ROOT / "docs/widget-contract.md").read_text(encoding="utf-8")
    table = page.partition("| Key | SDK |")[2].partition("\n\n")[0]
    rows = re.findall(r"^\| `(\w+)[^`]*` \| ([\d.]+) \| (?:`(\w+)`)?", table, re.MULTILINE)
    assert len(typed) == 12
    assert [tuple(filter(None, row)) for row in rows] == typed
