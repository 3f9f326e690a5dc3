"""Responses of the catalog as objects, or as errors with a hint. Their types are the shapes of the
contract, decoded leniently.

Fields that other releases or programs may omit have a default here; unknown fields are ignored.
New fields of the contract need no change here.
"""

from typing import Any, TypeVar

import msgspec

from widget_contract import wire
from widget_contract.wire import Size

from .errors import ExitCode, ToolError, conflict, not_allowed, sign_in_ended, unreachable
from .transport import Reply, speaks_https, wants_https

UNKNOWN_SIZE = Size(0, 0)
T = TypeVar("T")
_LONGEST_SENTENCE = 4_000


class VersionEntry(wire.VersionEntry, frozen=True, kw_only=True):
    scope: str = ""
    name: str = ""
    yanked: bool = False
    yanked_reason: str | None = None
    deprecation_message: str | None = None
    release_notes: str | None = None
    display_name: str = ""
    description: str | None = None
    icon: str | None = None
    min_size: Size = UNKNOWN_SIZE
    max_size: Size = UNKNOWN_SIZE
    config_version: int | None = None
    permissions: tuple[str, ...] = ()
    license: str | None = None


class WidgetHead(wire.WidgetHead, frozen=True, kw_only=True):
    description: str | None = None
    icon: str | None = None
    is_official: bool | None = None
    download_count: int = 0


class Detail(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A widget with its versions, newest first; for its owners also if unlisted."""

    widget: WidgetHead
    versions: tuple[VersionEntry, ...] = ()
    latest_version: str | None = None
    listed: bool = True

    @property
    def newest(self) -> VersionEntry | None:
        """The last published version; a yanked one only if there are no others."""
        standing = (it for it in self.versions if not it.yanked)
        return next(standing, next(iter(self.versions), None))

    @property
    def newest_with_notes(self) -> VersionEntry | None:
        noted = (it for it in self.versions if not it.yanked and it.release_notes)
        return next(noted, None) or self.newest


class FoundWidget(WidgetHead, frozen=True, kw_only=True):
    """A search result."""

    latest_version: VersionEntry | None = None
    latest_compatible_version: VersionEntry | None = None


class SearchPage(wire.SearchResults, frozen=True, kw_only=True):
    widgets: tuple[FoundWidget, ...]  # type: ignore[assignment]


class RevokedVersion(msgspec.Struct, frozen=True):
    id: str
    version: str
    reason: str


class RevocationList(msgspec.Struct, frozen=True):
    revocations: tuple[RevokedVersion, ...]


class TokenLimits(msgspec.Struct, frozen=True):
    """What an access token may do. Without scopes and widgets: everywhere."""

    actions: list[str] = []
    scopes: list[str] = []
    widgets: list[str] = []


class Account(msgspec.Struct, frozen=True, rename="camel"):
    """The signed-in account."""

    username: str
    email: str | None = None
    is_operator: bool = False
    via: str = "session"
    token: TokenLimits | None = None


class Settings(msgspec.Struct, frozen=True, rename="camel"):
    """The public settings of a catalog that are used here."""

    cli_client_id: str = "widget-cli"
    max_bundle_bytes: int = 2_097_152
    accepts_files: bool = False
    service_name: str = "Widget Catalog"


class PublishTargets(wire.UploadTargets, frozen=True, kw_only=True):
    """The response to a publish request."""

    cdn_url: str = ""
    widget_id: str = ""

    def address_of(self, path: str) -> str | None:
        """Where to upload a file besides bundle and style sheet."""
        return self.upload_urls.get(path) if isinstance(self.upload_urls, dict) else None


def object_in(reply: Reply, url: str) -> dict[str, Any]:
    """The JSON object of a successful response; raises otherwise."""
    if reply.status >= 300:
        raise refusal(reply, url)
    found = decoded(reply)
    if not isinstance(found, dict):
        raise not_a_catalog(url)
    return found


def shaped(found: object, shape: type[T], url: str) -> T:
    """Convert it to a typed value."""
    try:
        return msgspec.convert(found, shape)
    except msgspec.ValidationError:
        raise not_a_catalog(url) from None


def refusal(reply: Reply, url: str) -> ToolError:
    """The error of a failed request, with the catalog's message if there is one."""
    error = _refusal(reply, url)
    error.status = reply.status
    error.suggest(error.hint)
    return error


def _refusal(reply: Reply, url: str) -> ToolError:
    if 300 <= reply.status < 400:
        target = reply.headers.get("location", "another address")
        return unreachable(f"{url} redirects to {target}.", "Use that address instead.")
    sentence = sentence_in(reply)
    if sentence is None:
        return _without_a_sentence(reply, url)
    match reply.status:
        case 401:
            return sign_in_ended(url)
        case 403:
            hint = "Sign in with an account that has permission: widget login"
            return not_allowed(sentence, hint)
        case 404:
            return ToolError(sentence, "Check the spelling.", ExitCode.NOT_FOUND)
        case 409:
            # The message says what the conflict is; solutions vary.
            return conflict(sentence, "Nothing was changed.")
        case 413:
            return ToolError(sentence, "Make it smaller.", ExitCode.INVALID_WIDGET)
        case 429:
            return _too_often(reply, sentence)
        case 502 | 503 | 504:
            return unreachable(sentence, "Try again in a minute.")
        case status if status >= 500:
            return ToolError(
                sentence, "Try again later; if it persists, contact the catalog's operator."
            )
    return ToolError(sentence, "Correct that, then try again.")


def not_a_catalog(url: str) -> ToolError:
    return unreachable(
        f"{url} does not respond like a Widget Catalog.",
        "Check the URL. A proxy or a sign-in page of your network may have responded instead.",
    )


def _without_a_sentence(reply: Reply, url: str) -> ToolError:
    """The response of a proxy, or of a server that is not a catalog."""
    if reply.status == 429:
        return _too_often(reply, f"{url} received too many requests.")
    if wants_https(url, reply.body):
        return speaks_https(url)
    if reply.status < 500:
        return not_a_catalog(url)
    passes = reply.status in (502, 503, 504)
    return ToolError(
        f"{url} has an internal error (status {reply.status}).",
        "Try again later; if it persists, contact the catalog's operator.",
        ExitCode.UNREACHABLE if passes else ExitCode.FAILED,
    )


def _too_often(reply: Reply, sentence: str) -> ToolError:
    wait_s = reply.retry_after_s
    hint = f"Try again in {wait_s:,} seconds." if wait_s else "Try again in a minute."
    return ToolError(sentence, hint, ExitCode.LIMITED)


def sentence_in(reply: Reply) -> str | None:
    """The error message of the catalog, if the response has one."""
    found = decoded(reply)
    if not isinstance(found, dict):
        return None
    # In OAuth's format, `error` is a code.
    message = found.get("error_description", found.get("error"))
    return message[:_LONGEST_SENTENCE] if isinstance(message, str) and message.strip() else None


def decoded(reply: Reply) -> Any:
    """The decoded body; None if it is not JSON, or nested too deeply."""
    try:
        return msgspec.json.decode(reply.body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
