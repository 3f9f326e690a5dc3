"""The API reference shows all that the OpenAPI document says, and `/openapi.json` is that."""

import copy
from typing import Any

import pytest

from support.html import Html
from support.site import InProcessSite
from widget_catalog.web.openapi import openapi
from widget_catalog.web.pages.public.reference import reference

DOCUMENT: Any = openapi("Widget Catalog", "https://catalog.example")
OPERATIONS = [
    (path, method, operation)
    for path, item in DOCUMENT["paths"].items()
    for method, operation in item.items()
    if method != "parameters"
]


@pytest.fixture(scope="module")
def page(demo_site: InProcessSite) -> Html:
    return Html(demo_site.get("/docs/api").body)


def test_openapi_json_is_the_document_of_this_very_service(demo_site: InProcessSite) -> None:
    answer = demo_site.get("/openapi.json")
    assert answer.json() == DOCUMENT
    assert answer.headers["content-type"] == "application/json; charset=utf-8"
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize(
    ("path", "method", "operation"), OPERATIONS, ids=[it[2]["operationId"] for it in OPERATIONS]
)
def test_every_operation_is_told_in_full(
    page: Html, path: str, method: str, operation: dict[str, Any]
) -> None:
    told = page.one("section", id=operation["operationId"]).text
    assert f"{operation['summary']} # {method.upper()} {path}" in told
    assert operation["x-codeSamples"][0]["source"] in told
    given = [*DOCUMENT["paths"][path].get("parameters", []), *operation.get("parameters", [])]
    for it in given:
        parameter = DOCUMENT["components"]["parameters"][it["$ref"].rpartition("/")[2]]
        assert (
            f"{parameter['name']} {parameter['schema']['type']} · in the {parameter['in']}" in told
        )
    for status in operation["responses"]:
        assert status in told
    assert ("Example answer" in told) or ("?q=clock" in told)


def test_every_field_of_every_schema_is_told(page: Html) -> None:
    for name, schema in DOCUMENT["components"]["schemas"].items():
        section = page.one("section", id=f"schema-{name}").text
        for field in schema["properties"]:
            assert f" {field} " in f" {section} ", (name, field)


def test_types_are_told_in_words(page: Html) -> None:
    summary = page.one("section", id="schema-WidgetSummary").text
    assert "description string or null" in summary
    assert "latestVersion VersionEntry or null" in summary
    assert "latestCompatibleVersion VersionEntry or null · not always there" in summary
    assert "widgets array of WidgetSummary" in page.one("section", id="schema-SearchResults").text
    assert "checks.database string" in page.one("section", id="schema-Health").text
    assert 'one of "ok", "failing"' in page.one("section", id="schema-HealthFault").text


def test_every_anchor_is_there(page: Html) -> None:
    anchors = {link[1:] for link in page.links if link.startswith("#")}
    assert anchors <= set(page.ids)
    assert {"searchWidgets", "schema-VersionEntry", "header-ETag", "everywhere"} <= anchors


def test_the_contents_are_there_for_wide_and_for_narrow_windows(page: Html) -> None:
    wide, narrow = page.all("nav", **{"aria-label": "Contents"})
    assert wide.text == narrow.text
    assert "Search widgets" in wide.text


def test_examples_are_json_and_not_its_markup(page: Html) -> None:
    shown = [it.text for it in page.all("pre") if "sha256Hash" in it.text]
    assert shown
    for text in shown:
        assert '"scope": "catalog"' in text or '"revocations": [' in text
        assert "span" not in text
        assert "&#" not in text


def test_markup_in_a_description_stays_text() -> None:
    document = copy.deepcopy(DOCUMENT)
    document["info"]["description"] = "<script>alert(1)</script> *really* [x](javascript:alert(1))"
    about = reference(document).about
    assert "<script>" not in about
    assert "<em>really</em>" in about
    assert "href" not in about
