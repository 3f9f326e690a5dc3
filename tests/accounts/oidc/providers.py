"""OpenID Connect providers for tests: a real one in a separate process, and a malicious one."""

import contextlib
import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx
from joserfc import jwt
from joserfc.jwk import OctKey, RSAKey

from support.service import NO_CERTIFICATES, free_port, wait_until_it_responses

PEOPLE: tuple[dict[str, Any], ...] = (
    {"sub": "1", "preferred_username": "Bob.Smith@example.com", "email": "bob@example.com"},
    {"sub": "2", "preferred_username": "ann", "email": "ann@elsewhere.example"},
    {"sub": "3", "preferred_username": "annie", "email": "ann@example.org"},
    {"sub": "4"},
    {"sub": "5", "preferred_username": "dora", "email": "dora@example.com"},
)


class Provider:
    """A running provider. `sign_in` is what a person does there."""

    def __init__(self, url: str) -> None:
        self.url = url

    def sign_in(self, address: str, subject: str) -> str:
        """Open the URL, sign in, and return the redirect URL."""
        response = self._post(address, {"sub": subject})
        assert response.status_code in (302, 303), response.text
        return response.headers["location"]

    def deny(self, address: str) -> str:
        return self._post(address, {"action": "deny"}).headers["location"]

    def _post(self, address: str, form: dict[str, str]) -> httpx.Response:
        return httpx.post(address, data=form, timeout=30, verify=NO_CERTIFICATES)


@contextlib.contextmanager
def running_provider(folder: Path) -> Iterator[Provider]:
    port = free_port()
    # It warns about deprecations in its own dependencies.
    command = [sys.executable, "-W", "ignore", "-m", "oidc_provider_mock", "--port", str(port)]
    for person in PEOPLE:
        command += ["--user-claims", json.dumps(person)]
    with (folder / "provider.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL)
    try:
        wait_until_it_responses(process, port, "/.well-known/openid-configuration")
        yield Provider(f"http://127.0.0.1:{port}")
    finally:
        process.kill()
        process.wait(60)


class LyingProvider:
    """Signs anything: `claims` and `header` of the ID token can be changed, and so can the key,
    the discovery document, and the token response.
    """

    def __init__(self) -> None:
        self.url = ""
        self._published = RSAKey.generate_key(2048, {"kid": "a"})
        self.tell_the_truth()

    def tell_the_truth(self) -> None:
        """Reset all changes."""
        self.key: RSAKey | OctKey = self._published
        self.header: dict[str, Any] = {"alg": "RS256", "kid": "a"}
        self.claims: dict[str, Any] = {}
        self.discovery: dict[str, Any] = {}
        self.exchanged: tuple[int, bytes] | None = None
        self.told: dict[str, Any] = {"sub": "s"}
        self.token: str | None = None
        self.asked: list[tuple[str, dict[str, str], dict[str, str]]] = []

    def sign_in(self, address: str) -> str:
        """Remember the nonce, and redirect immediately."""
        query = dict(parse_qsl(urlsplit(address).query))
        now = int(time.time())
        standard = {"iss": self.url, "aud": "catalog", "sub": "s", "iat": now, "exp": now + 60}
        self.claims = {**standard, "nonce": query["nonce"], **self.claims}
        return f"{query['redirect_uri']}?code=c&state={query['state']}"

    def response(self, path: str) -> tuple[int, bytes]:
        match path:
            case "/.well-known/openid-configuration":
                names = {"authorization_endpoint": "authorize", "token_endpoint": "token"}
                names |= {"jwks_uri": "jwks", "userinfo_endpoint": "userinfo"}
                places = {key: f"{self.url}/{name}" for key, name in names.items()}
                return 200, json.dumps({"issuer": self.url, **places, **self.discovery}).encode()
            case "/jwks":
                return 200, json.dumps({"keys": [self._published.as_dict(private=False)]}).encode()
            case "/token":
                if self.exchanged is not None:
                    return self.exchanged
                claims = {key: value for key, value in self.claims.items() if value is not None}
                algorithms = [self.header["alg"]]
                token = self.token or jwt.encode(self.header, claims, self.key, algorithms)
                body = {"access_token": "at", "token_type": "Bearer", "id_token": token}
                return 200, json.dumps(body).encode()
            case "/userinfo":
                return 200, json.dumps(self.told).encode()
        return 404, b"{}"


@contextlib.contextmanager
def lying_provider() -> Iterator[LyingProvider]:
    liar = LyingProvider()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            form = dict(parse_qsl(self.rfile.read(length).decode()))
            headers = {key.lower(): value for key, value in self.headers.items()}
            liar.asked.append((self.path, headers, form))
            status, body = liar.response(self.path)
            self.send_response(status)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_GET  # noqa: N815

        def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    liar.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield liar
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
