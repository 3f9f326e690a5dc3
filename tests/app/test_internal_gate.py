"""Everything else under /api/: 401 without a session, 404 under /api/v1/."""

from collections.abc import Iterator

import pytest

from support.site import InProcessSite
from support.widgets import widget_line

SIGNED_IN_ONLY = {"error": "This address is for signed-in people only."}
METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "BREW"]


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessSite]:
    with InProcessSite(tmp_path_factory.mktemp("shop") / "data") as site:
        site.add(widget_line("acme/clock"), widget_line("health/health"))
        yield site


def test_any_other_address_is_401_whether_it_exists_or_not(shop: InProcessSite) -> None:
    cases = [
        "/api/", "/api//", "/api/nothing", "/api/widgets", "/api/widgets/", "/api/widgets/scopes",
        "/api/widgets/publish", "/api/widgets/acme", "/api/widgets/acme/",
        "/api/widgets/acme/clock", "/api/widgets/acme/registry",
        "/api/widgets/acme/registry.json/", "/api/v1", "/api/v2/widgets",
        "/api/widgets/acme/Registry.json", "/api/widgets/acme/clock/registry.json",
        "/api/widgets//acme/registry.json", "/api/widgets/registry.json", "/api/registry.json",
        "/api/widgets//registry.json", "/api/health/", "/api/Health", "/api/HEALTH",
        "/api/health.json", "/api//health", "/api/health/health", "/api/version/", "/api/stats/",
        "/api/settings/", "/api/settings/secret", "/api/widgets/cli-version/",
        "/api/widgets/CLI-version", "/api/cli-version", "/api/V1/widgets", "/api/./health",
        "/api/../api/health", "/api/health%20", "/api/\u00e9", "/api/health\x00",
    ]  # fmt: skip
    for path in cases:
        for method in METHODS:
            response = shop.request(method, path)

            assert (response.status, response.json()) == (401, SIGNED_IN_ONLY)
            assert response.headers == {
                "content-type": "application/json; charset=utf-8",
                "x-content-type-options": "nosniff",
                "www-authenticate": "Bearer",
            }


@pytest.mark.parametrize(
    ("header", "value"),
    [
        ("authorization", "Bearer nonsense"),
        ("authorization", "Basic eA=="),
        ("cookie", "__Host-session=1"),
    ],
)
def test_credentials_that_nobody_gave_out_open_nothing(
    shop: InProcessSite, header: str, value: str
) -> None:
    assert shop.get("/api/widgets/scopes", **{header: value}).status == 401


@pytest.mark.parametrize(
    "path",
    ["/api/v1/", "/api/v1/nothing", "/api/v1/widgets", "/api/v1/Widgets/acme/clock", "/api/v1//",
     "/api/v1/health", "/api/v1/widgets.json", "/api/v1/widgetsx/acme/clock"],
)  # fmt: skip
def test_nothing_else_is_under_v1(shop: InProcessSite, path: str) -> None:
    for method in METHODS:
        response = shop.request(method, path)

        assert (response.status, response.json()) == (
            404,
            {"error": f"There is nothing at {path}."},
        )
        assert response.headers == {
            "content-type": "application/json; charset=utf-8",
            "x-content-type-options": "nosniff",
        }


def test_what_cannot_be_a_widget_is_404_with_cors(shop: InProcessSite) -> None:
    cases = [
        "", "/", "acme", "acme/", "/clock", "acme//clock", "acme/clock/", "acme/clock/x",
        "search/", "Search", "SEARCH", "Acme/clock", "acme/Clock", "@acme/clock", "acme/clock ",
        " acme/clock", "acme/clock\n", "acme/-clock", "acme/clock.json", "acme/cl_ock", "acme/*",
        "acme/..", "../acme", "acme%2Fclock", "acme/cl%6Fck", "acme/cl\u00f6ck", "acme/\x00",
        "acme/\ufffd", "acme/１", "a" * 65 + "/clock", "acme/" + "a" * 65,
    ]  # fmt: skip
    for key in cases:
        path = f"/api/v1/widgets/{key}"

        for method in ("GET", "HEAD", "POST", "PUT", "DELETE"):
            response = shop.request(method, path)

            assert (response.status, response.json()) == (
                404,
                {"error": f"There is nothing at {path}."},
            )
            assert response.headers == {
                "content-type": "application/json; charset=utf-8",
                "x-content-type-options": "nosniff",
                "access-control-allow-origin": "*",
            }


@pytest.mark.parametrize("path", ["/apiary", "/API/health", "/Api/v1"])
def test_what_is_not_under_api_is_a_page(shop: InProcessSite, path: str) -> None:
    response = shop.get(path)

    assert response.status == 404
    assert response.headers["content-type"] == "text/html; charset=utf-8"


def test_api_itself_is_not_a_page(shop: InProcessSite) -> None:
    assert shop.get("/api").status == 401
    assert list(shop.get("/api").json()) == ["error"]
