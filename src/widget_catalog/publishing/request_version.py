"""Requests to publish a version: the content of the request, and all checks before the upload."""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from widget_contract.errors import InvalidManifest
from widget_contract.manifests import Manifest, declared, parse_manifest
from widget_contract.names import Scope, WidgetName
from widget_contract.version_files import BUNDLE, STYLE, AnnouncedFile, parse_announced

from ..catalog.model.events import PublishBegun
from ..catalog.model.widgets import AttachedFile, Style, Version, Widget
from ..catalog.replica.rendering import measure_detail
from ..catalog.store.events import require_no_mirror
from ..catalog.store.revocations import find_refusal
from ..catalog.store.rows import StoredWidget
from ..catalog.store.widgets import find_widget
from ..core import hooks
from ..core.actors import Actor, Right
from ..core.clock import from_ms
from ..core.credentials import new_id
from ..core.db.engine import Snapshot, Store
from ..core.errors import Conflict, NotAllowed, NotFound
from ..organizations.permissions import require
from .quotas import (
    NO_QUOTAS,
    Load,
    Quotas,
    check_document_size,
    check_may_publish,
    make_room_for_request,
)
from .store import LIFETIME_MS, FileSpec, PublishRequest, add_request, find_request

_SHA256 = re.compile(r"[0-9a-f]{64}\Z")


class WantedVersion(NamedTuple):
    """A valid request. Its own fields take precedence over those of the manifest."""

    scope: Scope
    manifest: Manifest
    files: dict[str, FileSpec]
    """By path."""
    attached: tuple[AttachedFile, ...] = ()
    readme_words: str = ""
    """Both are known once the uploads are verified."""

    @property
    def name(self) -> WidgetName:
        return self.manifest.name

    @property
    def version(self) -> str:
        return self.manifest.version.text

    @property
    def size_bytes(self) -> int:
        """The size of its files and its manifest."""
        return sum(it.size_bytes for it in self.files.values()) + len(self.manifest.text.encode())

    def added_to(self, widget: Widget | None, at: datetime) -> Widget:
        """The widget with this version; without one, a new widget."""
        manifest = self.manifest
        texts: dict[str, Any] = {
            "display_name": manifest.display_name,
            "description": manifest.description,
            "icon": manifest.icon,
        }
        if widget is None:
            widget = Widget(
                scope=self.scope, name=self.name, **texts, is_official=False, created_at=at
            )
        bundle, style = self.files[BUNDLE], self.files.get(STYLE)
        version = Version(
            version=manifest.version,
            bundle_url=None,
            bundle_size=bundle.size_bytes,
            sha256_hash=bundle.sha256_hash,
            published_at=widget.next_instant(at),
            **declared(manifest),
            style=None if style is None else Style(*style),
            manifest=manifest.text,
            attached=self.attached,
            readme_words=self.readme_words,
        )
        changed = widget.with_versions([*widget.versions, version])
        # The newest version determines the widget's own texts.
        is_newest = changed.versions[0] is version
        return msgspec.structs.replace(changed, **texts) if is_newest else changed


class Planned(NamedTuple):
    """A widget as it is stored, if it is, and as it would be with the version."""

    stored: StoredWidget | None
    widget: Widget
    load: Load


def request_version(
    store: Store,
    actor: Actor,
    body: Mapping[str, object],
    max_bundle_bytes: int,
    quotas: Quotas = NO_QUOTAS,
) -> PublishRequest:
    """Create a request. It is stored as a row until it is confirmed or expires after an hour."""
    wanted = read_wanted(body, max_bundle_bytes)
    with store.publishing() as tx:
        hooks.call(tx, actor, PublishBegun(scope=wanted.scope, name=wanted.name))
        _check(tx.connection, actor, wanted, quotas, tx.at_ms)
        make_room_for_request(tx, actor, quotas, wanted.scope, wanted.name, wanted.version)
        bundle, style = wanted.files[BUNDLE], wanted.files.get(STYLE)
        request = PublishRequest(
            id=new_id(),
            account_id=actor.account_id,
            scope=wanted.scope,
            name=wanted.name,
            version=wanted.version,
            bundle_size=bundle.size_bytes,
            sha256_hash=bundle.sha256_hash,
            css_size=style.size_bytes if style else None,
            css_sha256_hash=style.sha256_hash if style else None,
            manifest=wanted.manifest.text,
            beside=msgspec.json.encode(fields_of(body)).decode(),
            created_at=tx.at_ms,
            expires_at=tx.at_ms + LIFETIME_MS,
            confirmed_at=None,
            attached=tuple(
                AnnouncedFile(path, *spec)
                for path, spec in wanted.files.items()
                if path not in (BUNDLE, STYLE)
            ),
        )
        add_request(tx, request)
    return request


def check_version(
    store: Store,
    actor: Actor,
    body: Mapping[str, object],
    max_bundle_bytes: int,
    quotas: Quotas = NO_QUOTAS,
) -> WantedVersion:
    """A dry run: the same checks, and nothing is stored."""
    wanted = read_wanted(body, max_bundle_bytes)
    with store.reading() as connection:
        _check(connection, actor, wanted, quotas, store.now_ms())
    return wanted


def announced_size(store: Store, request_id: str, path: str) -> int:
    """The announced size of a file. NotFound if its request has ended, and Conflict if it is
    published already: nothing can be uploaded then.
    """
    with store.reading() as connection:
        found = find_request(connection, request_id)
    if found is None or path not in found.files or found.expires_at <= store.now_ms():
        raise NotFound("This request has ended. Request a new one.")
    if found.confirmed_at is not None:
        raise Conflict("This version is published: nothing more can be uploaded for it.")
    return found.files[path].size_bytes


def _check(
    connection: Snapshot, actor: Actor, wanted: WantedVersion, quotas: Quotas, now_ms: int
) -> None:
    planned = plan_version(connection, actor, wanted, now_ms)
    check_limits(connection, actor, planned, measure_detail(planned.widget), quotas, now_ms)


def plan_version(connection: Snapshot, actor: Actor, wanted: WantedVersion, now_ms: int) -> Planned:
    """Whether this version may be added, and the result. Repeated when it is confirmed."""
    require_no_mirror(connection)
    require(connection, actor, Right.PUBLISH, wanted.scope, wanted.name)
    stored = find_widget(connection, wanted.scope, wanted.name)
    identity = wanted.version.partition("+")[0]
    for version in stored.widget.versions if stored is not None else ():
        if version.identity == identity:
            yanked = " (and yanked)" if version.is_withdrawn else ""
            raise Conflict(
                f"{wanted.scope}/{wanted.name} {version.number} is already published{yanked}. A "
                "published version never changes: choose another number."
            )
    sha256_hash = wanted.files[BUNDLE].sha256_hash
    if reason := find_refusal(connection, wanted.scope, wanted.name, sha256_hash):
        raise NotAllowed(
            f"The operator has revoked this bundle ({reason.rstrip('.')}): the same bytes cannot "
            "be published again. Change the module."
        )
    widget = wanted.added_to(stored.widget if stored is not None else None, from_ms(now_ms))
    return Planned(stored, widget, Load(wanted.size_bytes, is_new_widget=stored is None))


def check_limits(
    connection: Snapshot,
    actor: Actor,
    planned: Planned,
    detail_bytes: int,
    quotas: Quotas,
    now_ms: int,
) -> None:
    """Whether the widget may become so large, and the account may publish so much."""
    check_document_size(planned.widget, detail_bytes, quotas)
    check_may_publish(connection, actor, quotas, planned.load, now_ms)


def read_wanted(body: Mapping[str, object], max_bundle_bytes: int) -> WantedVersion:
    """The content of the request, or InvalidManifest with all errors."""
    errors: list[str] = []
    files = {BUNDLE: _file(body, "bundleSize", "sha256Hash", max_bundle_bytes, errors)}
    if body.get("cssSize") is not None or body.get("cssSha256Hash") is not None:
        files[STYLE] = _file(body, "cssSize", "cssSha256Hash", max_bundle_bytes, errors)
    attached, more_errors = parse_announced(body.get("files"))
    errors += more_errors
    files |= {it.path: FileSpec(*it[1:]) for it in attached}
    text = body.get("manifestJson")
    if not isinstance(text, str):
        errors.append("manifestJson: must be the manifest as a text.")
        text = "{}"  # So that the other errors of the request are reported, too.
    manifest = None
    try:
        manifest = parse_manifest(text, fields_of(body))
    except InvalidManifest as error:
        errors += error.errors
    if errors or manifest is None or manifest.scope is None:
        raise InvalidManifest(errors)
    return WantedVersion(manifest.scope, manifest, files)


def fields_of(body: Mapping[str, object]) -> dict[str, object]:
    """The fields of a request itself, without the manifest it contains."""
    keys = ["scope", "name", "version", "displayName", "description", "icon"]
    keys += ["minSize", "maxSize", "sdkVersion", "releaseNotes"]
    return {key: body[key] for key in keys if body.get(key) is not None}


def _file(
    body: Mapping[str, object], size_key: str, hash_key: str, max_bytes: int, errors: list[str]
) -> FileSpec:
    size, sha256_hash = body.get(size_key), body.get(hash_key)
    if type(size) is not int or size < 0:
        size = 0
        errors.append(f"{size_key}: must be the size of the file in bytes.")
    elif size == 0:
        errors.append(f"{size_key}: the file is empty.")
    elif size > max_bytes:
        errors.append(f"{size_key}: the file has {size:,} bytes; at most {max_bytes:,} are taken.")
    if not isinstance(sha256_hash, str) or not _SHA256.match(sha256_hash):
        sha256_hash = ""
        errors.append(f"{hash_key}: must be the SHA-256 of the file, 64 hexadecimal digits.")
    return FileSpec(size, sha256_hash)
