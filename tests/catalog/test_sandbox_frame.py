"""`/frame/v1`: its policy, and who may embed it."""

import base64
import hashlib
import re
from pathlib import Path

import pytest

from support.site import InProcessSite
from widget_catalog.catalog.model.settings import check_frame_url

PATH = "/frame/v1"


def test_the_frame_allows_its_own_script_and_nothing_of_any_network(site: InProcessSite) -> None:
    response = site.get(PATH)
    document = response.body.decode()
    [script] = re.findall(r"<script>(.*?)</script>", document, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; script-src 'sha256-{digest}' blob:; style-src 'unsafe-inline'; "
        "img-src data: blob:; font-src data: blob:; worker-src 'none'; form-action 'none'; "
        "base-uri 'none'"
    )
    assert response.status == 200
    # Before the script, or it would not hold for it.
    assert document.index(f'http-equiv="Content-Security-Policy" content="{policy}"') < (
        document.index("<script>")
    )
    headers = response.headers
    features = headers.pop("permissions-policy").split(", ")
    assert {"geolocation=()", "camera=()", "sync-xhr=()"} < set(features)
    assert all(re.fullmatch(r"[a-z-]+=\(\)", it) for it in features)
    etag = headers.pop("etag")
    assert headers == {
        "content-type": "text/html; charset=utf-8",
        "content-security-policy": f"sandbox allow-scripts; {policy}",
        "connection-allowlist": "()",
        "cross-origin-resource-policy": "cross-origin",
        "cross-origin-embedder-policy": "require-corp",
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "x-dns-prefetch-control": "off",
        "cache-control": "public, max-age=3600",
        "vary": "accept-encoding",
    }
    assert site.get(PATH, if_none_match=etag).status == 304


def test_only_named_sites_may_embed_it_where_the_operator_says_so(tmp_path: Path) -> None:
    with InProcessSite(
        tmp_path / "data", frame_origins="https://a.example", embed_origins="https://b.example"
    ) as site:
        policy = site.get(PATH).headers["content-security-policy"]
        assert policy.endswith("; frame-ancestors 'self' https://a.example https://b.example")


@pytest.mark.parametrize("path", ["a;script-src", "a,b", "a b", 'a"', "?a"])
def test_the_address_of_another_frame_cannot_change_the_policy_of_pages(path: str) -> None:
    assert check_frame_url("https://b.example/frame/v1") is None
    assert check_frame_url(f"https://b.example/{path}") is not None


def test_nothing_else_is_there(site: InProcessSite) -> None:
    assert site.get("/frame/v2").json() == {
        "error": "There is no frame at /frame/v2; it is /frame/v1."
    }
    refused = site.request("POST", PATH)
    assert (refused.status, refused.headers["allow"]) == (405, "GET, HEAD")
