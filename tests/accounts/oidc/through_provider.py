"""Helpers of tests of signing in through a provider: redirect and callback."""

from typing import Any

from support.browsing import Browsing
from support.site import InProcessSite, Reply
from widget_catalog.accounts.store import list_accounts

CLIENT: dict[str, Any] = {
    "oidc_client_id": "catalog",
    "oidc_client_secret": "s3cret",
    "oidc_name": "Example",
}
HERE = "https://catalog.example"


def begin(browsing: Browsing, next_: str = "") -> str:
    response = browsing.get(f"/api/auth/oidc{f'?next={next_}' if next_ else ''}")
    assert response.status == 302
    return response.headers["location"]


def come_back(browsing: Browsing, place: str) -> Reply:
    assert place.startswith(f"{HERE}/api/auth/oidc/callback?")
    return browsing.get(place.removeprefix(HERE))


def usernames(site: InProcessSite) -> list[str]:
    with site.node.store.reading() as connection:
        return [str(it.username) for it in list_accounts(connection)]
