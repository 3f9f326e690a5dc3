"""docs/settings.md lists exactly the existing settings."""

import re
from dataclasses import fields
from pathlib import Path

from widget_catalog.core.settings import PREFIX, Settings

_PAGE = Path(__file__).parents[2] / "docs" / "settings.md"
_ROW = re.compile(r"^\| `(\w+)` \| `(\w+)` \| ([^|]+) \| (.+) \|$", re.MULTILINE)


def _default(value: object) -> str:
    if value == "":
        return "empty"
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def test_the_page_has_every_setting_its_variable_and_its_default_in_order() -> None:
    text = _PAGE.read_text(encoding="utf-8")
    listed = [(name, variable, default) for name, variable, default, _ in _ROW.findall(text)]

    assert listed == [
        (it.name, f"{PREFIX}{it.name.upper()}", _default(it.default)) for it in fields(Settings)
    ]
