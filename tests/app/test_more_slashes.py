"""Paths with more slashes than necessary: redirected within this origin, never to another."""

from collections.abc import Iterator
from urllib.parse import urljoin, urlsplit

import pytest

from support.site import InProcessSite
from support.widgets import widget_line

ORIGIN = "https://catalog.example"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessSite]:
    """Shared: redirects do not depend on the catalog's content."""
    with InProcessSite(tmp_path_factory.mktemp("slashes") / "data") as made:
        yield made


def test_several_slashes_at_the_beginning_become_one(site: InProcessSite) -> None:
    cases = [
        ("//", "/"),
        ("///", "/"),
        ("//docs/api", "/docs/api"),
        ("//api/v1/widgets/acme/clock", "/api/v1/widgets/acme/clock"),
        ("////api/v1/widgets/search?q=a%20b&page=2", "/api/v1/widgets/search?q=a%20b&page=2"),
        ("//api/widgets/publish", "/api/widgets/publish"),
        ("//cdn/@acme/clock/1.0.0+b/index.js", "/cdn/@acme/clock/1.0.0+b/index.js"),
        ("//evil.example/x", "/evil.example/x"),
        ("//evil.example", "/evil.example"),
        ("///evil.example/%2e%2e", "/evil.example/%252e%252e"),  # In process, % is a literal %.
        ("//\\evil.example", "/%5Cevil.example"),
        ("//\\/evil.example", "/%5C/evil.example"),
        ("//\t/evil.example", "/%09/evil.example"),
        ("//\r\nx: y", "/%0D%0Ax:%20y"),
        ("//@evil.example", "/@evil.example"),
        ("//user:pw@evil.example:80/", "/user:pw@evil.example:80/"),
        ("//Größe?ö=\\", "/Gr%C3%B6%C3%9Fe?%C3%B6=%5C"),
        ("//\ud800?\ud800", "/%3F??"),
        ("//x#y", "/x%23y"),
    ]
    for address, target in cases:
        for method in ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"]:
            response = site.request(method, address)

            assert (response.status, response.body) == (308, b"")
            assert response.headers["location"] == target
            assert response.headers["x-content-type-options"] == "nosniff"
            assert target.isascii()
            assert target.isprintable()
            landed = urlsplit(urljoin(f"{ORIGIN}{address.partition('?')[0]}", target))
            assert f"{landed.scheme}://{landed.netloc}" == ORIGIN


def test_other_paths_are_not_redirected(site: InProcessSite) -> None:
    for address in ["/\\evil.example", "/./evil.example", "/docs//api", "/x//y"]:
        response = site.get(address)

        assert (response.status, "location" in response.headers) == (404, False)


def test_a_slash_at_the_end_of_a_page_is_dropped(site: InProcessSite) -> None:
    cases = [
        ("/docs/", "/docs"),
        ("/docs///", "/docs"),
        ("/search/?q=a%20b&page=2", "/search?q=a%20b&page=2"),
        ("/widgets/acme/clock/", "/widgets/acme/clock"),
        ("/widgets/acme/clock/1.0.0+b/", "/widgets/acme/clock/1.0.0+b"),
        ("/scopes/acme/", "/scopes/acme"),
        ("/preview/acme/clock/1.0.0/", "/preview/acme/clock/1.0.0"),
        ("/dashboard/", "/dashboard"),
        ("/sign-in/?next=/account", "/sign-in?next=/account"),
        ("/account/", "/account"),
        ("/account/widgets/", "/account/widgets"),
        ("/operate/", "/operate"),
        ("/openapi.json/", "/openapi.json"),
        ("/nowhere/", "/nowhere"),
        ("/\\evil.example/", "/%5Cevil.example"),
        ("/\\/evil.example/", "/%5C/evil.example"),
        ("/@evil.example/", "/@evil.example"),
        ("/https://evil.example/", "/https://evil.example"),
        ("/\t/evil.example/", "/%09/evil.example"),
        ("/x\r\ny: z/", "/x%0D%0Ay:%20z"),
    ]
    for address, target in cases:
        for method in ["GET", "HEAD"]:
            response = site.request(method, address)

            assert (response.status, response.body) == (308, b"")
            assert response.headers["location"] == target
            landed = urlsplit(urljoin(f"{ORIGIN}{address.partition('?')[0]}", target))
            assert f"{landed.scheme}://{landed.netloc}" == ORIGIN


def test_a_slash_at_the_end_is_significant_outside_pages(site: InProcessSite) -> None:
    cases = [
        "/api/v1/widgets/search/",
        "/api/version/",
        "/cdn/@acme/clock/1.0.0/",
        "/healthz/ready/",
    ]
    for path in cases:
        response = site.get(path)

        assert response.status in (401, 404)
        assert "location" not in response.headers


def test_a_form_with_a_slash_at_the_end_is_not_redirected(site: InProcessSite) -> None:
    assert site.request("POST", "/sign-in/").status == 404


def test_a_page_on_another_origin_can_follow_the_redirect_where_it_may_read(
    site: InProcessSite,
) -> None:
    site.add(widget_line("acme/clock"))

    for path in ("/api/v1/widgets/acme/clock", "/cdn/@acme/clock/1.0.0/index.js"):
        response = site.get(f"/{path}")
        assert response.headers["access-control-allow-origin"] == "*"
    assert site.get(site.get("//api/v1/widgets/acme/clock").headers["location"]).status == 200
    for path in ("//api/health", "//docs/api"):
        assert "access-control-allow-origin" not in site.get(path).headers


def test_a_path_that_is_too_long_is_not_redirected(site: InProcessSite) -> None:
    assert site.get("//" + "x" * 9000).status == 404
