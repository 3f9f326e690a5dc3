"""The public pages: search, widgets, versions, guides, feeds and embeds."""

from pathlib import Path

from ..core.features import Feature

FEATURE = Feature(name="pages", templates=Path(__file__).parent / "templates")
