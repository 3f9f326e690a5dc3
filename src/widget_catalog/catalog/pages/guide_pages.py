"""Pages of the documentation: the overview, and each part of each guide."""

from typing import Any

from ...core.http.content import AnyContent
from .guides import Guides
from .rendered_pages import RenderedPages

_ABOUT = {
    "integrating": "Search, choose a compatible version, and load it in your dashboard.",
    "loading-widgets-safely": "How to verify bundles and run untrusted code.",
    "python-client": "Search, resolve and follow a catalog from a server.",
    "following-changes": "The feed, server-sent events and webhooks.",
    "public-api": "Every request and its rules, for clients in any language.",
    "publishing": "From an empty folder to a published widget, from a terminal or CI.",
    "operating": "Install, run and upgrade a catalog.",
    "settings": "All settings and their defaults.",
    "administering": "Accounts, signing in, moderation, webhooks, limits.",
    "import-and-export": "Import files, mirrors, snapshots and static sites.",
    "backup": "Nightly or continuous backups, and how to restore them.",
    "monitoring": "Health checks, metrics, logs, doctor, and troubleshooting.",
    "scaling": "PostgreSQL, object storage and several nodes.",
    "errors": "What each error means, and how to fix it.",
    "performance": "Benchmarks, and how they were measured.",
}
# Guides by audience, for the overview page.
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
            "catalog/docs.html",
            lambda: {"guides": self._guides.all, "abouts": _ABOUT, "groups": _GROUPS},
        )

    def list_paths(self) -> list[str]:
        """The paths of all pages of the guides."""
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

        return self._pages.get(f"docs {name}/{slug}", (), "catalog/guide.html", values)
