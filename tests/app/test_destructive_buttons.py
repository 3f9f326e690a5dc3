"""Buttons that withdraw or remove something look like it, on every page."""

import re
from pathlib import Path

import widget_catalog

_ROOT = Path(widget_catalog.__file__).parent
_BUTTON = re.compile(r"<button([^>]*)>([^<{]*)")
_DESTRUCTIVE = re.compile(
    r"\s*(Yank|Unlist|Remove|Revoke|Release|Delete|Close the account|Discard|Leave"
    r"|Sign out everywhere)\b"
)


def test_what_withdraws_or_removes_looks_destructive() -> None:
    found = [
        (path.name, attributes, text)
        for path in _ROOT.rglob("*.html")
        for attributes, text in _BUTTON.findall(path.read_text(encoding="utf-8"))
        if _DESTRUCTIVE.match(text)
    ]

    assert len(found) > 12
    assert [it for it in found if "danger" not in it[1]] == []
