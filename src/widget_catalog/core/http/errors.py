"""Errors as responses: the common format under /api/, and the status of each error."""

from typing import cast

import msgspec
import structlog

from widget_contract.errors import CatalogError, InvalidManifest, InvalidName
from widget_contract.version_files import WIDGETS
from widget_contract.wire import Error

from ..errors import (
    BundleRefused,
    Busy,
    ConfirmationNeeded,
    Conflict,
    InvalidAccount,
    InvalidRequest,
    InvalidToken,
    NotAllowed,
    NotFound,
    NotSignedIn,
    ProviderFailed,
    SecondFactorMissing,
    StoreUnavailable,
    TooOften,
)
from ..languages.language import ENGLISH, N_, Language
from .http import CORS, NOSNIFF, Headers, Request, Response
from .rendering import PageRenderer

_log = structlog.get_logger("widget_catalog.errors")

# Paths that pages of other origins may read, including errors.
_OPEN = (WIDGETS, "/cdn/", "/client/", "/pictures/", "/icons/")

_JSON = ("content-type", "application/json; charset=utf-8")
_OAUTH = [_JSON, ("cache-control", "no-store"), NOSNIFF]
_TITLES = {
    401: N_("Sign in first"),
    403: N_("You do not have permission to do this"),
    404: N_("Not found"),
    405: N_("Method not allowed"),
    409: N_("This is no longer possible"),
    429: N_("Too many requests"),
    502: N_("Temporarily unavailable"),
    503: N_("Temporarily unavailable"),
}

_OTHER_TITLE = N_("That did not work")

# Where people are redirected to complete a missing step.
_FIRST = {SecondFactorMissing: "/account/second-factor", ConfirmationNeeded: "/account/confirm"}


class TooSlow(CatalogError):
    """The request body did not arrive in time."""


class TooLarge(CatalogError):
    """The request body is too large."""


class UnsupportedType(CatalogError):
    """The request body has an unsupported type."""


class WrongMethod(CatalogError):
    """The method is not supported; `allow` lists those that are."""

    def __init__(self, method: str, allow: str) -> None:
        super().__init__(f"{method[:40]} is not possible here; use {allow}.")
        self.allow = allow


STATUSES: dict[type[CatalogError], int] = {
    InvalidRequest: 400,
    InvalidManifest: 400,
    InvalidAccount: 400,
    InvalidName: 400,
    BundleRefused: 400,
    NotSignedIn: 401,
    NotAllowed: 403,
    NotFound: 404,
    WrongMethod: 405,
    TooSlow: 408,
    Conflict: 409,
    TooLarge: 413,
    UnsupportedType: 415,
    TooOften: 429,
    ProviderFailed: 502,
    StoreUnavailable: 503,
    Busy: 503,
}


def error(status: int, message: str, *headers: tuple[str, str]) -> Response:
    """The common format of every error under /api/."""
    body = msgspec.json.encode(Error(message))
    return Response(status, [_JSON, NOSNIFF, *headers], body)


def message_of(response: Response) -> str:
    """The message of such an error."""
    return msgspec.json.decode(cast(bytes, response.body), type=Error).error


def internal_error(path: str) -> Response:
    """The response to an internal error, without details."""
    sentence = N_("Something went wrong on our side. It has been logged.")
    return error(500, sentence, *cors_of(path))


def wrong_host(path: str) -> Response:
    """The response to a request without a host, or with several."""
    return error(400, "A request must have exactly one Host header.", *cors_of(path))


def unavailable(path: str) -> Response:
    sentence = N_("The catalog cannot be read just now. Try again soon.")
    return error(503, sentence, ("retry-after", "5"), *cors_of(path))


def damaged(path: str) -> Response:
    sentence = N_(
        "What is stored here is damaged, so it is not shown. The operator of this catalog must "
        "repair it."
    )
    return error(503, sentence, ("retry-after", "60"), *cors_of(path))


def rebuilding(path: str) -> Response:
    sentence = N_("What is stored here is damaged, and is rebuilt just now. Try again soon.")
    return error(503, sentence, ("retry-after", "5"), *cors_of(path))


def cors_of(path: str) -> Headers:
    """The CORS header, also for errors, where other origins may read the response."""
    return [CORS] if path.startswith(_OPEN) else []


def status_of(error: CatalogError) -> int:
    return next(status for kind, status in STATUSES.items() if isinstance(error, kind))


def log_error(request: Request, error: CatalogError) -> None:
    """Log errors that clients did not cause: disk, database, object store."""
    cause = error.__cause__
    if isinstance(error, StoreUnavailable) and cause is not None:
        about = {}
        if isinstance(cause, OSError):
            about = {"errno": cause.errno, "file": cause.filename}
        _log.error(
            "A request failed, since the disk, the database or the object store did.",
            method=request.method,
            path=request.path,
            error=str(cause),
            **about,
        )


def failure(problem: CatalogError) -> Response:
    """The response to an exception of ours."""
    headers = headers_of(problem)
    if isinstance(problem, NotSignedIn):
        headers.append(_challenge(problem))
    return error(status_of(problem), problem.message, *headers)


def oauth_failure(error: CatalogError) -> Response:
    """The response to an exception of ours, in OAuth's format."""
    status = status_of(error)
    code = "temporarily_unavailable" if status in (429, 503) else "invalid_request"
    headers = headers_of(error)
    if isinstance(error, NotSignedIn):
        code = "invalid_token"
        headers.append(_challenge(error))
    body = msgspec.json.encode({"error": code, "error_description": error.message})
    return Response(status, [*_OAUTH, *headers], body)


def _challenge(error: NotSignedIn) -> tuple[str, str]:
    """The error code is for requests that had a token (RFC 6750, 3.1)."""
    is_refused = isinstance(error, InvalidToken)
    return ("www-authenticate", 'Bearer error="invalid_token"' if is_refused else "Bearer")


def failure_page(
    renderer: PageRenderer,
    request: Request,
    error: CatalogError,
    back: str = "",
    language: Language = ENGLISH,
) -> Response:
    """An error as a page; or a redirect, if something else must be done first, and then `back`."""
    query = request.query_string
    here = f"{request.path}?{query}" if query else request.path
    if isinstance(error, NotSignedIn):
        return renderer.sign_in_first(here)
    for kind, path in _FIRST.items():
        if isinstance(error, kind):
            is_form = request.method not in ("GET", "HEAD")
            return renderer.go_first(path, back, status=303 if is_form else 302)
    status = status_of(error)
    title = language.gettext(_TITLES.get(status, _OTHER_TITLE))
    sentence = language.gettext(error.message)
    return renderer.message(status, title, sentence, *headers_of(error), language=language)


def headers_of(error: CatalogError) -> Headers:
    match error:
        case TooOften() | Busy():
            return [("retry-after", str(error.wait_s))]
        case StoreUnavailable():
            return [("retry-after", "5")]
        case WrongMethod():
            return [("allow", error.allow)]
    return []
