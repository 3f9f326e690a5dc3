"""Publishing from the browser: the upload form, the preview, and the confirmation."""

from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

import msgspec

from widget_contract.errors import CatalogError, InvalidManifest
from widget_contract.manifests import MAX_RELEASE_NOTES
from widget_contract.version_files import (
    BUNDLE,
    CONTENT_TYPES,
    MAX_PICTURES,
    STYLE,
    is_picture,
    kind_of,
)

from ..accounts.permissions import list_publishing_scopes
from ..core.errors import (
    Busy,
    Conflict,
    FieldMessage,
    InvalidRequest,
    NotAllowed,
    NotFound,
    StoreUnavailable,
    TooOften,
)
from ..core.http.call import Call
from ..core.http.errors import headers_of, log_error, status_of
from ..core.http.http import NOSNIFF, Response
from ..core.http.multipart_form import FormFile
from ..core.http.sent_form import NOT_SENT, SentForm, own_page
from ..core.http.services import Services
from ..pages.facts import picture_in_words
from ..pages.preview import of_manifest
from .module_notes import ModuleNotes
from .publish_version import (
    PendingVersion,
    discard_pending,
    publish_version,
    read_pending_file,
    view_pending,
)
from .quotas import Quotas
from .request_version import check_version, request_version
from .sent_files import PICTURES, SentFiles, find_file, read_sent_files
from .widget_pages import WIDGETS

PUBLISH = "/account/publish"
# Errors that the author can correct: the form or the confirmation page is shown again.
_CORRECTABLE = (InvalidManifest, InvalidRequest, Conflict, NotAllowed, TooOften)
# The file is not published, so browsers must not run it as a script or render it as a page.
_TEXT = "text/plain; charset=utf-8"
_GUARDED = [
    ("content-security-policy", "default-src 'none'; sandbox"),
    ("cache-control", "no-store"),
    NOSNIFF,
]
# Form fields by key of the request; all other keys belong to the manifest.
_FIELDS = {
    "bundleSize": "bundle",
    "sha256Hash": "bundle",
    "cssSize": "style",
    "cssSha256Hash": "style",
    "scope": "scope",
    "name": "name",
}
_ORDER = ("manifest", "bundle", "style", "readme", "screenshots", "notes", "scope", "name")
_MISSING = {
    "manifest": "Choose the manifest, usually called widget.json.",
    "bundle": "Choose the bundle, a JavaScript module.",
}


class _Typed(NamedTuple):
    scope: str = ""
    name: str = ""
    notes: str = ""


def get_publish(services: Services, call: Call) -> Response:
    query = call.query()
    typed = _Typed(query.get("scope", "")[:64], query.get("name", "")[:64])
    return _form(services, call, typed, [])


def post_publish(services: Services, call: Call) -> Response:
    """Store the files, as a request that its author has to confirm."""
    form = call.form()
    # Browsers send the line breaks of the notes as CRLF.
    fields = (form.get(it, "").strip().replace("\r\n", "\n") for it in _Typed._fields)
    typed = _Typed(*fields)
    try:
        return _store(services, call, typed)
    except (StoreUnavailable, Busy) as error:
        log_error(call.request, error)
        return _form(services, call, typed, [error.message], error)


def _store(services: Services, call: Call, typed: _Typed) -> Response:
    sent = read_sent_files(call.files, call.prepared)
    body = _request_body(call, typed, sent)
    most, quotas = services.settings.max_bundle_bytes, services.of(Quotas)
    try:
        if any(sent.errors.values()):
            check_version(services.store, call.actor, body, most, quotas)
            raise InvalidManifest([])  # Everything else is right.
        request = request_version(services.store, call.actor, body, most, quotas)
    except _CORRECTABLE as error:
        chosen = {it.field for it in call.files} | ({"notes"} if typed.notes else set())
        errors = _messages(error, chosen, sent)
        return _form(services, call, typed, errors, error)
    try:
        for path, file in sent.files.items():
            services.uploads.put(file.content, request.id, path)
    except StoreUnavailable:
        with suppress(CatalogError):
            discard_pending(services.store, services.uploads, call.actor, request.id)
        raise
    return services.renderer.redirect(f"{PUBLISH}/{request.id}")


def get_pending(services: Services, call: Call) -> Response:
    return _confirm_page(services, call)


def post_pending(services: Services, call: Call) -> Response:
    try:
        request = publish_version(
            services.store,
            services.bundles,
            services.uploads,
            call.actor,
            call.params["id"],
            services.of(Quotas),
            call.prepared,
        )
    except _CORRECTABLE as error:
        return _confirm_page(services, call, SentForm(error=error))
    return services.renderer.redirect(f"{WIDGETS}/{request.scope}/{request.name}?done=published")


def post_discard(services: Services, call: Call) -> Response:
    discard_pending(services.store, services.uploads, call.actor, call.params["id"])
    return services.renderer.redirect(PUBLISH)


def get_bundle(services: Services, call: Call) -> Response:
    return _file(services, call, BUNDLE)


def get_style(services: Services, call: Call) -> Response:
    return _file(services, call, STYLE)


def get_picture(services: Services, call: Call) -> Response:
    path = f"{PICTURES}/{call.params['file']}"
    if not is_picture(path):
        raise NotFound("There is no such picture.")
    return _file(services, call, path, CONTENT_TYPES[kind_of(path)])


def _file(services: Services, call: Call, path: str, content_type: str = _TEXT) -> Response:
    id_ = call.params["id"]
    with read_pending_file(services.store, services.uploads, call.actor, id_, path) as content:
        return Response(200, [("content-type", content_type), *_GUARDED], content.read())


def _request_body(call: Call, typed: _Typed, sent: SentFiles) -> dict[str, object]:
    """What was sent, as the body of a request to the API."""
    text = _text_of(find_file(call.files, "manifest"))
    said = _scope_in(text) if text is not None else None
    body: dict[str, object] = {"scope": typed.scope.removeprefix("@") or said or call.actor.name}
    if typed.name:
        body["name"] = typed.name
    if typed.notes:
        body["releaseNotes"] = typed.notes
    if text is not None:
        body["manifestJson"] = text
    return body | sent.announced


def _text_of(manifest: FormFile | None) -> str | None:
    """Input that is not UTF-8 becomes text with surrogates, which is then rejected."""
    return None if manifest is None else manifest.content.read().decode("utf-8", "surrogateescape")


def _scope_in(text: str) -> object:
    try:
        found = msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return None
    return found.get("scope") if isinstance(found, dict) else None


def _form(
    services: Services, call: Call, typed: _Typed, errors: list[str], error: Any = None
) -> Response:
    """`errors`: what the page shows of the error."""
    shown = InvalidRequest(*errors) if errors else None
    return own_page(
        services,
        call,
        "publishing/publish.html",
        *(headers_of(error) if error is not None else ()),
        sent=SentForm("", typed._asdict(), shown),
        status=status_of(error) if error is not None else 200,
        script_rules="connect-src 'self'",
        places=list_publishing_scopes(services.store, call.actor),
        max_bundle_bytes=services.settings.max_bundle_bytes,
        max_pictures=MAX_PICTURES,
        max_notes=MAX_RELEASE_NOTES,
    )


def _confirm_page(services: Services, call: Call, sent: SentForm = NOT_SENT) -> Response:
    pending = view_pending(services.store, call.actor, call.params["id"])
    request = pending.request
    if request.confirmed_at is not None:
        return services.renderer.redirect(f"{WIDGETS}/{request.scope}/{request.name}")
    return own_page(
        services,
        call,
        "publishing/publish_confirm.html",
        sent=sent,
        script_rules=f"connect-src 'self'; {services.renderer.frame_rules}",
        pending=pending,
        pictures={
            file.path: picture_in_words(file.path)
            for file in request.attached
            if is_picture(file.path)
        },
        place=f"{PUBLISH}/{request.id}",
        preview=_panel(services, pending),
        notes=services.of(ModuleNotes).about(request.sha256_hash) or (),
    )


def _panel(services: Services, pending: PendingVersion) -> Mapping[str, Any]:
    """For `preview/panel.html`: the uploaded bytes, fetched with the author's session."""
    request, manifest = pending.request, pending.manifest
    place = f"{services.renderer.root}{PUBLISH}/{request.id}"
    return {
        "displayName": manifest.display_name,
        "bundleUrl": f"{place}/index.js",
        "sha256Hash": request.sha256_hash,
        "styleUrl": f"{place}/index.css" if request.css_size is not None else None,
        "credentials": "same-origin",
        "minSize": msgspec.to_builtins(manifest.min_size),
        "maxSize": msgspec.to_builtins(manifest.max_size),
        **of_manifest(manifest.permissions, msgspec.json.decode(manifest.text)),
    }


def _messages(error: CatalogError, sent: Collection[str], files: SentFiles) -> list[str]:
    """`sent`: the fields with files or notes. If no file was chosen, that is its only error."""
    if isinstance(error, NotAllowed):
        return [FieldMessage("scope", error.message)]
    if not isinstance(error, InvalidManifest):
        return [error.message]
    by_field: dict[str, list[str]] = {it: [] for it in _ORDER}
    for text in error.errors:
        key, colon, sentence = text.partition(": ")
        field = _FIELDS.get(key, "manifest") if colon else "manifest"
        if key.startswith("files"):  # Pictures are checked before.
            field = "readme"
        if key == "releaseNotes" and "notes" in sent:
            field = "notes"
        shown = _capitalized(text if field == "manifest" else sentence)
        if field not in _MISSING or field in sent:
            by_field[field].append(shown)
    for field, sentence in _MISSING.items():
        if field not in sent:
            by_field[field] = [sentence]
    if "manifest" not in sent:
        by_field["name"] = []  # The name may be in the manifest.
    by_field["readme"] += files.errors.get("readme", ())
    by_field["screenshots"] += files.errors.get(PICTURES, ())
    return [FieldMessage(field, text) for field, texts in by_field.items() for text in texts]


def _capitalized(text: str) -> str:
    """Keys stay as they are written: `minSize: is missing.`"""
    is_sentence = not text.partition(" ")[0].endswith(":")
    return text[:1].upper() + text[1:] if is_sentence else text
