"""A site that programs sign people in to, and a person with a browser."""

from collections.abc import Iterator

import pytest

from accounts.oauth.program import CLIENTS
from support.browsing import Browsing
from support.people import a_person
from support.site import InProcessSite


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessSite]:
    folder = tmp_path_factory.mktemp("house") / "data"
    with InProcessSite(folder, oauth_clients=CLIENTS) as site:
        a_person(site, "ann")
        yield site


@pytest.fixture(scope="module")
def ann(house: InProcessSite) -> Browsing:
    return Browsing(house).sign_in("ann")
