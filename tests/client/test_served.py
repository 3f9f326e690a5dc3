"""The catalog serves the client to every origin, and the integrators' guide has its hash."""

import base64
import gzip
import hashlib
import json
import re
from pathlib import Path

import pytest

from client.runtimes import CLIENT, PAGE
from support.site import InProcessSite

SCRIPT = (CLIENT / "client.js").read_bytes()
DIGEST = hashlib.sha256(SCRIPT)
PINNED = f"/client/v1/client.{DIGEST.hexdigest()[:16]}.js"


FILES = json.loads((CLIENT / "package.json").read_text())["files"]
KINDS = {".js": "text/javascript", ".d.ts": "text/plain"}
AN_HOUR, FOR_GOOD = "public, max-age=3600", "public, max-age=31536000, immutable"


@pytest.mark.parametrize("name", [it for it in FILES if it.endswith(tuple(KINDS))])
def test_every_file_of_the_client_is_served_to_every_origin(site: InProcessSite, name: str) -> None:
    kind = KINDS["".join(Path(name).suffixes)]
    assert_served(site, f"/client/v1/{name}", (CLIENT / name).read_bytes(), kind, AN_HOUR)


def test_the_client_has_an_address_that_never_changes(site: InProcessSite) -> None:
    assert_served(site, PINNED, SCRIPT, "text/javascript", FOR_GOOD)


def assert_served(
    site: InProcessSite, path: str, content: bytes, content_type: str, caching: str
) -> None:
    response = site.get(path)
    assert (response.status, response.body) == (200, content)
    etag = response.headers.pop("etag")
    assert response.headers == {
        "content-type": f"{content_type}; charset=utf-8",
        "cache-control": caching,
        "vary": "accept-encoding",
        "cross-origin-resource-policy": "cross-origin",
        "access-control-allow-origin": "*",
        "x-content-type-options": "nosniff",
    }
    assert site.get(path, if_none_match=etag).status == 304


def test_everything_else_below_client_is_refused_in_the_shape_of_errors(
    site: InProcessSite,
) -> None:
    for path in ("/client/", "/client/v1/", "/client/v1/package.json", "/client/v2/client.js"):
        missing = site.get(path)
        assert missing.status == 404
        assert missing.json() == {"error": f"There is no file of the client at {path}."}
    refused = site.request("POST", "/client/v1/client.js")
    assert (refused.status, refused.headers["allow"]) == (405, "GET, HEAD")


def test_the_page_for_integrators_tells_the_pinned_address_and_its_integrity() -> None:
    integrity = "sha256-" + base64.b64encode(DIGEST.digest()).decode()
    page = PAGE.read_text(encoding="utf-8")
    assert set(re.findall(r"/client/v1/client\.[0-9a-f]+\.js", page)) == {PINNED}
    assert set(re.findall(r'integrity="([^"]+)"', page)) == {integrity}


def test_it_is_a_few_kilobytes_and_depends_on_nothing() -> None:
    assert len(gzip.compress(SCRIPT, 9)) <= 7_300
    assert not re.search(rb"^import\b|\bfrom\s+[\"']|require\(", SCRIPT, re.MULTILINE)
