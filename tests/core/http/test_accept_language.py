"""Which language a request gets."""

import pytest

from widget_catalog.core.http.http import PlainRequest
from widget_catalog.core.http.language_choice import Languages, without_language
from widget_catalog.core.languages.language import parse_languages

OFFERED = Languages("en de ja")


def chosen(languages: Languages = OFFERED, query: str = "", **headers: str) -> str:
    named = {key.replace("_", "-"): it for key, it in headers.items()}
    return languages.choose(PlainRequest("GET", "/", query, named)).tag


@pytest.mark.parametrize(
    ("accepted", "tag"),
    [
        ("de", "de"),
        ("de-AT, en;q=0.5", "de"),
        ("DE-at", "de"),
        ("fr, ja;q=0.8, en;q=0.7", "ja"),
        ("en;q=0.2, de;q=0.9", "de"),
        ("fr-CH, fr;q=0.9", "en"),
        ("de;q=0", "en"),
        ("*", "en"),
        ("de;q=x", "en"),
        ("", "en"),
        (", ;;, =", "en"),
        (f"de, {'x' * 1000}", "en"),
    ],
)
def test_the_most_wanted_language_is_chosen(accepted: str, tag: str) -> None:
    assert chosen(accept_language=accepted) == tag


def test_a_query_comes_before_a_cookie_and_a_cookie_before_the_header() -> None:
    assert chosen(query="q=x&lang=ja", cookie="language=de", accept_language="en") == "ja"
    assert chosen(cookie="a=b; language=de", accept_language="ja") == "de"
    assert chosen(query="lang=xx", cookie="language=xx", accept_language="ja") == "ja"
    assert chosen(query="slang=de") == "en"


def test_the_first_language_is_for_those_who_read_none() -> None:
    assert chosen(Languages("ja en"), accept_language="fr") == "ja"


def test_one_language_is_not_negotiated() -> None:
    assert chosen(Languages("de"), query="lang=en", accept_language="en") == "de"


@pytest.mark.parametrize("tags", ["", "xx", "en xx", "en,de"])
def test_unknown_languages_are_refused(tags: str) -> None:
    with pytest.raises(ValueError, match="must be some of en de ja, separated by spaces"):
        parse_languages(tags)


@pytest.mark.parametrize(
    ("referer", "path"),
    [
        ("https://host/root/search?q=a+b&lang=de&page=2", "/search?q=a+b&page=2"),
        ("https://host/root/", "/"),
        ("https://host/root//evil.example/", "/evil.example/"),
        ("https://evil.example", "/"),
        ("https://host/other", "/"),
        ("", "/"),
        ("http://[", "/"),
        ("https://host/root/a\nb", "/ab"),
    ],
)
def test_the_switch_leads_back_to_a_local_page(referer: str, path: str) -> None:
    assert without_language(referer, "/root") == path
