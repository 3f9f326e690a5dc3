"""The OpenAPI document is valid, matches the committed copy, and matches the service."""

import copy
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.demo_site import running_demo_site
from support.npm import run_locked
from support.openapi import closed
from support.pictures import a_picture
from support.site import InProcessSite, Reply
from support.widgets import import_widgets, version_line, widget_line
from widget_catalog.catalog.api.openapi import openapi, printed
from widget_contract.described import COMPAT_SDK, SEMVER
from widget_contract.semver import InvalidVersion, SemVer

COMMITTED = Path(__file__).parents[2] / "docs" / "openapi.json"
COMMAND = "./dev run python -m widget_catalog.catalog.api.openapi > docs/openapi.json"
DOCUMENT: Any = openapi("Widget Catalog", "https://catalog.example")
# Responses have the documented fields and no others.
COMPONENTS = closed(DOCUMENT["components"])

CLOCK = "/api/v1/widgets/catalog/clock"
BUNDLE = "/cdn/@catalog/clock/2.0.0/index.js"
STYLED = "/cdn/@catalog/styled/2.0.0/"
SCREENSHOT = "/cdn/@{scope}/{name}/{version}/screenshots/{picture}"
OPERATIONS = [
    (path, method)
    for path, item in DOCUMENT["paths"].items()
    for method in item
    if method != "parameters"
]


@pytest.fixture(scope="module")
def demo_site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessSite]:
    """The example widgets, none of which has other files than a bundle, and one that has."""
    folder = tmp_path_factory.mktemp("demo")
    (folder / "1.js").write_text("export const mount = () => {};\n")
    (folder / "1.css").write_text(".styled { color: red; }\n")
    here = {"bundleFile": "1.js", "bundleUrl": None, "bundleSize": None, "sha256Hash": None}
    (folder / "1.md").write_text("# Styled\n")
    (folder / "1.png").write_bytes(a_picture())
    files = [
        {"path": "README.md", "file": "1.md"},
        {"path": "screenshots/light.png", "file": "1.png"},
    ]
    version = version_line("2.0.0", **here, cssFile="1.css", files=files)
    with running_demo_site(folder / "data") as site:
        import_widgets(
            site.node, widget_line("catalog/styled", versions=[version]), base_folder=folder
        )
        yield site


def followed(value: Any) -> Any:
    """The target of a reference; other values unchanged."""
    while "$ref" in value:
        _, *steps = value["$ref"].split("/")
        value = DOCUMENT
        for step in steps:
            value = value[step]
    return value


def validator(schema: Any) -> jsonschema_rs.Draft202012Validator:
    whole = {"components": COMPONENTS, "allOf": [schema]}
    return jsonschema_rs.Draft202012Validator(whole, validate_formats=True)


def assert_documented(path: str, method: str, response: Reply) -> None:
    """Status, headers and body of the response match the document of this operation."""
    documented = followed(DOCUMENT["paths"][path][method]["responses"][str(response.status)])
    for name, header in documented.get("headers", {}).items():
        assert name.lower() in response.headers, name
        value: object = response.headers[name.lower()]
        if followed(header)["schema"]["type"] == "integer":
            value = int(str(value))
        validator(followed(header)["schema"]).validate(value)
    content = documented.get("content")
    if content is None:
        assert response.response.body is None
        return
    media_type, _, charset = response.headers["content-type"].partition("; ")
    media = content[media_type]
    if "schema" not in media:
        assert charset == ""
        return
    assert charset == "charset=utf-8"
    body = response.json() if media_type == "application/json" else response.body.decode()
    validator(media["schema"]).validate(body)


def address_of(path: str) -> str:
    """A path with the examples of its parameters."""
    if path.endswith((".css", ".md", "{picture}")):
        path = STYLED + path.partition("{version}/")[2]
        return path.replace("{picture}", "light.png")
    for stated in DOCUMENT["paths"][path].get("parameters", []):
        parameter = followed(stated)
        path = path.replace(f"{{{parameter['name']}}}", parameter["example"])
    return path


def test_the_committed_copy_is_up_to_date() -> None:
    now = printed(openapi("Widget Catalog", "http://127.0.0.1:8080"))
    is_same = COMMITTED.exists() and COMMITTED.read_text(encoding="utf-8") == now
    assert is_same, f"docs/openapi.json is not what the code says; rewrite it with: {COMMAND}"


@pytest.mark.slow
def test_the_command_prints_the_committed_copy() -> None:
    command = [sys.executable, "-m", "widget_catalog.catalog.api.openapi"]
    done = subprocess.run(command, capture_output=True, check=True)
    assert done.stdout == COMMITTED.read_bytes()


def test_it_is_valid_openapi_3_1() -> None:
    # Imported here because it takes half a second, in every test process.
    from schemathesis.specs.openapi.definitions import OPENAPI_31

    jsonschema_rs.Draft202012Validator(OPENAPI_31).validate(DOCUMENT)
    for schema in DOCUMENT["components"]["schemas"].values():
        jsonschema_rs.meta.validate({"$schema": OPENAPI_31["$schema"], **schema})


def test_operations_have_names_of_their_own() -> None:
    names = [DOCUMENT["paths"][path][method]["operationId"] for path, method in OPERATIONS]
    assert len(names) == len(set(names))


def walk(value: Any) -> Iterator[dict[str, Any]]:
    """Every object in the document."""
    if isinstance(value, dict):
        yield value
    for inside in (
        value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    ):
        yield from walk(inside)


def test_every_reference_leads_somewhere_and_everything_is_referred_to() -> None:
    used = {it["$ref"] for it in walk(DOCUMENT) if isinstance(it.get("$ref"), str)}
    there = {
        f"#/components/{kind}/{name}"
        for kind, members in DOCUMENT["components"].items()
        for name in members
    }
    assert used == there


def test_every_example_fits_its_schema() -> None:
    seen = 0
    for part in walk(DOCUMENT):
        if isinstance(part.get("examples"), list):
            pairs = [(part, example) for example in part["examples"]]
        elif "schema" in part:
            examples = [each["value"] for each in part.get("examples", {}).values()]
            pairs = [(part["schema"], each) for each in [*examples, part.get("example")]]
        else:
            continue
        for schema, example in pairs:
            if example is not None:
                validator(schema).validate(example)
                seen += 1
    assert seen > 100


def test_every_parameter_field_header_and_response_has_an_example_and_a_description() -> None:
    components = DOCUMENT["components"]
    for part in [*components["parameters"].values(), *components["headers"].values()]:
        assert part["description"]
        assert "example" in part
    for schema in components["schemas"].values():
        for field in schema["properties"].values():
            assert field.get("description") or "$ref" in field
    for path, method in OPERATIONS:
        for response in DOCUMENT["paths"][path][method]["responses"].values():
            for kind, media in followed(response).get("content", {}).items():
                assert kind.startswith("image/") or "example" in media or "examples" in media


def test_every_operation_is_answered_as_documented(demo_site: InProcessSite) -> None:
    for path, method in OPERATIONS:
        sent = DOCUMENT["paths"][path][method].get("requestBody")
        example = "" if sent is None else json.dumps(sent["content"]["application/json"]["example"])
        response = demo_site.request(method.upper(), address_of(path), example.encode())
        assert response.status == 200
        assert_documented(path, method, response)


def test_every_widget_and_every_registry_is_as_documented(demo_site: InProcessSite) -> None:
    search = "/api/v1/widgets/search"
    found = demo_site.get(f"{search}?compatSdk=1.2.0&limit=100")
    assert_documented(search, "get", found)
    widgets = found.json()["widgets"]
    assert len(widgets) == 21
    for widget in widgets:
        detail = demo_site.get(f"/api/v1/widgets/{widget['scope']}/{widget['name']}")
        assert_documented("/api/v1/widgets/{scope}/{name}", "get", detail)
    for scope in {it["scope"] for it in widgets}:
        registry = demo_site.get(f"/api/widgets/{scope}/registry.json")
        assert_documented("/api/widgets/{scope}/registry.json", "get", registry)


def test_other_responses_are_as_documented(demo_site: InProcessSite) -> None:
    cases = [
        ("/api/v1/widgets/search", "GET", "/api/v1/widgets/search?page=0", {}, 400),
        ("/api/v1/widgets/search", "GET", "/api/v1/widgets/search?compatSdk=v1", {}, 400),
        ("/api/v1/widgets/search", "GET", "/api/v1/widgets/search?q=" + "x" * 257, {}, 400),
        ("/api/v1/widgets/search", "GET", "/api/v1/widgets/search?" + "x" * 9000, {}, 414),
        ("/api/v1/widgets/search", "PUT", "/api/v1/widgets/search", {}, 405),
        ("/api/v1/widgets/{scope}/{name}", "GET", CLOCK, {"if_none_match": "*"}, 304),
        ("/api/v1/widgets/{scope}/{name}", "GET", "/api/v1/widgets/no/body", {}, 404),
        ("/api/v1/widgets/{scope}/{name}", "GET", "/api/v1/widgets/No/Body", {}, 404),
        ("/api/v1/widgets/{scope}/{name}", "POST", "/api/v1/widgets/no/body", {}, 404),
        ("/api/v1/widgets/{scope}/{name}", "DELETE", CLOCK, {}, 405),
        ("/api/widgets/{scope}/registry.json", "GET", "/api/widgets/no/registry.json", {}, 404),
        ("/api/stats", "POST", "/api/stats", {}, 405),
        ("/cdn/@{scope}/{name}/{version}/index.js", "GET", BUNDLE, {"range": "bytes=0-99"}, 206),
        (
            "/cdn/@{scope}/{name}/{version}/index.js",
            "GET",
            BUNDLE,
            {"range": "bytes=9999999-"},
            416,
        ),
        ("/cdn/@{scope}/{name}/{version}/index.js", "GET", BUNDLE, {"if_none_match": "*"}, 304),
        ("/cdn/@{scope}/{name}/{version}/index.js", "GET", BUNDLE.replace("2.0", "9.9"), {}, 404),
        ("/cdn/@{scope}/{name}/{version}/index.js", "POST", BUNDLE, {}, 405),
        (SCREENSHOT, "GET", f"{STYLED}screenshots/light.thumb.webp", {}, 200),
        (SCREENSHOT, "GET", f"{STYLED}screenshots/light.png", {"range": "bytes=0-9"}, 206),
        (SCREENSHOT, "GET", f"{STYLED}screenshots/dark.png", {}, 404),
    ]
    for path, method, address, headers, status in cases:
        response = demo_site.request(method, address, **headers)
        assert response.status == status
        # Responses to other methods are documented at the methods of the path.
        known = method.lower() if method.lower() in DOCUMENT["paths"][path] else "get"
        assert_documented(path, known, response)


def test_a_rate_limit_responses_as_documented(tmp_path: Path) -> None:
    with InProcessSite(tmp_path / "data", rate_limit="1/minute") as site:
        site.get("/api/stats")
        response = site.get("/api/stats")
    assert response.status == 429
    assert_documented("/api/stats", "get", response)


def test_missing_bundles_response_as_documented(tmp_path: Path) -> None:
    with running_demo_site(tmp_path / "data") as site:
        site.node.folder.bundles.rename(tmp_path / "elsewhere")
        health, bundle = site.get("/api/health"), site.get(BUNDLE)
    assert (health.status, bundle.status) == (503, 503)
    assert_documented("/api/health", "get", health)
    assert_documented("/cdn/@{scope}/{name}/{version}/index.js", "get", bundle)


def test_limit_has_no_maximum_because_the_service_clamps_it(demo_site: InProcessSite) -> None:
    assert "maximum" not in DOCUMENT["components"]["parameters"]["limit"]["schema"]
    response = demo_site.get("/api/v1/widgets/search?limit=101")
    assert (response.status, response.json()["limit"]) == (200, 100)


@given(st.from_regex(COMPAT_SDK, fullmatch=True).filter(lambda text: len(text) <= 256))
def test_every_version_that_the_pattern_admits_is_one(text: str) -> None:
    SemVer.parse(text)


@pytest.mark.parametrize(
    "text",
    ["", "1", "1.2", "v1.2.3", "1.2.3.4", "01.2.3", "1.2.3-", "1.2.3-01", "1.2.3+", " 1.2.3", "*"],
)
def test_no_other_text_is_a_version_to_pattern_or_service(text: str) -> None:
    for pattern in (COMPAT_SDK, SEMVER):
        assert not validator({"type": "string", "pattern": pattern}).is_valid(text)
    with pytest.raises(InvalidVersion):
        SemVer.parse(text)


def test_requests_are_closed_and_responses_may_get_more_fields() -> None:
    """A generated client must accept the fields of later releases, and find misspelled keys."""
    for name in sorted(DOCUMENT["components"]["schemas"]):
        is_request = name in ("ResolveRequest", "InstalledWidget")
        for schema in walk(DOCUMENT["components"]["schemas"][name]):
            if "properties" in schema:
                assert schema.get("additionalProperties", True) is not is_request


def test_a_version_tells_its_files_as_documented(demo_site: InProcessSite) -> None:
    response = demo_site.get("/api/v1/widgets/catalog/styled/2.0.0")
    assert_documented("/api/v1/widgets/{scope}/{name}/{version}", "get", response)
    (_, *files, _thumbnail) = response.json()["files"]
    assert [(it["path"], it["contentType"]) for it in files] == [
        ("index.css", "text/css"),
        ("README.md", "text/markdown"),
        ("screenshots/light.png", "image/png"),
    ]
    schema = DOCUMENT["components"]["schemas"]["PublishedFile"]["properties"]
    for file in files:
        assert file["path"] in schema["path"]["examples"]
        assert file["contentType"] in schema["contentType"]["examples"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("script", "options"),
    [
        ("@redocly/cli/bin/cli.js", ["--format=json"]),
        ("@stoplight/spectral-cli/dist/index.js", ["--fail-severity=hint", "--format=json"]),
    ],
    ids=["redocly", "spectral"],
)
def test_other_peoples_linters_find_nothing(
    tmp_path: Path, script: str, options: list[str]
) -> None:
    (tmp_path / ".spectral.json").write_text('{"extends": ["spectral:oas"]}')
    (tmp_path / "redocly.yaml").write_text('extends: ["recommended"]\n')
    wrong = copy.deepcopy(DOCUMENT)
    del wrong["info"]["license"], wrong["paths"]["/api/stats"]["get"]["operationId"]

    def lint(document: Any) -> tuple[int, int]:
        """The exit code and the number of findings."""
        (tmp_path / "openapi.json").write_text(json.dumps(document))
        done = run_locked(script, "lint", "openapi.json", *options, folder=tmp_path)
        found, _ = json.JSONDecoder().raw_decode(done.stdout)  # A sentence may follow.
        return done.returncode, len(found["problems"] if isinstance(found, dict) else found)

    assert lint(DOCUMENT) == (0, 0)
    assert lint(wrong)[1] > 0


def test_the_document_is_plain_json() -> None:
    assert json.loads(json.dumps(DOCUMENT)) == DOCUMENT
