"""Names of browsers, by their User-Agent."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from widget_catalog.accounts.services import browser_label

_KIT = "AppleWebKit/537.36 (KHTML, like Gecko)"
_SAFE = "Safari/537.36"


@pytest.mark.parametrize(
    ("system", "programs", "label"),
    [
        ("X11; Linux x86_64", f"{_KIT} Chrome/142.0.0.0 {_SAFE}", "Chrome on Linux"),
        ("X11; Linux x86_64", f"{_KIT} HeadlessChrome/142.0.0.0 {_SAFE}", "Chrome on Linux"),
        ("X11; Linux x86_64", f"{_KIT} Chrome/142.0.0.0 {_SAFE} OPR/124.0", "Opera on Linux"),
        ("X11; CrOS x86_64 145.0", f"{_KIT} Chrome/142.0.0.0 {_SAFE}", "Chrome on ChromeOS"),
        ("Windows NT 10.0", f"{_KIT} Chrome/142.0.0.0 {_SAFE} Edg/142.0.0.0", "Edge on Windows"),
        ("Windows NT 10.0; rv:145.0", "Gecko/20100101 Firefox/145.0", "Firefox on Windows"),
        ("Macintosh; Intel Mac OS X 10_15_7", f"{_KIT} Version/26.0 {_SAFE}", "Safari on macOS"),
        (
            "iPhone; CPU iPhone OS 18_6 like Mac OS X",
            f"{_KIT} Version/26.0 Mobile/15E148 {_SAFE}",
            "Safari on iPhone",
        ),
        (
            "iPad; CPU OS 18_6 like Mac OS X",
            f"{_KIT} CriOS/142.0.7444.77 Mobile/15E148 {_SAFE}",
            "Chrome on iPad",
        ),
        (
            "Linux; Android 10; K",
            f"{_KIT} SamsungBrowser/28.0 Chrome/130.0.0.0 Mobile {_SAFE}",
            "Samsung Internet on Android",
        ),
        ("X11; Linux x86_64", "Gecko/20100101", "A browser on Linux"),
    ],
)
def test_label_names_browser_and_system(system: str, programs: str, label: str) -> None:
    assert browser_label(f"Mozilla/5.0 ({system}) {programs}") == label


@pytest.mark.parametrize(
    ("user_agent", "label"),
    [
        ("Firefox/145.0", "Firefox"),
        ("curl/8.14.1", "curl"),
        ("python-httpx/0.28.1", "python-httpx"),
        ("Mozilla/5.0", None),
        ("<b>bold</b>", None),
        ("", None),
        (None, None),
    ],
)
def test_label_of_other_programs_is_their_name(user_agent: str | None, label: str | None) -> None:
    assert browser_label(user_agent) == label


@given(st.text(max_size=600))
def test_label_is_short_and_plain_whatever_is_sent(user_agent: str) -> None:
    label = browser_label(user_agent)
    assert label is None or (len(label) <= 30 and label.isascii() and label.isprintable())
