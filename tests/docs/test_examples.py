"""The examples in the docs work: requests get the responses shown."""

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from support.demo_site import running_demo_site
from support.site import InProcessSite, Reply
from widget_catalog.accounts.settings import AccountSettings, parse_clients
from widget_catalog.core.db.migrate import SCHEMA
from widget_catalog.core.load_settings import load_settings
from widget_catalog.core.settings import PREFIX
from widget_catalog.transfer import ndjson
from widget_catalog.transfer.import_catalog import import_catalog
from widget_contract.semver import SemVer, is_compatible

ROOT = Path(__file__).parents[2]
README, PUBLIC_API, FOLLOWING, OPERATING, ADMINISTERING, IMPORTING, SETTINGS, ERRORS = (
    (ROOT / path).read_text(encoding="utf-8")
    for path in (
        "README.md",
        "docs/public-api.md",
        "docs/following-changes.md",
        "docs/operating.md",
        "docs/administering.md",
        "docs/import-and-export.md",
        "docs/settings.md",
        "docs/errors.md",
    )
)
PAGES = (README, PUBLIC_API, FOLLOWING, OPERATING, ADMINISTERING, IMPORTING, SETTINGS, ERRORS)
FIVE_REQUESTS = PUBLIC_API.partition("\n## In five requests\n")[2].partition("\n## ")[0]
_DEFAULT_URL = "http://127.0.0.1:8080"


class Shown(NamedTuple):
    """A command in the docs, and its documented output."""

    command: str
    output: str


def blocks(page: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)


def session(page: str) -> list[Shown]:
    shown = []
    for block in blocks(page, "console"):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.replace("\\\n", " ").partition("\n")
            shown.append(Shown(command, output))
    return shown


def ask(site: InProcessSite, command: str) -> Reply:
    """The response to a `curl` command, up to its first pipe."""
    _, *words = shlex.split(command.partition(" | ")[0])
    method, address, headers = "GET", "", {}
    while words:
        word = words.pop(0)
        if word in ("-X", "-H"):
            value = words.pop(0)
            if word == "-X":
                method = value
            else:
                key, _, text = value.partition(": ")
                headers[key.lower().replace("-", "_")] = text
        elif not word.startswith("-"):
            address = word.removeprefix(_DEFAULT_URL)
    return site.request(method, address, **headers)


def is_as_shown(response: str, shown: str) -> bool:
    """Whether it is equal except for white space, and for anything in place of `…`."""
    pieces = [re.escape("".join(piece.split())) for piece in shown.split("…")]
    return re.fullmatch(".*".join(pieces), "".join(response.split())) is not None


@pytest.fixture
def demo_site(tmp_path: Path) -> Iterator[InProcessSite]:
    with running_demo_site(tmp_path / "data") as site:
        yield site


def test_the_five_requests_get_the_responses_shown(demo_site: InProcessSite) -> None:
    compared = 0
    for command, output in session(FIVE_REQUESTS):
        if command.startswith("curl") and " | " not in command:
            response = ask(demo_site, command).body.decode()
            assert is_as_shown(
                response.replace(demo_site.settings.public_url, _DEFAULT_URL), output
            )
            compared += 1
    assert compared == 4


def test_the_hash_in_the_five_requests_is_that_of_the_bundle(demo_site: InProcessSite) -> None:
    ((command, output),) = [it for it in session(FIVE_REQUESTS) if "sha256sum" in it.command]
    assert ask(demo_site, command).headers["etag"] == f'"{output.split()[0]}"'


def test_every_curl_command_for_integrators_is_answered(demo_site: InProcessSite) -> None:
    commands = [it.command for it in session(PUBLIC_API.replace(FIVE_REQUESTS, ""))]
    assert len(commands) >= 5
    for command in commands:
        assert ask(demo_site, command).status == 200, command


def test_ranges_admit_what_the_table_says() -> None:
    table = PUBLIC_API.partition("| `sdkVersion` | admits |")[2].partition("\n\n")[0]
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in table.splitlines()[2:]]
    assert len(rows) == 9
    for about, admitted, refused in rows:
        (text,) = re.findall(r"`([^`]+)`", about.replace("\\|", "|"))
        for cell, expected in ((admitted, True), (refused, False)):
            for sdk in re.findall(r"`([^`]+)`", cell):
                assert is_compatible(text, SemVer.parse(sdk)) is expected, (text, sdk)


def test_every_reason_of_a_400_is_given_in_these_words(demo_site: InProcessSite) -> None:
    told = ERRORS.partition("## What exactly is a 400")[2].partition("\n\n## ")[0]
    sentences = set(re.findall(r"^\| `([^`]+\.)` \|", told, re.MULTILINE))
    queries = (
        "q=" + "x" * 300,
        "compatSdk=1",
        "official=maybe",
        "page=0",
        "limit=0",
        "q=%",
        "q=%ff",
    )
    responses = [demo_site.get(f"/api/v1/widgets/search?{query}") for query in queries]
    assert {response.json()["error"] for response in responses} == sentences
    assert {response.status for response in responses} == {400}


def test_the_settings_file_is_taken(tmp_path: Path) -> None:
    file = tmp_path / "settings.toml"
    taken = []
    for example in (*blocks(SETTINGS, "toml"), *blocks(ADMINISTERING, "toml")):
        file.write_text(example)
        taken.append(load_settings(file=file, environment={}))
    whole, *others = taken
    clients, another_tool, provider = (it.of(AccountSettings) for it in others)
    assert (whole.workers, whole.metrics_port) == (2, 9108)
    assert list(parse_clients(clients.oauth_clients)) == [
        "widget-cli",
        "dashboard",
    ]
    assert list(parse_clients(another_tool.oauth_clients)) == [
        "widget-cli",
        "acme-publish",
    ]
    assert provider.oidc_name == "Example Login"


@pytest.mark.parametrize("page", [SETTINGS, OPERATING], ids=["settings", "operating"])
def test_the_environment_file_is_taken(page: str) -> None:
    (example, *_) = [it for it in blocks(page, "ini") if it.startswith(PREFIX)]
    environment = dict(line.split("=", 1) for line in example.splitlines())
    assert load_settings(environment=environment).base_url == "https://catalog.example"


def test_the_database_that_is_refused_has_a_schema_beyond_this_release() -> None:
    (schema,) = re.findall(r"\(its schema is '(\d+)'\)", OPERATING)
    assert int(schema) > int(SCHEMA)


def test_the_line_of_the_import_format_is_taken(site: InProcessSite, tmp_path: Path) -> None:
    (line,) = [it for it in blocks(IMPORTING, "json") if '"scope"' in it]
    (tmp_path / "bundles").mkdir()
    bundle = tmp_path / json.loads(line)["versions"][0]["bundleFile"]
    bundle.write_text("export function mount() {}\n")
    node = site.node
    summary = import_catalog(node.store, node.bundles, [line.encode()], tmp_path, 1000)
    assert (summary.widgets_added, summary.bundles_stored) == (1, 1)
    assert site.get("/api/v1/widgets/acme/hello").json()["latestVersion"] == "1.0.0"


@pytest.mark.parametrize("kind", ["WidgetLine", "VersionLine"])
def test_the_tables_of_the_import_format_name_every_key(kind: str) -> None:
    heading = {"WidgetLine": "| Key of a widget |", "VersionLine": "| Key of a version |"}[kind]
    table = IMPORTING.partition(heading)[2].partition("\n\n")[0]
    told = {
        key for line in table.splitlines()[2:] for key in re.findall(r"`(\w+)`", line.split("|")[1])
    }
    assert told == set(getattr(ndjson, kind).__struct_encode_fields__)


def test_every_json_example_is_json() -> None:
    lines = [
        line for page in PAGES for block in blocks(page, "json") for line in block.splitlines()
    ]
    assert len(lines) >= 4
    for line in lines:
        json.loads(line)
