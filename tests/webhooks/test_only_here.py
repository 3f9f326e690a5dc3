"""Nothing of webhooks is left when the room is removed, because no other room names them."""

from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src"
# The list of rooms, and that of the guides.
LISTS = {"widget_catalog/app/features.py", "widget_catalog/pages/guides.py"}
MIGRATIONS = "widget_catalog/core/db/migrations/"  # Of its tables, if they are there.
OWN = ("widget_catalog/webhooks/", "widget_cli/commands/webhooks.py", MIGRATIONS)


def test_no_other_file_names_webhooks() -> None:
    files = [it for kind in ("py", "html", "css", "js") for it in SOURCE.rglob(f"*.{kind}")]
    naming = [it for it in files if "webhook" in it.read_text(encoding="utf-8").lower()]
    others = {str(it.relative_to(SOURCE)) for it in naming}
    assert {it for it in others if not it.startswith(OWN)} == LISTS
