"""The API reference shows everything in the OpenAPI document, which `/openapi.json` serves."""

import copy
from typing import Any

import pytest

from support.html import Html
from support.site import InProcessSite
from widget_catalog.catalog.api.openapi import openapi
from widget_catalog.pages.reference import ReferenceReader
from widget_contract.manifest_schema import printed

DOCUMENT: Any = openapi("Widget Catalog", "https://catalog.example")
OPERATIONS = [
    (path, method, operation)
    for path, item in DOCUMENT["paths"].items()
    for method, operation in item.items()
    if method != "parameters"
]


TRIED = {
    "searchWidgets": ("q=clock&scope=&page=", "/api/v1/widgets/search?q=clock"),
    "getWidget": ("scope=catalog&name=clock", "/api/v1/widgets/catalog/clock"),
    "getWidgetVersion": (
        "scope=catalog&name=clock&version=2.0.0",
        "/api/v1/widgets/catalog/clock/2.0.0",
    ),
    "listChanges": ("since=3&limit=1", "/api/v1/widgets/changes?since=3&limit=1"),
    "listRevocations": ("", "/api/v1/widgets/revocations"),
    "getRegistry": ("scope=catalog", "/api/widgets/catalog/registry.json"),
    "getHealth": ("", "/api/health"),
    "getVersion": ("", "/api/version"),
    "getCliVersion": ("", "/api/widgets/cli-version"),
    "getStats": ("", "/api/stats"),
    "getSettings": ("", "/api/settings"),
}


def page_of(site: InProcessSite, path: str = "") -> Html:
    response = site.get(f"/docs/api{path}")
    assert response.status == 200
    return Html(response.body)


@pytest.fixture(scope="module")
def overview(demo_site: InProcessSite) -> Html:
    return page_of(demo_site)


@pytest.fixture(scope="module")
def schemas(demo_site: InProcessSite) -> Html:
    return page_of(demo_site, "/schemas")


def test_openapi_json_is_the_document_of_this_very_service(demo_site: InProcessSite) -> None:
    response = demo_site.get("/openapi.json")
    assert response.json() == DOCUMENT
    assert response.headers["content-type"] == "application/json; charset=utf-8"
    assert "access-control-allow-origin" not in response.headers


def test_every_operation_is_described_in_full(demo_site: InProcessSite) -> None:
    for path, method, operation in OPERATIONS:
        page = page_of(demo_site, f"/{operation['operationId']}")
        assert page.one("h1").text == operation["summary"]
        told = page.one("section", id=operation["operationId"]).text
        assert f"{method.upper()} {path}" in told
        assert operation["x-codeSamples"][0]["source"] in told
        given = [*DOCUMENT["paths"][path].get("parameters", []), *operation.get("parameters", [])]
        for stated in given:
            parameter = DOCUMENT["components"]["parameters"][stated["$ref"].rpartition("/")[2]]
            assert (
                f"{parameter['name']} {parameter['schema']['type']} · in the {parameter['in']}"
                in told
            )
        for status in operation["responses"]:
            assert status in told
        is_text = "/screenshots/" not in path
        assert ("Example response" in told) or ("?q=clock" in told) or not is_text


def test_the_overview_leads_to_every_operation(overview: Html) -> None:
    for path, method, operation in OPERATIONS:
        told = overview.one("li", id=operation["operationId"]).text
        assert told == f"{operation['summary']} {method.upper()} {path}"
        assert f"/docs/api/{operation['operationId']}" in overview.links


def test_every_field_of_every_schema_is_described(schemas: Html) -> None:
    for name, schema in DOCUMENT["components"]["schemas"].items():
        section = schemas.one("section", id=f"schema-{name}").text
        if name == "OfferedVersion":
            assert "A VersionEntry, with the style sheet of the version." in section
            section += schemas.one("section", id="schema-VersionEntry").text
        for field in schema["properties"]:
            assert f" {field} " in f" {section} ", (name, field)


def test_types_are_described_in_words(schemas: Html) -> None:
    summary = schemas.one("section", id="schema-WidgetSummary").text
    assert "description string or null" in summary
    assert "latestVersion VersionEntry or null" in summary
    assert "latestCompatibleVersion VersionEntry or null · optional" in summary
    found = schemas.one("section", id="schema-SearchResults").text
    assert "widgets array of WidgetSummary" in found
    assert "checks.database string" in schemas.one("section", id="schema-Health").text
    assert 'one of "ok", "failing"' in schemas.one("section", id="schema-HealthFault").text


def test_every_anchor_is_there(demo_site: InProcessSite) -> None:
    paths = ["", "/schemas", *(f"/{it['operationId']}" for _, _, it in OPERATIONS)]
    pages = {f"/docs/api{path}": page_of(demo_site, path) for path in paths}
    anchors = set()
    for path, page in pages.items():
        for link in page.links:
            target, _, anchor = link.partition("#")
            if anchor and (target or path) in pages:
                assert anchor in pages[target or path].ids, (path, link)
                anchors.add(anchor)
    assert {"schema-VersionEntry", "header-ETag", "everywhere"} <= anchors


def test_the_contents_are_there_for_wide_and_for_narrow_windows(overview: Html) -> None:
    (wide,) = overview.all("nav", **{"aria-label": "Contents"})
    (narrow,) = overview.all("nav", **{"aria-label": "Contents, folded"})
    assert wide.text == narrow.text
    assert "Search widgets" in wide.text


def test_examples_are_json_and_not_its_markup(demo_site: InProcessSite) -> None:
    pages = [page_of(demo_site, f"/{it['operationId']}") for _, _, it in OPERATIONS]
    shown = [it.text for page in pages for it in page.all("pre") if "sha256Hash" in it.text]
    assert shown
    for text in shown:
        assert '"scope": "catalog"' in text or '"revocations": [' in text
        assert "span" not in text
        assert "&#" not in text


def test_whatever_only_reads_json_can_be_tried(demo_site: InProcessSite) -> None:
    for _, method, operation in OPERATIONS:
        page = page_of(demo_site, f"/{operation['operationId']}")
        forms = [it for it in page.all("form") if "data-try" in it.attributes]
        is_json = "application/json" in operation["responses"]["200"]["content"]
        name = operation["operationId"]
        assert len(forms) == (is_json and (method == "get" or name == "resolveWidgets")), name
        assert bool(forms) == (name in TRIED or name == "resolveWidgets")


@pytest.mark.parametrize("name", TRIED)
def test_a_form_leads_to_the_response(demo_site: InProcessSite, name: str) -> None:
    query, address = TRIED[name]
    response = demo_site.get(f"/docs/api/{name}/try?{query}")
    assert (response.status, response.headers["location"]) == (303, address)
    assert demo_site.get(address).status == 200


def test_a_form_leads_nowhere_else(demo_site: InProcessSite) -> None:
    def location(query: str) -> str:
        return demo_site.get(f"/docs/api/getWidget/try?{query}").headers["location"]

    assert location("scope=a/../..&name=x?y#z") == "/api/v1/widgets/a%2F..%2F../x%3Fy%23z"
    assert location("scope=//evil.example&name=a%0d%0ab") == (
        "/api/v1/widgets/%2F%2Fevil.example/a%0D%0Ab"
    )
    for query in ("", "scope=a", "scope=..&name=.", "scope=+&name=b"):
        assert location(query) == "/docs/api/getWidget#try"
    for name in ("countDownload", "resolveWidgets", "getBundle", "nothing"):
        assert demo_site.get(f"/docs/api/{name}/try").status == 404
    refused = demo_site.request("POST", "/docs/api/getHealth/try")
    assert (refused.status, refused.headers["allow"]) == (405, "GET, HEAD")


def test_markup_in_a_description_stays_text() -> None:
    document = copy.deepcopy(DOCUMENT)
    document["info"]["description"] = "<script>alert(1)</script> *really* [x](javascript:alert(1))"
    about = ReferenceReader(document).read()["about"]
    assert "<script>" not in about
    assert "<em>really</em>" in about
    assert "href" not in about


def test_the_schema_of_manifests_is_served_to_every_editor(demo_site: InProcessSite) -> None:
    response = demo_site.get("/schema/widget.json")
    assert (response.status, response.body.decode()) == (200, printed())
    assert response.headers["content-type"] == "application/json; charset=utf-8"
    assert response.headers["access-control-allow-origin"] == "*"
    tag = response.headers["etag"]
    assert demo_site.get("/schema/widget.json", if_none_match=tag).status == 304
