"""Renders widgets as JSON, once at write time, with the types of `widget_contract.wire`.

A document is stored in fragments that are shared by detail, search and registry: the widget's own
fields up to `isOfficial`, and its version entries.
"""

from operator import attrgetter
from typing import NamedTuple

import msgspec

from widget_contract.manifest_details import extra_details, has_details, searched_texts
from widget_contract.texts import fold
from widget_contract.version_files import file_path
from widget_contract.wire import VersionEntry, WidgetHead

from ...core.clock import iso, to_ms
from ..model.card_picture import CardPicture, choose_picture
from ..model.query import join_facets
from ..model.text_limits import MAX_LINE, MAX_NAME
from ..model.tokens import readme_tokens
from ..model.widgets import Version, Widget
from .rows import IndexRow

# The marker for the CDN URL, which is a setting and filled in when a document is read. No text
# contains an encoded NUL.
_CDN = "\0"
CDN_MARK = b'"\\u0000/'


class Document(NamedTuple):
    """A widget in the read model. `entries` is the JSON array of all its versions, newest first.

    `styles` are the style sheets of those that have one: JSON, `{version: [size, hash]}`.
    `picture` is that of its card: JSON, a `CardPicture`, or nothing.
    `revocations` are its revoked versions: JSON, an array of `RevokedVersion`, or nothing.
    `extras` has what a version declares besides its entry, by the version's identity: its details
    and `files`, an array of `AttachedFile`, as JSON; a line break; and the manifest it was
    published with.
    `outline` has the place of each version in `entries`: JSON, an array of `records.Outline`;
    `latest` is that of the latest version.
    """

    index_row: IndexRow
    created_at: str
    latest_version: str | None
    latest: tuple[int, int]
    head: bytes
    styles: bytes
    picture: bytes
    revocations: bytes
    extras: tuple[tuple[str, bytes], ...]
    outline: bytes
    entries: bytes

    @property
    def detail_bytes(self) -> int:
        """The size of the detail, without what is filled in on reading."""
        return len(self.head) + len(self.entries)


class RevokedVersion(NamedTuple):
    version: str
    sha256_hash: str
    reason: str
    at: str


# The fields of an entry after the texts that a version may share with its widget.
_after_texts = attrgetter(*VersionEntry.__struct_fields__[14:])
_encode = msgspec.json.Encoder().encode


def render(widget: Widget) -> Document:
    scope, name = str(widget.scope), str(widget.name)
    entries, outline = [], []
    latest, start = None, 1
    place = (0, 0)
    for version in widget.versions:
        number, is_withdrawn = version.number, version.is_withdrawn
        entry = _encode(_entry(scope, name, number, is_withdrawn, widget, version))
        entries.append(entry)
        outline.append((number, version.sdk_version, is_withdrawn, start, len(entry)))
        if latest is None and not is_withdrawn:
            latest, place = version, (start, len(entry))
        start += len(entry) + 1
    translations = list(((latest and latest.translations) or {}).values())
    index_row = IndexRow(
        id=0,
        changed_at=0,
        created_ms=to_ms(widget.created_at),
        released_ms=0 if latest is None else to_ms(latest.published_at),
        version_count=len(entries),
        is_listed=widget.is_listed,
        is_official=widget.is_official,
        scope=scope,
        name=name,
        display_name=widget.display_name[:MAX_NAME],
        facets=join_facets(widget, latest),
        terms="" if latest is None else " ".join(searched_texts(latest)),
        readme="" if latest is None else _words(latest.readme_words or latest.readme),
        other_names=fold(" ".join([it.display_name or "" for it in translations])),
        other_descriptions=_words(" ".join([it.description or "" for it in translations])),
        description=widget.description and widget.description[:MAX_LINE],
    )
    return Document(
        index_row=index_row,
        created_at=iso(widget.created_at),
        latest_version=None if latest is None else latest.number,
        latest=place,
        head=_encode(_head(widget))[:-1],
        styles=_styles(widget),
        picture=b"" if latest is None else _picture(latest),
        revocations=_revocations(widget),
        extras=tuple(
            [(it.identity, extras) for it in widget.versions if (extras := _extras_of(it))]
        ),
        outline=_encode(outline),
        entries=b"[" + b",".join(entries) + b"]",
    )


def measure_detail(widget: Widget) -> int:
    """`Document.detail_bytes` of a widget, without rendering it."""
    scope, name = str(widget.scope), str(widget.name)
    sizes = [
        len(_encode(_entry(scope, name, version.number, version.is_withdrawn, widget, version)))
        for version in widget.versions
    ]
    head = len(_encode(_head(widget))) - len(b"}")
    return head + sum(sizes) + len(b",") * max(len(sizes) - 1, 0) + len(b"[]")


def render_detail(widget: Widget, count: int, cdn_url: str) -> dict[str, object]:
    """A widget in the format of the public detail, for its owners, including unlisted ones."""
    document = render(widget)
    head = msgspec.json.decode(document.head + b"}")
    shown = {**head, "isOfficial": bool(head["isOfficial"]), "downloadCount": count}
    return {
        "widget": {**shown, "createdAt": document.created_at},
        "versions": msgspec.Raw(with_cdn(document.entries, cdn_url)),
        "latestVersion": document.latest_version,
    }


def _head(widget: Widget) -> WidgetHead:
    return WidgetHead(
        str(widget.scope),
        str(widget.name),
        widget.display_name,
        widget.description,
        widget.icon,
        widget.is_official,
    )


def _entry(
    scope: str, name: str, number: str, is_withdrawn: bool, widget: Widget, version: Version
) -> VersionEntry:
    description, icon = version.description, version.icon
    # Positional arguments are faster, and an import creates millions of these.
    return VersionEntry(
        scope,
        name,
        number,
        version.bundle_url or f"{_CDN}{file_path(scope, name, number)}",
        version.bundle_size,
        version.sha256_hash,
        iso(version.published_at),
        is_withdrawn,
        version.withdrawn_reason if is_withdrawn else version.yanked_reason,
        version.deprecation_message,
        version.release_notes,
        version.display_name or widget.display_name,
        widget.description if description is None else description,
        widget.icon if icon is None else icon,
        *_after_texts(version),
    )


def _extras_of(version: Version) -> bytes:
    if version.manifest is None and not version.attached and not has_details(version):
        return b""  # As most versions of an import.
    details = extra_details(version, version.manifest)
    if version.attached:
        details["files"] = version.attached
    encoded = _encode(details) if details else b""
    return encoded if version.manifest is None else encoded + b"\n" + version.manifest.encode()


def _styles(widget: Widget) -> bytes:
    styles = {
        version.number: (version.style.size_bytes, version.style.sha256_hash)
        for version in widget.versions
        if version.style is not None
    }
    return _encode(styles) if styles else b""


def _picture(latest: Version) -> bytes:
    found = choose_picture(latest.attached) if latest.attached else None
    if latest.translations:
        found = msgspec.structs.replace(found or CardPicture(), texts=latest.translations)
    return b"" if found is None else _encode(found)


def _words(text: str | None) -> str:
    """Those that a long text is found by."""
    return " ".join(readme_tokens(text)) if text else ""


def _revocations(widget: Widget) -> bytes:
    revoked = [
        RevokedVersion(
            version.number,
            version.sha256_hash,
            version.revocation.reason,
            iso(version.revocation.revoked_at),
        )
        for version in widget.versions
        if version.revocation is not None
    ]
    return _encode(revoked) if revoked else b""


def with_cdn(entries: bytes, cdn_url: str) -> bytes:
    """Fill in the CDN URL. `cdn_url` has no trailing slash."""
    if b"\\" not in entries:  # No marker; searching for one byte is almost free.
        return entries
    # Several times as fast as `replace`.
    return (b'"%b/' % cdn_url.encode()).join(entries.split(CDN_MARK))


def is_stored_here(bundle_url: str) -> bool:
    """Whether a document's bundle is stored here: the CDN URL is not filled in yet."""
    return bundle_url.startswith(_CDN)
