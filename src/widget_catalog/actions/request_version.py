"""Asking to publish a version: every gate, before a byte of the bundle is sent."""

import re
from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from ..bundles.store import Kind
from ..domain.accounts import Actor, Right
from ..domain.errors import Conflict, InvalidManifest, NotFound, TooOften
from ..domain.manifests import Manifest, parse_manifest
from ..domain.names import Scope
from ..store.engine import Snapshot, Store
from ..store.organizations import Place, list_publishing_places
from ..store.publishing import (
    PublishRequest,
    add_request,
    count_open_requests,
    find_request,
)
from ..store.widgets import find_widget
from .credentials import new_id
from .permissions import require

LIFETIME_MS = 3_600_000
_MOST_OPEN = 250
_SHA256 = re.compile(r"[0-9a-f]{64}\Z")


class FileSpec(NamedTuple):
    """A file that will be uploaded, as it was announced."""

    size_bytes: int
    sha256_hash: str


class Wanted(NamedTuple):
    """A request without faults. `manifest` is read with the request's own fields on top."""

    scope: Scope
    manifest: Manifest
    bundle: FileSpec
    style: FileSpec | None


def request_version(
    store: Store, actor: Actor, body: Mapping[str, object], max_bundle_bytes: int
) -> PublishRequest:
    """Take a request in. What it takes is a row, until it is confirmed or an hour is over."""
    wanted = read_wanted(body, max_bundle_bytes)
    with store.writing() as tx:
        check_gates(tx.connection, actor, wanted)
        if count_open_requests(tx.connection, actor.account_id, tx.at_ms) >= _MOST_OPEN:
            sentence = f"There are {_MOST_OPEN} requests that you have not confirmed. Wait a while."
            raise TooOften(sentence, wait_s=60)
        style = wanted.style or FileSpec(0, "")
        request = PublishRequest(
            id=new_id(),
            account_id=actor.account_id,
            scope=wanted.scope,
            name=wanted.manifest.name,
            version=wanted.manifest.version.text,
            bundle_size=wanted.bundle.size_bytes,
            sha256_hash=wanted.bundle.sha256_hash,
            css_size=style.size_bytes or None,
            css_sha256_hash=style.sha256_hash or None,
            manifest=wanted.manifest.text,
            beside=msgspec.json.encode(fields_of(body)).decode(),
            created_at=tx.at_ms,
            expires_at=tx.at_ms + LIFETIME_MS,
            confirmed_at=None,
        )
        add_request(tx, request)
    return request


def check_version(
    store: Store, actor: Actor, body: Mapping[str, object], max_bundle_bytes: int
) -> Wanted:
    """A dry run: the same gates, and nothing is kept."""
    wanted = read_wanted(body, max_bundle_bytes)
    with store.reading() as connection:
        check_gates(connection, actor, wanted)
    return wanted


def list_scopes(store: Store, actor: Actor) -> list[Place]:
    """Where this actor may publish something."""
    account, limits = actor.account, actor.limits
    if account is None or (limits is not None and Right.PUBLISH not in limits.rights):
        return []
    with store.reading() as connection:
        places = list_publishing_places(connection, account)
    if limits is None or not (limits.scopes or limits.widgets):
        return places
    named = {*limits.scopes, *(key.partition("/")[0] for key in limits.widgets)}
    return [it for it in places if it.name in named]


def announced_size(store: Store, request_id: str, kind: Kind) -> int:
    """How many bytes were announced for a file; Conflict if it is published already."""
    with store.reading() as connection:
        found = find_request(connection, request_id)
    size = None if found is None else (found.css_size if kind == "css" else found.bundle_size)
    if found is None or size is None:
        raise NotFound("This request has expired. Request a new one.")
    if found.confirmed_at is not None:
        raise Conflict("This version is published: nothing can be uploaded for it any more.")
    return size


def check_gates(connection: Snapshot, actor: Actor, wanted: Wanted) -> None:
    """What a request must pass now, and again when it is confirmed."""
    manifest = wanted.manifest
    require(connection, actor, Right.PUBLISH, wanted.scope, manifest.name)
    stored = find_widget(connection, wanted.scope, manifest.name)
    identity = manifest.version.text.partition("+")[0]
    for version in stored.widget.versions if stored is not None else ():
        if version.identity == identity:
            yanked = " (and yanked)" if version.is_yanked else ""
            raise Conflict(
                f"{wanted.scope}/{manifest.name} {version.number} is already published{yanked}. A "
                "published version never changes: choose another number."
            )


def read_wanted(body: Mapping[str, object], max_bundle_bytes: int) -> Wanted:
    """What is asked for, or InvalidManifest with everything that is wrong with it."""
    faults: list[str] = []
    bundle = _file(body, "bundleSize", "sha256Hash", max_bundle_bytes, faults)
    style = None
    if body.get("cssSize") is not None or body.get("cssSha256Hash") is not None:
        style = _file(body, "cssSize", "cssSha256Hash", max_bundle_bytes, faults)
    text = body.get("manifestJson")
    if not isinstance(text, str):
        faults.append("manifestJson: must be the manifest as a text.")
        text = "{}"  # What else is wrong with the request is reported, too.
    manifest = None
    try:
        manifest = parse_manifest(text, fields_of(body))
    except InvalidManifest as error:
        faults += error.faults
    if faults or manifest is None or manifest.scope is None or bundle is None:
        raise InvalidManifest(faults)
    return Wanted(manifest.scope, manifest, bundle, style)


def fields_of(body: Mapping[str, object]) -> dict[str, object]:
    """What a request itself says about the version, apart from the manifest it carries."""
    keys = "scope name version displayName description icon minSize maxSize sdkVersion".split()
    return {key: body[key] for key in keys if body.get(key) is not None}


def _file(
    body: Mapping[str, object], size_key: str, hash_key: str, max_bytes: int, faults: list[str]
) -> FileSpec | None:
    size, sha256_hash = body.get(size_key), body.get(hash_key)
    if type(size) is not int or size < 0:
        faults.append(f"{size_key}: must be the size of the file in bytes.")
    elif size == 0:
        faults.append(f"{size_key}: the file is empty.")
    elif size > max_bytes:
        faults.append(f"{size_key}: the file has {size:,} bytes; at most {max_bytes:,} are taken.")
    if not isinstance(sha256_hash, str) or not _SHA256.match(sha256_hash):
        faults.append(f"{hash_key}: must be the SHA-256 of the file, 64 hexadecimal digits.")
        return None
    return FileSpec(size, sha256_hash) if type(size) is int else None
