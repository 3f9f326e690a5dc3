"""The publishing protocol: request, upload, confirm."""

import contextlib
from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple
from urllib.parse import urljoin, urlsplit

import msgspec
from msgspec import UNSET, UnsetType

from widget_contract.version_files import CONTENT_TYPES, PUBLISH, README, kind_of
from widget_contract.wire import FileToUpload, PublishRequest

from .addresses import WidgetKey, is_same_origin
from .documents import SourceFile
from .errors import ExitCode, ToolError
from .manifest_text import with_value
from .responses import PublishTargets, not_a_catalog, sentence_in, shaped
from .session import Session
from .transport import SMALL_BYTES
from .widget_folder import LocalWidget

Advance = Callable[[int], None]

_PIECE_BYTES = 65_536


class Publication(NamedTuple):
    """A widget, and the files that are published besides its bundle and style sheet, by path."""

    key: WidgetKey
    local: LocalWidget
    files: dict[str, SourceFile]
    manifest: str

    @property
    def size_bytes(self) -> int:
        style = self.local.style.size_bytes if self.local.style else 0
        return self.local.bundle.size_bytes + style + sum(map(_size_of, self.files.values()))


def publication_of(key: WidgetKey, local: LocalWidget, *, accepts_files: bool) -> Publication:
    """README.md is a file, or the readme of the manifest if the catalog accepts no files."""
    text, readme = local.manifest.text, local.readme
    if accepts_files:
        files = {} if readme is None else {README: readme}
        return Publication(key, local, files | local.pictures, text)
    if readme is not None:
        text = with_value(text, "readme", readme.content.decode())
    return Publication(key, local, {}, text)


def check(session: Session, publication: Publication) -> dict[str, Any]:
    """Run all checks of the catalog, without publishing."""
    with _asking(session, publication.key):
        return session.post(PUBLISH, _request("check", publication), is_repeatable=True)


def publish(session: Session, publication: Publication, advance: Advance) -> dict[str, Any]:
    """Publish it. `advance` is called with the number of bytes sent."""
    local = publication.local
    with _asking(session, publication.key):
        response = session.post(PUBLISH, _request("request", publication))
        upload = shaped(response, PublishTargets, session.url)
    sendings = [(local.bundle, upload.upload_url, "application/javascript")]
    if local.style is not None:
        if not isinstance(upload.css_upload_url, str):
            raise not_a_catalog(session.url)
        sendings.append((local.style, upload.css_upload_url, "text/css"))
    for path, file in publication.files.items():
        if (address := upload.address_of(path)) is None:
            raise not_a_catalog(session.url)
        sendings.append((file, address, CONTENT_TYPES[kind_of(path)]))
    # All URLs are checked before anything is sent.
    sendings = [(file, _target(session, address), kind) for file, address, kind in sendings]
    with _bringing():
        for file, target, kind in sendings:
            _send(session, target, file, kind, advance)
        confirmation = {"action": "confirm", "versionId": upload.version_id}
        # Idempotent: a repeated confirmation gets the same response.
        return session.post(PUBLISH, confirmation, is_repeatable=True)


def _request(action: Literal["check", "request"], publication: Publication) -> dict[str, Any]:
    key, local = publication.key, publication.local
    manifest = local.manifest
    request = PublishRequest(
        action=action,
        scope=str(key.scope),
        name=str(key.name),
        display_name=manifest.display_name,
        description=_or_unset(manifest.description),
        icon=_or_unset(manifest.icon),
        min_size=manifest.min_size,
        max_size=manifest.max_size,
        sdk_version=manifest.sdk_version,
        version=manifest.version.text,
        bundle_size=local.bundle.size_bytes,
        sha256_hash=local.bundle.sha256_hash,
        css_size=local.style.size_bytes if local.style else UNSET,
        css_sha256_hash=local.style.sha256_hash if local.style else UNSET,
        files=tuple(_announced(path, file) for path, file in publication.files.items()) or UNSET,
        manifest_json=publication.manifest,
    )
    body: dict[str, Any] = msgspec.to_builtins(request)
    return body


def _announced(path: str, file: SourceFile) -> FileToUpload:
    return FileToUpload(path, file.size_bytes, file.sha256_hash)


def _size_of(file: SourceFile) -> int:
    return file.size_bytes


def _or_unset(text: str | None) -> str | UnsetType:
    return UNSET if text is None else text


def _target(session: Session, address: str) -> str:
    """The URL to upload a file to: with https, or with the catalog's own origin; plain http to an
    object store only if the user has allowed it."""
    try:
        target = urljoin(f"{session.url}/", address)
        scheme = urlsplit(target).scheme
        is_allowed = scheme == "https" or is_same_origin(target, session.url)
    except ValueError:
        raise not_a_catalog(session.url) from None
    if is_allowed or (scheme == "http" and session.is_insecure()):
        return target
    advice = "Nothing was sent. Ask the catalog's operator to check base_url and s3_endpoint."
    if scheme == "http":
        advice += " If you trust that network, add --insecure."
    raise ToolError(
        f"The catalog requested an upload to {target.partition('?')[0]}, "
        f"which neither uses https nor is {session.url} itself.",
        advice,
    )


def _send(
    session: Session, target: str, file: SourceFile, content_type: str, advance: Advance
) -> None:
    """PUT the bytes. The URL is signed: no token is sent."""
    sent = 0

    def pieces() -> Iterator[bytes]:
        nonlocal sent
        advance(-sent)  # A retry starts from the beginning.
        sent = 0
        for start in range(0, file.size_bytes, _PIECE_BYTES):
            piece = file.content[start : start + _PIECE_BYTES]
            yield piece
            sent += len(piece)
            advance(len(piece))

    headers = {"Content-Type": content_type, "Content-Length": str(file.size_bytes)}
    reply = session.transport.send(
        "PUT", target, is_repeatable=True, content=pieces, headers=headers, max_bytes=SMALL_BYTES
    )
    if reply.status >= 300:
        # Object stores have their own error format.
        message = sentence_in(reply) or f"The upload failed with status {reply.status}."
        raise ToolError(message, "Try again later.", status=reply.status)


@contextlib.contextmanager
def _asking(session: Session, key: WidgetKey) -> Iterator[None]:
    """Hints for the errors of a publish request."""
    try:
        yield
    except ToolError as error:
        match error.status:
            case 400 | 413:
                error.suggest("Correct the widget, then publish again.")
                error.exit_code = ExitCode.INVALID_WIDGET
            case 403 if not session.is_machine:  # The hint about the token stays.
                error.suggest(
                    "Choose one of your scopes with --scope (widget whoami lists them), or ask an "
                    f"owner of {key.scope}."
                )
            case 409:
                error.suggest("Increase the version: publish with --bump patch.")
        raise


@contextlib.contextmanager
def _bringing() -> Iterator[None]:
    """Hints for errors of the upload, after the request was accepted."""
    try:
        yield
    except ToolError as error:
        if error.status is not None and error.status < 500 and error.status != 429:
            error.hint = "Nothing was published. Run the same command again."
            error.exit_code = ExitCode.CONFLICT if error.status == 409 else ExitCode.FAILED
        raise
