"""`widget publish` that fails: rejections, lost connections, missing permissions."""

import json
from pathlib import Path

import pytest

from support.commands import Said
from support.scripted import DROPPED, Scripted, ScriptedServer, scripted_server
from tool.publishing import BUNDLE_URL, PUBLISH, SCOPES, edit
from tool.tool import Tool
from widget_cli import VERSION
from widget_cli.errors import ExitCode


def test_what_is_safe_is_tried_again_and_the_request_is_not(
    signed_in: Tool, widget: Path, catalog: ScriptedServer
) -> None:
    request = catalog.response_of("POST", PUBLISH)
    confirmed = Scripted(body={"success": True, "bundleUrl": BUNDLE_URL})
    busy = Scripted(503, {"error": "Just now not."})
    catalog.on("PUT", "/put", busy, DROPPED, Scripted(body={"success": True}))
    catalog.on("POST", PUBLISH, request, busy, confirmed)
    assert signed_in.run("publish", widget, "--yes").code == 0
    assert len(catalog.of("PUT", "/put")) == 3
    actions = [it.json()["action"] for it in catalog.of("POST", PUBLISH)]
    assert actions == ["request", "confirm", "confirm"]

    catalog.on("POST", PUBLISH, busy)
    catalog.asked.clear()
    assert signed_in.run("publish", widget, "--yes").code == 7
    assert len(catalog.of("POST", PUBLISH)) == 1


@pytest.mark.parametrize(
    ("status", "code", "hint"),
    [
        (400, 5, "Correct the widget, then publish again."),
        (403, 4, "or ask an owner of ann."),
        (413, 5, "Correct the widget, then publish again."),
        (500, 1, "Try again later; if it persists, contact the catalog's operator."),
    ],
)
def test_a_refusal_is_the_catalogs_sentence_and_a_hint(
    signed_in: Tool, widget: Path, catalog: ScriptedServer, status: int, code: int, hint: str
) -> None:
    catalog.on("POST", PUBLISH, Scripted(status, {"error": "That is why \x1b[2J [red]not[/]."}))
    said = signed_in.run("publish", widget, "--yes", "--json")
    assert said.code == code
    told = json.loads(said.out)
    assert told["exitCode"] == code
    assert told["hint"].endswith(hint)
    assert "Error: That is why \\x1b[2J [red]not[/].\n" in said.err
    assert "\x1b" not in said.out + said.err


def test_an_upload_that_is_refused_publishes_nothing(
    signed_in: Tool, widget: Path, catalog: ScriptedServer
) -> None:
    catalog.on("PUT", "/put", Scripted(404, {"error": "This upload has ended."}))
    said = signed_in.run("publish", widget, "--yes")
    assert (said.code, said.out) == (1, "")
    assert "This upload has ended.\n       Nothing was published. Run the same" in said.err


def test_a_store_that_refuses_the_upload_in_its_own_way_is_reported(
    signed_in: Tool, widget: Path, catalog: ScriptedServer
) -> None:
    catalog.on("PUT", "/put", Scripted(403, b"<Error><Code>AccessDenied</Code></Error>"))
    said = signed_in.run("publish", widget, "--yes")
    assert (said.code, said.out) == (1, "")
    assert "Error: The upload failed with status 403.\n       Nothing was" in said.err


def test_a_tool_that_is_too_old_stops_before_anything_is_sent(
    signed_in: Tool, widget: Path, catalog: ScriptedServer
) -> None:
    versions = {"minSupported": "99.0.0", "latest": "99.0.0"}
    catalog.on("GET", "/api/widgets/cli-version", Scripted(body=versions))
    said = signed_in.run("publish", widget, "--yes")
    assert (said.code, said.out) == (8, "")
    assert said.err.startswith(
        f"Error: This is widget {VERSION}, but {catalog.url} requires at least 99.0"
    )
    assert len(catalog.asked) == 1


def test_not_signed_in_is_reported_with_the_way_in(
    tool: Tool, widget: Path, catalog: ScriptedServer
) -> None:
    said = tool.run("publish", widget, "--yes")
    assert said == Said(
        3,
        "",
        f"Error: You are not signed in to {catalog.url}.\n"
        f"       Sign in: widget login {catalog.url} (or set WIDGET_TOKEN).\n",
    )


@pytest.mark.parametrize("option", ["--yes", "--dry-run"])
def test_a_scope_of_somebody_else_is_refused_before_a_plan_is_shown(
    signed_in: Tool, widget: Path, catalog: ScriptedServer, option: str
) -> None:
    edit(widget, scope="bob")
    said = signed_in.run("publish", widget, option)
    assert said == Said(
        4,
        "",
        "Error: You may not publish to the scope bob.\n"
        "       Choose one of your scopes with --scope (ann), or ask an owner of bob.\n",
    )
    assert catalog.of("POST", PUBLISH) == []


def test_who_may_publish_nowhere_is_reported(
    signed_in: Tool, widget: Path, catalog: ScriptedServer
) -> None:
    catalog.on("GET", SCOPES, Scripted(body={"scopes": []}))
    for choice in ((), ("--scope", "bob")):
        assert signed_in.run("publish", widget, "--yes", *choice) == Said(
            4,
            "",
            "Error: You may not publish to any scope.\n"
            "       Use a token that may publish, or ask the catalog's operator.\n",
        )


@pytest.mark.parametrize(
    "address",
    [
        "http://cdn.example/put",
        "http://127.0.0.1:1/put",
        "//cdn.example/put",
        "ftp://cdn.example/put",
        "file:///etc/passwd",
    ],
)
@pytest.mark.parametrize("key", ["uploadUrl", "cssUploadUrl"])
def test_nothing_is_uploaded_in_the_clear_to_anybody_else(
    signed_in: Tool, widget: Path, catalog: ScriptedServer, key: str, address: str
) -> None:
    edit(widget, style="look.css")
    (widget / "look.css").write_text("p {}")
    place = catalog.response_of("POST", PUBLISH)
    assert isinstance(place.body, dict)
    catalog.on("POST", PUBLISH, place._replace(body={**place.body, key: f"{address}?sig=1"}))
    said = signed_in.run("publish", widget, "--yes")
    assert (said.code, said.out) == (1, "")
    shown = address if "://" in address else f"http:{address}"
    more = " If you trust that network, add --insecure." if shown.startswith("http:") else ""
    assert said.err.endswith(
        f"Error: The catalog requested an upload to {shown}, which neither uses https nor is "
        f"{catalog.url} itself.\n"
        "       Nothing was sent. Ask the catalog's operator to check base_url and "
        f"s3_endpoint.{more}\n"
    )
    assert [it.method for it in catalog.asked].count("PUT") == 0


def test_an_object_store_without_https_is_used_if_a_person_agrees(
    signed_in: Tool, widget: Path, catalog: ScriptedServer
) -> None:
    with scripted_server() as store:
        store.on("PUT", "/put", Scripted())
        place = catalog.response_of("POST", PUBLISH)
        assert isinstance(place.body, dict)
        address = f"{store.url}/put?sig=1"
        catalog.on("POST", PUBLISH, place._replace(body={**place.body, "uploadUrl": address}))
        said = signed_in.run("publish", widget, "--yes", "--insecure")
        assert said.code == 0, said.err
        assert [it.method for it in store.asked] == ["PUT"]
        # The URL itself grants permission.
        assert "authorization" not in store.asked[0].headers


@pytest.mark.parametrize("address", ["ftp://cdn.example/put", "file:///etc/passwd"])
def test_what_is_no_web_address_is_refused_whatever_a_person_agrees_to(
    signed_in: Tool, widget: Path, catalog: ScriptedServer, address: str
) -> None:
    place = catalog.response_of("POST", PUBLISH)
    assert isinstance(place.body, dict)
    catalog.on("POST", PUBLISH, place._replace(body={**place.body, "uploadUrl": address}))
    said = signed_in.run("publish", widget, "--yes", "--insecure")
    assert (said.code, said.out) == (1, "")
    assert "Nothing was sent." in said.err


@pytest.mark.parametrize(
    ("status", "sentence"),
    [
        (403, "The operator has revoked this bundle (It steals). Change the module."),
        (503, "The store of the bundles cannot be reached just now. Nothing was done; try again."),
    ],
)
def test_what_the_catalog_advises_is_not_contradicted(
    signed_in: Tool, widget: Path, catalog: ScriptedServer, status: int, sentence: str
) -> None:
    catalog.on("POST", PUBLISH, Scripted(status, {"error": sentence}))
    said = signed_in.run("publish", widget, "--yes")
    assert said.err.endswith(f"Error: {sentence}\n")
    assert said.code == {403: ExitCode.NOT_ALLOWED, 503: ExitCode.UNREACHABLE}[status]
