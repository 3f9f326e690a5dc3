"""Comparison of two versions: their metadata, and the diff of their bundles."""

import asyncio
from collections.abc import Callable
from typing import Any, NamedTuple

from widget_contract.capabilities import permission_changes
from widget_contract.errors import CatalogError
from widget_contract.wire import VersionEntry, WidgetDetail

from ...core.errors import Busy
from ...core.files.contract import Bundles
from ...core.files.hashing import read_verified
from ...core.http.content import AnyContent
from ...core.http.rendering import day
from ...core.jobs.bounded_work import BoundedWork
from ..catalog import BundleRef, Catalog
from ..views import Views
from .bundle_diff import MAX_BYTES, BundleDiff, compare_to_plain, read_plain
from .facts import find_version
from .rendered_pages import PageRequest, RenderedPages

_OFFERED = 100


class Row(NamedTuple):
    label: str
    old: str
    new: str
    is_code: bool = False


class ComparePage:
    def __init__(self, catalog: Catalog, pages: RenderedPages, bundles: Bundles) -> None:
        self._catalog = catalog
        self._views = Views(catalog)
        self._pages = pages
        self._bundles = bundles
        self._comparing = BoundedWork(compare_to_plain)

    async def content(self, request: PageRequest) -> AnyContent | None:
        """Without versions in the query: the latest two. None if there is no such widget."""
        found = await self._views.find_widget(request.key)
        if found is None:
            return None
        detail = found.read()
        old, new = _chosen(detail, request.query)
        key = f"compare {request.key} {old and old.version} {new and new.version}"
        shows = (self._views.revision(),)
        kept = self._pages.find(key, shows)
        if kept is not None:
            return kept
        try:
            diff = None if old is None or new is None else await self._diff(old, new)
        except Busy:
            diff = BundleDiff(None, is_postponed=True)

        def values() -> dict[str, Any]:
            added, removed = permission_changes(
                () if old is None else self._views.requested(old),
                () if new is None else self._views.requested(new),
            )
            return {
                "widget": detail.widget,
                "numbers": [it.version for it in detail.versions[:_OFFERED]],
                "old": old,
                "new": new,
                "rows": _rows(old, new) if old is not None and new is not None else [],
                "added": added,
                "removed": removed,
                "diff": diff,
            }

        is_final = diff is None or not diff.is_postponed
        return self._pages.get(key, shows, "catalog/compare.html", values, is_kept=is_final)

    async def _diff(self, old: VersionEntry, new: VersionEntry) -> BundleDiff | None:
        """None if a bundle is not stored here. Raises Busy if other comparisons come first."""
        refs = [self._catalog.find_bundle(it.scope, it.name, it.version) for it in (old, new)]
        stored = [it for it in refs if it is not None]
        if len(stored) < 2:
            return None
        if max(it.size_bytes for it in stored) > MAX_BYTES:
            return BundleDiff(None)
        bundles = await asyncio.to_thread(self._read, *stored)
        if bundles is None:
            return None
        return read_plain(await self._comparing.ask(bundles, new.scope))

    def _read(self, *refs: BundleRef) -> tuple[bytes, bytes] | None:
        try:
            old, new = (
                read_verified(self._bundles, it.sha256_hash, "js", it.size_bytes) for it in refs
            )
            return old, new
        except (CatalogError, OSError):
            return None


def _chosen(
    detail: WidgetDetail, asked: dict[str, str]
) -> tuple[VersionEntry | None, VersionEntry | None]:
    versions = detail.versions
    new = find_version(detail, asked["to"]) if "to" in asked else next(iter(versions), None)
    if "from" in asked:
        return find_version(detail, asked["from"]), new
    at = versions.index(new) if new is not None else 0
    return (versions[at + 1] if at + 1 < len(versions) else new), new


def _rows(old: VersionEntry, new: VersionEntry) -> list[Row]:
    def size(it: VersionEntry) -> str:
        return f"{it.min_size.w}×{it.min_size.h} to {it.max_size.w}×{it.max_size.h} cells"

    facts: dict[str, Callable[[VersionEntry], str]] = {
        "Published": lambda it: day(it.published_at),
        "Name": lambda it: it.display_name,
        "Description": lambda it: it.description or "none",
        "Runs on SDK": lambda it: it.sdk_version,
        "Size on the grid": size,
        "Bundle": lambda it: f"{it.bundle_size:,} bytes",
        "License": lambda it: it.license or "not stated",
        "Settings version": lambda it: (
            "none" if it.config_version is None else str(it.config_version)
        ),
        "SHA-256": lambda it: it.sha256_hash,
    }
    return [Row(label, fact(old), fact(new), label == "SHA-256") for label, fact in facts.items()]
