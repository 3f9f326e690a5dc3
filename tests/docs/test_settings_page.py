"""docs/settings.md lists exactly the existing settings, as they are declared."""

from pathlib import Path

from widget_catalog.core.settings import settings_table

_PAGE = Path(__file__).parents[2] / "docs" / "settings.md"


def test_the_page_has_the_table_of_the_declared_settings() -> None:
    """Write it with: ./dev run python -m release.settings_page docs/settings.md"""
    text = _PAGE.read_text(encoding="utf-8")

    assert settings_table() in text
