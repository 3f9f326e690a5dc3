"""The settings of signing in: programs, and an OpenID Connect provider."""

import pytest

from widget_catalog.core.errors import InvalidSettings
from widget_catalog.core.load_settings import load_settings


def errors_of(**settings: str) -> list[str]:
    try:
        load_settings(others=settings, environment={})
    except InvalidSettings as error:
        return error.errors
    return []


@pytest.mark.parametrize(
    "settings",
    [
        {"oidc_issuer": "https://login.example/realms/main", "oidc_client_id": "catalog"},
        {"oidc_issuer": "http://127.0.0.1:9400", "oidc_client_id": "x", "oidc_client_secret": "y"},
        {"oidc_creates_accounts": "no"},
        {"oauth_clients": ""},
        {"oauth_clients": "tool My Tool https://tool.example/back"},
    ],
)
def test_what_can_be_used_is_taken(settings: dict[str, str]) -> None:
    assert errors_of(**settings) == []


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        (
            {"oidc_issuer": "login.example", "oidc_client_id": "x"},
            "--set oidc_issuer: must be an http(s) URL without query, fragment or username.",
        ),
        ({"oidc_issuer": "https://login.example"}, "oidc_client_id: is required with oidc_issuer."),
        ({"oidc_name": " "}, "--set oidc_name: must not be empty."),
        (
            {"oauth_clients": "tool"},
            "--set oauth_clients: tool needs a name and at least one address to return to.",
        ),
    ],
)
def test_what_cannot_is_reported(settings: dict[str, str], error: str) -> None:
    assert errors_of(**settings) == [error]
