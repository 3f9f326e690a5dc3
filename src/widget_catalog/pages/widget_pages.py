"""Pages of a widget: the widget, all its versions, one per version, and two compared."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote

import msgspec
from markupsafe import Markup

from widget_contract.capabilities import permission_changes
from widget_contract.errors import CatalogError
from widget_contract.manifest_details import DeclaredDetails
from widget_contract.version_files import STYLE
from widget_contract.wire import VersionEntry, WidgetDetail, WidgetHead
from widget_contract.wire_running import RevokedState

from ..catalog.model.card_picture import choose_picture
from ..catalog.reading.stored_files import FileRef
from ..catalog.reading.version_details import VersionExtras
from ..catalog.store.attached_content import read_readme
from ..catalog.store.installs import Installs
from ..core.errors import Busy, StoreUnavailable
from ..core.files.verified_bundles import read_verified
from ..core.http.content import AnyContent
from ..core.http.public_page import PageRequest
from ..core.jobs.bounded_work import BoundedWork
from ..core.languages.language import N_, Language
from .bundle_diff import MAX_BYTES, BundleDiff, compare_to_plain
from .cards import in_language
from .context import PublicContext
from .facts import (
    Footprint,
    PermissionFact,
    Screenshot,
    VersionRow,
    compatibilities,
    find_version,
    grid,
    permission_fact,
    screenshots_of,
    shown_version,
    version_rows,
)
from .feeds import BADGES, badges_in_markdown
from .link_picture import LinkPicture, link_picture
from .preview import panel_of
from .rendered_pages import Prepared, page_numbers
from .snippets import Use, use
from .store_reads import InstallsReader

# Limits for long texts, to keep pages small.
_NOTES_BYTES = 12_000
_README_BYTES = 20_000
# On the page of a version, to which the page of the widget links.
_WHOLE_README_BYTES = 150_000
_ROWS = 12
_ROWS_PER_PAGE = 25
# Versions that are offered for comparison.
_OFFERED = 100
_HASH = "SHA-256"
_WIDGET_SECTIONS = {
    "readme": N_("Readme"),
    "screenshots": N_("Screenshots"),
    "install": N_("Install"),
    "notes": N_("What is new"),
    "versions": N_("Versions"),
    "compatibility": N_("Compatibility"),
    "permissions": N_("Permissions"),
    "technical": N_("Technical details"),
}
_VERSION_SECTIONS = {
    "notes": N_("Release notes"),
    "screenshots": N_("Screenshots"),
    "install": N_("Install"),
    "permissions": N_("Permissions"),
    "readme": N_("Readme"),
    "technical": N_("Technical details"),
}


T = TypeVar("T", WidgetHead, VersionEntry)


class VersionFacts(NamedTuple):
    """What the pages of a widget and of a version show of it."""

    version: VersionEntry
    revoked: RevokedState | None
    details: VersionExtras
    preview: dict[str, Any] | None
    grid: Footprint
    permissions: Sequence[PermissionFact]
    use: Use
    link_picture: LinkPicture
    still: Markup
    notes: Markup | None
    readme: Markup | None
    is_readme_cut: bool
    screenshots: Sequence[Screenshot]
    is_final: bool
    """Whether its texts are rendered and could be read."""


class WidgetPages:
    def __init__(self, context: PublicContext) -> None:
        self._catalog = context.catalog
        self._views = context.views
        self._pages = context.pages
        self._bundles = context.bundles
        self._cards = context.cards
        self._public_url = context.renderer.public_url
        self._is_static = context.renderer.is_static
        # A static site is read long after it was written.
        self._installs = None if self._is_static else InstallsReader(context.access)
        self._markdown = context.markdown
        self._comparing = BoundedWork(compare_to_plain)

    async def widget(self, request: PageRequest) -> AnyContent | None:
        scope, name = request.params["scope"], request.params["name"]
        found = await self._views.find_widget(request.key)
        if found is None:
            return None
        installs = await self._find_installs(request.key)
        language = request.language
        revoked = self._views.list_revoked(scope, name)
        key, shows = f"widget {request.key}", (found.tag, installs, revoked)

        async def read() -> Prepared:
            detail = found.read()
            shown, facts = shown_version(detail), None
            version: dict[str, Any] = {
                "version": None,
                "link_picture": link_picture((), self._public_url),
            }
            if shown is not None:
                facts = await self._version(detail, shown, _README_BYTES, language)
                version = facts._asdict()
            rows = self._rows(detail, 0, _ROWS, revoked)
            own = next((row for row in rows if row.entry is shown), None)
            if own is None and shown is not None:
                own = self._row(detail, shown, revoked)
            values = {
                "page_path": f"/widgets/{request.key}",
                "widget": _translated(detail.widget, version.get("details"), language),
                "versions": rows,
                "row": own,
                "version_count": len(detail.versions),
                "contents": _contents(version, _WIDGET_SECTIONS, language),
                "compatibilities": compatibilities(detail.versions)[:_ROWS],
                "installs": installs,
                "badges": BADGES,
                "badges_markdown": badges_in_markdown(self._public_url, scope, name),
                **version,
            }
            return Prepared(values, facts is None or facts.is_final)

        return await self._pages.prepare(key, shows, "pages/widget.html", read, language)

    async def versions(self, request: PageRequest) -> AnyContent | None:
        scope, name, page = request.params["scope"], request.params["name"], request.page
        found = await self._views.find_widget(request.key)
        if found is None:
            return None
        revoked = self._views.list_revoked(scope, name)

        def values() -> dict[str, Any]:
            detail = found.read()
            start, count = (page - 1) * _ROWS_PER_PAGE, len(detail.versions)
            return {
                "page_path": path if page == 1 else "",
                "widget": detail.widget,
                "versions": self._rows(detail, start, start + _ROWS_PER_PAGE, revoked),
                "version_count": count,
                "latest": detail.latest_version,
                "page": page,
                "pages": (pages := -(-count // _ROWS_PER_PAGE)),
                "numbers": page_numbers(page, pages),
                "address": lambda to: self._pages.address(f"{path}?page={to}"),
            }

        path, key = f"/widgets/{request.key}/versions", f"versions {request.key} {page}"
        shows, template = (found.tag, revoked), "pages/versions.html"
        return self._pages.get(key, shows, template, values, request.language)

    async def version(self, request: PageRequest) -> AnyContent | None:
        scope, name, number = (request.params[it] for it in ("scope", "name", "number"))
        found = await self._views.find_widget(request.key)
        if found is None:
            return None
        revoked = self._views.list_revoked(scope, name)
        key, shows = f"version {request.key}/{number}", (found.tag, revoked)
        language = request.language

        async def read() -> Prepared | None:
            detail = found.read()
            version = find_version(detail, number)
            if version is None:
                return None
            facts = await self._version(detail, version, _WHOLE_README_BYTES, language)
            shown = facts._asdict()
            values = {
                "page_path": f"/widgets/{request.key}/{quote(number)}",
                "widget": detail.widget,
                "row": self._row(detail, version, revoked),
                "contents": _contents(shown, _VERSION_SECTIONS, language),
                "is_latest": version.version == detail.latest_version,
                "latest": detail.latest_version,
                **shown,
            }
            return Prepared(values, facts.is_final)

        return await self._pages.prepare(key, shows, "pages/version.html", read, language)

    def _rows(
        self, detail: WidgetDetail, start: int, stop: int, revoked: Mapping[str, str]
    ) -> list[VersionRow]:
        return version_rows(detail.versions, start, stop, self._views.requested, revoked)

    def _row(
        self, detail: WidgetDetail, version: VersionEntry, revoked: Mapping[str, str]
    ) -> VersionRow:
        at = detail.versions.index(version)
        (row,) = self._rows(detail, at, at + 1, revoked)
        return row

    async def _version(
        self, detail: WidgetDetail, version: VersionEntry, readme_bytes: int, language: Language
    ) -> VersionFacts:
        extras = self._views.find_version(version.scope, version.name, version.version)
        notes = await self._markdown.render(version.release_notes, _NOTES_BYTES, version.scope)
        style = next((file for file in extras.files if file.path == STYLE), None)
        files = () if extras.revoked is not None else extras.files
        text, is_read = await read_readme(self._bundles, files, extras.readme)
        readme = await self._markdown.render(text, readme_bytes, version.scope)
        requested = self._views.requested(version)
        return VersionFacts(
            version=_translated(version, extras, language),
            revoked=extras.revoked,
            details=extras,
            preview=panel_of(version, extras),
            grid=grid(version),
            permissions=[permission_fact(it, language) for it in requested],
            use=use(
                version,
                style,
                self._public_url,
                is_static=self._is_static,
                is_latest=version.version == detail.latest_version,
            ),
            link_picture=link_picture(files, self._public_url),
            still=self._cards.still(version, choose_picture(files)),
            notes=notes.html,
            readme=readme.html,
            is_readme_cut=readme.is_cut,
            screenshots=screenshots_of(version, files, self._public_url, language),
            is_final=notes.is_final and readme.is_final and is_read,
        )

    async def _find_installs(self, key: str) -> Installs | None:
        number = self._views.find_number(key)
        if number is None or self._installs is None:
            return None
        return await self._installs.find(number)

    async def compare(self, request: PageRequest) -> AnyContent | None:
        """Two versions: their metadata, and the diff of their bundles. Without versions in the
        query, the latest two.
        """
        found = await self._views.find_widget(request.key)
        if found is None:
            return None
        detail = found.read()
        old, new = _chosen(detail, request.query)
        key = f"compare {request.key} {old and old.version} {new and new.version}"
        language = request.language
        shows = (self._views.revision(),)

        async def read() -> Prepared:
            try:
                diff = None if old is None or new is None else await self._diff(old, new)
            except (Busy, StoreUnavailable):
                diff = BundleDiff(None, is_postponed=True)
            added, removed = permission_changes(
                () if old is None else self._views.requested(old),
                () if new is None else self._views.requested(new),
            )
            values = {
                "widget": detail.widget,
                "numbers": [it.version for it in detail.versions[:_OFFERED]],
                "old": old,
                "new": new,
                "rows": [] if old is None or new is None else _compared(old, new, language),
                "added": added,
                "removed": removed,
                "diff": diff,
            }
            return Prepared(values, diff is None or not diff.is_postponed)

        return await self._pages.prepare(key, shows, "pages/compare.html", read, language)

    async def _diff(self, old: VersionEntry, new: VersionEntry) -> BundleDiff | None:
        """None if a bundle is not stored here. Raises Busy if other comparisons come first, and
        StoreUnavailable.
        """
        refs = [self._catalog.files.find_bundle(it.scope, it.name, it.version) for it in (old, new)]
        stored = [it for it in refs if it is not None]
        if len(stored) < 2:
            return None
        if max(it.size_bytes for it in stored) > MAX_BYTES:
            return BundleDiff(None)
        bundles = await asyncio.to_thread(self._read, *stored)
        if bundles is None:
            return None
        compared = await self._comparing.ask(bundles, new.scope)
        return BundleDiff(None) if compared is None else BundleDiff(*compared)

    def _read(self, *refs: FileRef) -> tuple[bytes, bytes] | None:
        try:
            old, new = (
                read_verified(self._bundles, it.sha256_hash, "js", it.size_bytes) for it in refs
            )
            return old, new
        except StoreUnavailable:
            raise
        except (CatalogError, OSError):
            return None


def _translated(shown: T, extras: DeclaredDetails | None, language: Language) -> T:
    """With its texts in this language, if the version has such."""
    texts = None if extras is None else extras.translations
    if not texts or language.tag not in texts:
        return shown
    name, description = in_language(language, shown, texts)
    return msgspec.structs.replace(shown, display_name=name, description=description)


def _contents(
    shown: Mapping[str, Any], sections: Mapping[str, str], language: Language
) -> list[tuple[str, str]]:
    """The ids and titles of those sections of the page that are not empty."""
    empty = {it for it in ("readme", "notes", "screenshots") if not shown.get(it)}
    if shown["version"] is not None and shown["version"].yanked:
        empty.add("install")
    return [(id_, language.gettext(it)) for id_, it in sections.items() if id_ not in empty]


def _chosen(
    detail: WidgetDetail, asked: dict[str, str]
) -> tuple[VersionEntry | None, VersionEntry | None]:
    versions = detail.versions
    new = find_version(detail, asked["to"]) if "to" in asked else next(iter(versions), None)
    if "from" in asked:
        return find_version(detail, asked["from"]), new
    at = versions.index(new) if new is not None else 0
    return (versions[at + 1] if at + 1 < len(versions) else new), new


def _compared(old: VersionEntry, new: VersionEntry, language: Language) -> list[dict[str, Any]]:
    pairs = zip(_facts(old, language).items(), _facts(new, language).values(), strict=True)
    return [
        {"label": label, "old": before, "new": after, "is_code": label == _HASH}
        for (label, before), after in pairs
    ]


def _facts(version: VersionEntry, language: Language) -> dict[str, str]:
    _ = language.gettext
    smallest, largest = version.min_size, version.max_size
    sizes = {"least": f"{smallest.w}×{smallest.h}", "most": f"{largest.w}×{largest.h}"}
    return {
        _("Published"): language.day(version.published_at),
        _("Name"): version.display_name,
        _("Description"): version.description or _("none"),
        _("Runs on SDK"): version.sdk_version,
        _("Size on the grid"): _("%(least)s to %(most)s cells") % sizes,
        _("Bundle"): _("%(count)s bytes") % {"count": language.number(version.bundle_size)},
        _("License"): version.license or _("not stated"),
        _("Settings version"): _("none")
        if version.config_version is None
        else str(version.config_version),
        _HASH: version.sha256_hash,
    }
