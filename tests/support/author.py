"""An author over the network: publishes to a running service with an access token."""

import hashlib
from typing import Any, Self

import httpx

from support.people import BUNDLE, PASSWORD, request_body
from support.service import NO_CERTIFICATES, Service
from widget_catalog.accounts.create_account import create_account
from widget_catalog.catalog.node.node import Node


class Author:
    """Publishes over real connections. Network errors are raised by httpx."""

    def __init__(self, url: str, token: str) -> None:
        headers = {"authorization": f"Bearer {token}"}
        self.client = httpx.Client(
            base_url=url, headers=headers, timeout=60, verify=NO_CERTIFICATES
        )
        # For upload URLs: an object store does not accept our tokens.
        self._anybody = httpx.Client(timeout=60, verify=NO_CERTIFICATES)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.client.close()
        self._anybody.close()

    def publish(self, key: str, version: str, js: bytes = BUNDLE, **more: Any) -> httpx.Response:
        """All three steps; returns the response of the first that fails, or of the last."""
        body = request_body(key, version, js, **more)
        requested = self.client.post("/api/widgets/publish", json=body)
        if requested.status_code != 200:
            return requested
        uploaded = self._anybody.put(requested.json()["uploadUrl"], content=js)
        if uploaded.status_code != 200:
            return uploaded
        confirm = {"action": "confirm", "versionId": requested.json()["versionId"]}
        return self.client.post("/api/widgets/publish", json=confirm)


def add_account(node: Node, username: str) -> None:
    """It owns what was imported into its scope."""
    create_account(node.store, username, f"{username}@example.org", PASSWORD, adopts=True)


def token_of(service: Service, username: str) -> str:
    """An access token that may publish wherever its account may."""
    with service.client() as client:
        credentials = {"username": username, "password": PASSWORD}
        session = client.post("/api/auth/sign-in", json=credentials)
        headers = {"x-csrf-token": session.json()["csrfToken"]}
        wanted = {"name": "test", "actions": ["publish", "yank", "deprecate", "list"]}
        made = client.post("/api/tokens", json=wanted, headers=headers)
    token: str = made.json()["token"]
    return token


def assert_whole(client: httpx.Client, entry: dict[str, Any]) -> None:
    """A listed version has its bundle, and the bundle has its hash."""
    bundle = client.get(entry["bundleUrl"])
    assert bundle.status_code == 200, entry
    assert len(bundle.content) == entry["bundleSize"]
    assert hashlib.sha256(bundle.content).hexdigest() == entry["sha256Hash"]
