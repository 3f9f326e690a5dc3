"""Pages of the documentation: the overview, and each part of each guide."""

from typing import Any

from ....catalog.large_content import AnyContent
from .guides import Guides
from .rendered_pages import RenderedPages

_ABOUT = {
    "integrating": "Search, choose a version that fits, load it: from a dashboard of your own.",
    "loading-widgets-safely": "What to check, and how to run code that you do not trust.",
    "python-client": "Search, resolve and follow a catalog from a server.",
    "following-changes": "The feed, server-sent events and webhooks.",
    "public-api": "Every request and its rules, for programs without a client.",
    "publishing": "From an empty folder to a published widget, by hand or from CI.",
    "operating": "Install, run and upgrade a catalog.",
    "settings": "Every setting, what it does, and its default.",
    "administering": "Accounts, signing in, moderation, webhooks, limits.",
    "import-and-export": "Import files, mirrors, snapshots and static sites.",
    "backup": "Every night or continuously, and how to restore.",
    "monitoring": "Health, metrics, logs, doctor, and what to do when something is wrong.",
    "scaling": "PostgreSQL, object storage and several nodes.",
    "errors": "What every error means, and what to do about it.",
    "performance": "What was measured, how, and against what.",
}
# Who they are for, on the page that offers them.
_GROUPS = (
    (
        "Build a dashboard",
        (
            "integrating",
            "loading-widgets-safely",
            "python-client",
            "following-changes",
            "public-api",
        ),
    ),
    ("Publish widgets", ("publishing", "errors")),
    ("Run a catalog", ("operating", "settings", "administering", "import-and-export")),
    ("Keep it running", ("backup", "monitoring", "scaling", "performance")),
)


class GuidePages:
    def __init__(self, pages: RenderedPages) -> None:
        self._pages = pages
        self._guides = Guides(pages.address(""))

    def index(self) -> AnyContent:
        return self._pages.get(
            "docs",
            (),
            "docs.html",
            lambda: {"guides": self._guides.all, "abouts": _ABOUT, "groups": _GROUPS},
        )

    def list_paths(self) -> list[str]:
        """Of all pages of the guides."""
        parts = ((it.name, part.slug) for it in self._guides.all.values() for part in it.parts)
        return ["/docs", *(f"/docs/{name}/{slug}".rstrip("/") for name, slug in parts)]

    def part(self, name: str, slug: str = "") -> AnyContent | None:
        guide = self._guides.all.get(name)
        part = None if guide is None else guide.find(slug)
        if guide is None or part is None:
            return None
        at = guide.parts.index(part)

        def values() -> dict[str, Any]:
            return {
                "guides": self._guides.all.values(),
                "guide": guide,
                "part": part,
                "before": guide.parts[at - 1] if at else None,
                "after": guide.parts[at + 1] if at + 1 < len(guide.parts) else None,
            }

        return self._pages.get(f"docs {name}/{slug}", (), "guide.html", values)
