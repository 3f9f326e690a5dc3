"""A scripted catalog, a separate machine for the tool, and a widget to publish."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.folders import empty_folder
from support.people import PASSWORD
from support.scripted import Scripted, ScriptedServer, scripted_server
from support.service import Service, running_service
from tool.publishing import BUNDLE_URL, DETAIL, NONE, OWN_DETAIL, PUBLISH, SCOPES
from tool.signed_tool import machine, signed_tool
from tool.tool import Tool, register
from widget_cli.credentials import Credentials, SignIn

SETTINGS = {"cliClientId": "widget-cli", "maxBundleBytes": 2_097_152, "serviceName": "Scripted"}


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    """A catalog with its metadata; the test scripts the rest."""
    with scripted_server() as made:
        versions = {"minSupported": "0.1.0", "latest": "0.1.0"}
        made.on("GET", "/api/widgets/cli-version", Scripted(body=versions))
        made.on("GET", "/api/settings", Scripted(body=SETTINGS))
        yield made


@pytest.fixture
def tool(tmp_path: Path, server: ScriptedServer) -> Tool:
    """A machine configured for the scripted catalog, not signed in."""
    home = tmp_path / "home"
    home.mkdir()
    return Tool(home, server.url)


@pytest.fixture
def signed_in(tool: Tool, server: ScriptedServer) -> Tool:
    """A machine of an author, signed in as ann for an hour."""
    sign_in = SignIn(
        username="ann",
        client_id="widget-cli",
        access_token="wco_access-1",
        refresh_token="wcr_refresh-1",
        expires_at_s=int(time.time()) + 3600,
    )
    with Credentials(tool.config).writing() as writer:
        writer.save(server.url, sign_in, becomes_default=True)
    return tool


@pytest.fixture(scope="module")
def open_service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """The real service, in which anybody may register."""
    data = empty_folder(tmp_path_factory.mktemp("catalog") / "data")
    with running_service(data, "--set", "registration=open") as running:
        yield running


@pytest.fixture
def author(open_service: Service, tmp_path: Path, request: pytest.FixtureRequest) -> Tool:
    """A machine with the access token of an account of this test alone."""
    number = request.session.items.index(request.node)
    return machine(open_service, f"ann-{number}", tmp_path / "checkout")


@pytest.fixture
def ann(open_service: Service, tmp_path: Path) -> Tool:
    """A machine on which ann is signed in."""
    with open_service.client() as client:
        credentials = {"username": "ann", "password": PASSWORD}
        if client.post("/api/auth/sign-in", json=credentials).status_code != 200:
            register(client, "ann")
    return signed_tool(open_service, tmp_path / "ann", "ann")


@pytest.fixture
def widget(tool: Tool) -> Path:
    """A new widget, as created by `widget init`, with a description."""
    return tool.begin("clock")


@pytest.fixture
def catalog(server: ScriptedServer) -> ScriptedServer:
    """A catalog that accepts the widget: `request`, then `confirm`."""
    scopes = [{"name": "ann", "type": "personal", "displayName": "Ann"}]
    server.on("GET", SCOPES, Scripted(body={"scopes": scopes}))
    server.on("GET", DETAIL, NONE)
    server.on("GET", OWN_DETAIL, NONE)
    place = {"uploadUrl": f"{server.url}/put?sig=1", "cdnUrl": BUNDLE_URL, "widgetId": "w"}
    request = Scripted(body={**place, "versionId": "v1", "cssUploadUrl": "/put-css?sig=2"})
    server.on("POST", PUBLISH, request, Scripted(body={"success": True, "bundleUrl": BUNDLE_URL}))
    server.on("PUT", "/put", Scripted(body={"success": True}))
    server.on("PUT", "/put-css", Scripted(body={"success": True}))
    return server
