"""People: accounts created and signed in by the real code, who publish over the site."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

import sqlalchemy as sa

from support.site import InProcessSite, Reply
from widget_catalog.accounts.create_account import create_account
from widget_catalog.accounts.oauth.store import Grant, TokenPair, add_grant, add_pair
from widget_catalog.accounts.settings import SCOPES
from widget_catalog.accounts.store import get_account
from widget_catalog.accounts.tables import sessions
from widget_catalog.core.credentials import OAUTH_PREFIX, hash_secret, new_id, new_secret

PASSWORD = "correct horse battery"
BUNDLE = b"export function mount(element) { element.textContent = 'hello'; }\n"


class Person:
    """A client with these headers: of a session, a bearer token, or none."""

    def __init__(self, site: InProcessSite, username: str, headers: dict[str, str]) -> None:
        self.site = site
        self.username = username
        self.headers = headers

    def get(self, address: str) -> Reply:
        return self.site.request("GET", address, **self.headers)

    def post(self, address: str, body: object = None) -> Reply:
        return self.send("POST", address, body)

    def put(self, address: str, body: object = None) -> Reply:
        return self.send("PUT", address, body)

    def delete(self, address: str) -> Reply:
        return self.send("DELETE", address)

    def send(self, method: str, address: str, body: object = None) -> Reply:
        sent = b"" if body is None else json.dumps(body).encode()
        kind = {"content_type": "application/json"} if sent else {}
        return self.site.request(method, address, sent, **kind, **self.headers)

    def request(
        self,
        key: str,
        version: str = "1.0.0",
        js: bytes = BUNDLE,
        *,
        files: object = None,
        **more: Any,
    ) -> Reply:
        body = request_body(key, version, js, **more)
        return self.post("/api/widgets/publish", body | ({} if files is None else {"files": files}))

    def upload(self, url: str, content: bytes) -> Reply:
        return self.site.request("PUT", url.removeprefix("https://catalog.example"), content)

    def confirm(self, version_id: str) -> Reply:
        return self.post("/api/widgets/publish", {"action": "confirm", "versionId": version_id})

    def publish(
        self,
        key: str,
        version: str = "1.0.0",
        js: bytes = BUNDLE,
        *,
        files: Any = None,
        **more: Any,
    ) -> Reply:
        """All three steps; returns the response of the first that fails, or of the last. `files`
        are further ones, by path.
        """
        announced = None if files is None else announce(files)
        requested = self.request(key, version, js, files=announced, **more)
        if requested.status != 200:
            return requested
        for path, content in (files or {}).items():
            uploaded = self.upload(requested.json()["uploadUrls"][path], content)
            if uploaded.status != 200:
                return uploaded
        uploaded = self.upload(requested.json()["uploadUrl"], js)
        return uploaded if uploaded.status != 200 else self.confirm(requested.json()["versionId"])


def nobody(site: InProcessSite) -> Person:
    return Person(site, "", {})


def a_person(site: InProcessSite, username: str, *, is_operator: bool = False) -> Person:
    """A new account, signed in with a session."""
    email = f"{username}@example.org"
    create_account(site.node.store, username, email, PASSWORD, is_operator=is_operator)
    return signed_in(site, username)


def signed_in(site: InProcessSite, username: str, password: str = PASSWORD) -> Person:
    response = nobody(site).post("/api/auth/sign-in", {"username": username, "password": password})
    assert response.status == 200, response.json()
    cookie = response.headers["set-cookie"].partition(";")[0]
    return Person(site, username, {"cookie": cookie, "x_csrf_token": response.json()["csrfToken"]})


def confirm_all(site: InProcessSite) -> None:
    """As if everybody had just re-authenticated, in all their sessions."""
    with site.node.store.writing() as tx:
        tx.connection.execute(sa.update(sessions).values(confirmed_at=tx.at_ms))


def with_token(person: Person, **limits: Any) -> Person:
    """This person's account, with an access token."""
    confirm_all(person.site)
    body = {"name": "a token", "actions": ["publish"], **limits}
    response = person.post("/api/tokens", body)
    assert response.status == 201, response.json()
    headers = {"authorization": f"Bearer {response.json()['token']}"}
    return Person(person.site, person.username, headers)


def with_oauth(person: Person, lifetime_s: int = 3600) -> Person:
    """This person's account, with an OAuth access token of a client."""
    access, store = new_secret(OAUTH_PREFIX), person.site.node.store
    with store.writing() as tx:
        account = get_account(tx.connection, person.username)
        grant = Grant(new_id(), account.id, "widget-cli", " ".join(SCOPES), tx.at_ms)
        ends_at = tx.at_ms + lifetime_s * 1000
        add_grant(tx, grant)
        hashes = (hash_secret(access), hash_secret(new_id()))
        add_pair(tx, TokenPair(*hashes, grant.id, tx.at_ms, ends_at, ends_at, None))
    return Person(person.site, person.username, {"authorization": f"Bearer {access}"})


def manifest(name: str, version: str = "1.0.0", **more: Any) -> dict[str, Any]:
    return {
        "name": name,
        "version": version,
        "displayName": "Clock",
        "description": "The time.",
        "icon": "mdi:clock-outline",
        "minSize": {"w": 1, "h": 1},
        "maxSize": {"w": 4, "h": 2},
        "sdkVersion": "^1.0.0",
        **more,
    }


def announce(files: Mapping[str, bytes]) -> list[dict[str, object]]:
    """The value `files` of a request."""
    return [
        {"path": path, "size": len(content), "sha256Hash": hashlib.sha256(content).hexdigest()}
        for path, content in files.items()
    ]


def request_body(
    key: str, version: str = "1.0.0", js: bytes = BUNDLE, action: str = "request", **more: Any
) -> dict[str, Any]:
    """A publish request; `more` goes into the manifest, or next to it where it belongs."""
    scope, _, name = key.partition("/")
    said = manifest(name, version, **more)
    beside = "name version displayName description icon minSize maxSize sdkVersion".split()
    return {
        "action": action,
        "scope": scope,
        **{key: said[key] for key in beside if key in said},
        "bundleSize": len(js),
        "sha256Hash": hashlib.sha256(js).hexdigest(),
        "manifestJson": json.dumps(said),
    }
