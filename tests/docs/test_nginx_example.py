"""HSTS in the nginx configurations in deploy/."""

import re
from pathlib import Path

_DEPLOY = Path(__file__).parents[2] / "deploy"
_CACHING = _DEPLOY / "nginx.caching.conf"
_DEPLOYED = _DEPLOY / "nginx.conf"
_HSTS = 'add_header Strict-Transport-Security "max-age=31536000" always;'


def test_every_response_over_https_asks_browsers_to_stay_there() -> None:
    """nginx inherits `add_header` only into locations that have none."""
    example = _CACHING.read_text(encoding="utf-8")
    _, over_http, over_https = re.split(r"^server \{$", example, flags=re.MULTILINE)
    own, *locations = re.split(r"^    location ", over_https, flags=re.MULTILINE)

    assert "return 301 https://catalog.example$request_uri;" in over_http
    assert _HSTS in own
    assert len(locations) == 4
    for location in locations:
        assert "add_header" not in location or _HSTS in location, location


def test_the_load_balancer_s_lines_for_tls_ask_browsers_to_stay_there() -> None:
    """It is a comment next to those lines, and in every location with headers."""
    text = _DEPLOYED.read_text(encoding="utf-8")
    lines = [it.strip() for it in text.splitlines()]
    own, *locations = re.split(r"^ +location ", text, flags=re.MULTILINE)

    assert lines.index("# listen 443 ssl;") < lines.index(f"# {_HSTS}")
    assert f"# {_HSTS}" in own
    assert "add_header" not in own.replace(f"# {_HSTS}", "")
    assert _HSTS not in lines
    for location in locations:
        assert "add_header" not in location or f"# {_HSTS}" in location, location
