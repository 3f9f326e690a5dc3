"""The authors' tool on a machine that is signed in to a running service, or has an access token."""

import time
from pathlib import Path
from urllib.parse import parse_qsl, urlsplit

from accounts.oauth.program import BASE, authorize_address, code_fields
from support.html import Html
from support.people import PASSWORD
from support.service import Service
from tool.tool import Tool, register
from widget_cli.credentials import Credentials, SignIn


def machine(
    service: Service, username: str, home: Path, *actions: str, widgets: tuple[str, ...] = ()
) -> Tool:
    """A machine with an access token of this account."""
    with service.client() as client:
        register(client, username)
        wanted = {
            "name": "ci",
            "actions": list(actions or ("publish",)),
            "widgets": widgets,
            "expiresInDays": 1,
        }
        made = client.post("/api/tokens", json=wanted)
        assert made.status_code == 201, made.text
    home.mkdir()
    tool = Tool(home, service.url)
    tool.environment["WIDGET_TOKEN"] = made.json()["token"]
    return tool


def signed_tool(service: Service, home: Path, username: str) -> Tool:
    """Signed in as `widget login` does."""
    with service.client() as client:
        credentials = {"username": username, "password": PASSWORD}
        assert client.post("/api/auth/sign-in", json=credentials).status_code == 200
        address = authorize_address()
        page = Html(client.get(address).content)
        hidden = [it.attributes for it in page.all("input", type="hidden")]
        fields = {str(it["name"]): str(it["value"]) for it in hidden}
        agreed = client.post(address, data={**fields, "decision": "continue"})
        assert agreed.status_code == 303, agreed.text
        told = dict(parse_qsl(urlsplit(agreed.headers["location"]).query))
        tokens = client.post(f"{BASE}/token", data=code_fields(told["code"])).json()
    home.mkdir()
    tool = Tool(home, service.url)
    sign_in = SignIn(
        username=username,
        client_id="widget-cli",
        access_token=tokens["access_token"],
        refresh_token=tokens["refresh_token"],
        expires_at_s=int(time.time()) + int(tokens["expires_in"]),
    )
    with Credentials(tool.config).writing() as writer:
        writer.save(service.url, sign_in, becomes_default=True)
    return tool
