"""GET /api/v1/widgets/search: scope, official, page and limit, and how a query is decoded."""

from collections.abc import Iterator

import pytest

from catalog.api.expected import SEARCH, found, summary
from support.site import InProcessSite
from support.widgets import widget_line

PAGE = "page must be a whole number of at least 1."
LIMIT = "limit must be a whole number of at least 1."
OFFICIAL = "official must be true or false."
BAD_PERCENT = "The query is not properly percent-encoded: write % as %25."
BAD_UTF8 = "The query is not UTF-8 after percent-decoding."


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InProcessSite]:
    """120 widgets of scope `many`, and five of `acme`, most popular first."""
    with InProcessSite(tmp_path_factory.mktemp("shop") / "data") as site:
        site.add(
            widget_line("acme/yes", isOfficial=True, downloadCount=900),
            widget_line("acme/no", isOfficial=False, downloadCount=800),
            widget_line("acme/null", isOfficial=None, downloadCount=700),
            widget_line("acme/plus", displayName="C++ a+b", downloadCount=600),
            widget_line("acme/percent", displayName="100% %41", downloadCount=500),
            widget_line("acme/hidden", listed=False, isOfficial=True),
            widget_line("hidden/only", listed=False),
            *(widget_line(f"many/w{i:03}", downloadCount=200 - i) for i in range(120)),
        )
        yield site


ACME = ["acme/yes", "acme/no", "acme/null", "acme/plus", "acme/percent"]


@pytest.mark.parametrize(
    ("scope", "keys"),
    [
        ("acme", ACME),
        ("hidden", []),
        ("nobody", []),
        ("", []),
        ("ACME", []),
        ("@acme", []),
        ("acme ", []),
        ("acm", []),
        ("acme/yes", []),
        ("%", []),
        ("ö\x00", []),
        ("x" * 5000, []),
    ],
)
def test_scope_is_an_exact_match_and_never_an_error(
    shop: InProcessSite, scope: str, keys: list[str]
) -> None:
    assert found(shop, scope=scope) == keys


@pytest.mark.parametrize(
    ("official", "keys"),
    [
        ("true", ["acme/yes"]),
        ("TRUE", ["acme/yes"]),
        ("tRuE", ["acme/yes"]),
        ("false", ACME[1:]),
        ("FALSE", ACME[1:]),
        ("False", ACME[1:]),
    ],
)
def test_official_is_true_or_false_in_any_case_and_null_is_not_official(
    shop: InProcessSite, official: str, keys: list[str]
) -> None:
    assert found(shop, "scope=acme", official=official) == keys


def test_filters_and_q_hold_together(shop: InProcessSite) -> None:
    assert found(shop, "q=n&scope=acme&official=false") == ["acme/no", "acme/null", "acme/percent"]
    assert found(shop, "q=n&scope=acme&official=true") == []
    assert found(shop, "scope=nobody&official=true") == []


@pytest.mark.parametrize(
    "value",
    ["", "1", "0", "yes", "no", "null", "true ", "+true", "truefalse", "%E7%9C%9F", "tru%C4%B1"],
)
def test_other_values_of_official_are_400(shop: InProcessSite, value: str) -> None:
    response = shop.get(f"{SEARCH}?official={value}")

    assert (response.status, response.json()) == (400, {"error": OFFICIAL})


def test_page_and_limit_that_are_no_whole_number_of_at_least_1_are_400(shop: InProcessSite) -> None:
    cases = [
        "",
        "0",
        "00",
        "-1",
        "%2B1",
        "+1",
        "1+",
        "1.0",
        "1e3",
        "0x1",
        "1_000",
        "1,000",
        "one",
        "NaN",
        "%EF%BC%91",
        "%D9%A1",
        "%C2%B2",
        "1%00",
        "1%0A",
        "true",
        "-0",
        "9" * 5000 + "x",
    ]
    for name in ["page", "limit"]:
        for value in cases:
            response = shop.get(f"{SEARCH}?{name}={value}")

            assert response.status == 400
            assert response.json() == {"error": PAGE if name == "page" else LIMIT}


@pytest.mark.parametrize("query", ["page", "page&limit=5", "limit", "official", "page=&page=2"])
def test_a_parameter_without_a_value_has_an_empty_one(shop: InProcessSite, query: str) -> None:
    assert shop.get(f"{SEARCH}?{query}").status == 400


def test_pages_are_windows_of_the_order_and_limits_above_100_are_clamped(
    shop: InProcessSite,
) -> None:
    cases = [
        ("", 0, 20, 1, 20),
        ("page=1", 0, 20, 1, 20),
        ("page=2", 20, 20, 2, 20),
        ("page=6", 100, 20, 6, 20),
        ("page=7", 120, 0, 7, 20),
        ("page=8", 120, 0, 8, 20),
        ("limit=1", 0, 1, 1, 1),
        ("limit=1&page=120", 119, 1, 120, 1),
        ("limit=1&page=121", 120, 0, 121, 1),
        ("limit=7&page=18", 119, 1, 18, 7),
        ("limit=99", 0, 99, 1, 99),
        ("limit=100", 0, 100, 1, 100),
        ("limit=100&page=2", 100, 20, 2, 100),
        ("limit=101", 0, 100, 1, 100),
        ("limit=101&page=2", 100, 20, 2, 100),
        ("limit=999", 0, 100, 1, 100),
        ("limit=1000", 0, 100, 1, 100),
        (f"limit={10**30}", 0, 100, 1, 100),
        (f"limit={'9' * 5000}", 0, 100, 1, 100),
        ("limit=007", 0, 7, 1, 7),
        ("page=002&limit=0100", 100, 20, 2, 100),
    ]
    for query, first, count, page, limit in cases:
        response = shop.get(f"{SEARCH}?scope=many&{query}")

        wanted = [widget_line(f"many/w{i:03}", downloadCount=200 - i) for i in range(120)]
        assert response.status == 200
        assert response.json() == {
            "widgets": [summary(it) for it in wanted[first : first + count]],
            "total": 120,
            "page": page,
            "limit": limit,
        }


def test_an_absurd_page_is_empty_and_tells_the_true_total(shop: InProcessSite) -> None:
    cases = [
        2**31,
        2**31 - 1,
        2**53,
        2**63 - 1,
        2**63,
        2**64,
        10**17,
        10**18 - 1,
        10**18,
        10**19,
        10**30,
    ]
    for page in cases:
        for limit in [1, 20, 100]:
            response = shop.get(f"{SEARCH}?scope=many&page={page}&limit={limit}")

            assert response.status == 200
            assert response.json() == {"widgets": [], "total": 120, "page": page, "limit": limit}


@pytest.mark.parametrize("digits", [400, 4000, 8000])
def test_a_page_of_thousands_of_digits_is_answered_with_all_of_them(
    shop: InProcessSite, digits: int
) -> None:
    page = "7" * digits

    response = shop.get(f"{SEARCH}?scope=many&page={page}")

    assert response.status == 200
    assert response.body == b'{"widgets":[],"total":120,"page":%b,"limit":20}' % page.encode()


def test_the_first_of_a_repeated_parameter_counts(shop: InProcessSite) -> None:
    assert found(shop, "scope=acme&scope=many") == ACME
    assert found(shop, "scope=acme&official=true&official=maybe") == ["acme/yes"]
    assert found(shop, "q=c%2B%2B&q=nothing&scope=acme") == ["acme/plus"]
    assert found(shop, "scope=&scope=acme") == []
    body = shop.get(f"{SEARCH}?limit=2&limit=x&page=3&page=0&scope=many").json()
    assert [it["name"] for it in body["widgets"]] == ["w004", "w005"]
    assert shop.get(f"{SEARCH}?page=x&page=1").json() == {"error": PAGE}
    assert shop.get(f"{SEARCH}?official=x&official=true").json() == {"error": OFFICIAL}


@pytest.mark.parametrize(
    "query",
    ["", "&", "&&&", "=", "=x", "sort=name", "Page=0", "PAGE=x", "Q=zzz", "offset=5", "compatsdk=x",
     "page%20=0", "x=1&y=2&z", "q[]=zzz", "?q=zzz", "limit[]=0", ";page=0"],
)  # fmt: skip
def test_unknown_parameters_are_ignored(shop: InProcessSite, query: str) -> None:
    assert found(shop, f"scope=acme&{query}") == ACME


@pytest.mark.parametrize(
    ("query", "keys"),
    [
        ("q=c%2B%2B", ["acme/plus"]),
        ("q=C%2b%2B+A%2bB", ["acme/plus"]),
        ("q=a%2Bb", ["acme/plus"]),
        ("q=b+a", ["acme/plus"]),
        ("q=b%2Ba", []),
        ("q=+%20+", ACME),
        ("q=++a%2Bb++", ["acme/plus"]),
        ("q=100%25", ["acme/percent"]),
        ("q=%2541", ["acme/percent"]),
        ("q=%41%6Eo", []),
        ("%71=c%2B%2B", ["acme/plus"]),
        ("q=c%2B%2B%26scope%3Dmany", []),
        ("q=N%4f", ["acme/no"]),
        ("s%63ope=acme&q=yes", ["acme/yes"]),
        ("q==", []),
        ("q=n=o", []),
    ],
)
def test_queries_are_decoded_once_and_a_plus_is_a_space(
    shop: InProcessSite, query: str, keys: list[str]
) -> None:
    assert found(shop, f"scope=acme&{query}") == keys


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("q=%", BAD_PERCENT),
        ("q=%4", BAD_PERCENT),
        ("q=%zz", BAD_PERCENT),
        ("q=100%&scope=acme", BAD_PERCENT),
        ("x=%", BAD_PERCENT),
        ("%=1", BAD_PERCENT),
        ("q=\udcff", BAD_UTF8),
        ("q=%FF", BAD_UTF8),
        ("q=%C3", BAD_UTF8),
        ("q=%C3%28", BAD_UTF8),
        ("q=%C0%80", BAD_UTF8),
        ("q=%ED%A0%80", BAD_UTF8),
        ("q=%F4%90%80%80", BAD_UTF8),
        ("scope=%FF", BAD_UTF8),
        ("q=x&q=%FF", BAD_UTF8),
        ("%FF=1", BAD_UTF8),
        ("unknown=%FF", BAD_UTF8),
    ],
)
def test_undecodable_queries_are_400(shop: InProcessSite, query: str, sentence: str) -> None:
    response = shop.get(f"{SEARCH}?{query}")

    assert (response.status, response.json()) == (400, {"error": sentence})


def test_text_that_is_not_percent_encoded_is_read_as_utf8(site: InProcessSite) -> None:
    site.add(widget_line("acme/clock", displayName="世界時計"), widget_line("acme/other"))

    assert [it["name"] for it in site.get(f"{SEARCH}?q=世界").json()["widgets"]] == ["clock"]
