"""The requests to a catalog as values, how their responses are parsed, and the errors. No I/O."""

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Generic, NamedTuple, TypeVar
from urllib.parse import quote, urlencode, urlsplit

import msgspec

from widget_contract.errors import CatalogError
from widget_contract.names import is_name, is_widget_key
from widget_contract.semver import InvalidVersion, SemVer
from widget_contract.version_files import SEARCH, WIDGETS, detail_path
from widget_contract.wire import Counted, Error, Registry, SearchResults, Settings, WidgetDetail
from widget_contract.wire_running import (
    Changes,
    InstalledWidget,
    Resolved,
    ResolveRequest,
    Revocations,
    VersionDetail,
)

T = TypeVar("T")

USER_AGENT = "widget-catalog-client/0.2.0"
CHANGES = f"{WIDGETS}changes"
# Size limits of small responses, and of those that grow with the catalog.
_SMALL_BYTES = 8 << 20
_LARGE_BYTES = 256 << 20
_RESPONSE_WITHIN_S = 60.0
_ERROR = re.compile(r"(?<=[.!?]) (?=[\w\[\].]+: )")


class ClientError(CatalogError):
    """The base class of all errors of this package."""


class InvalidRequest(ClientError, ValueError):
    """The request is invalid. `faults` are the errors, one by one."""

    def __init__(self, message: str, faults: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.faults = faults or (message,)


class NotFound(ClientError, LookupError):
    """The widget, version, scope or file does not exist, or is unlisted."""


class FeedExpired(ClientError):
    """The catalog no longer has the changes after this number. Read everything again."""


class Revoked(ClientError):
    """The file belongs to a revoked version, and is not served."""


class CatalogUnavailable(ClientError):
    """No response, or one that asks to retry later. `retry_after` is in seconds, if given."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class UnexpectedAnswer(ClientError):
    """A response that is not a catalog's: malformed, too large, or with an unknown encoding."""


class IntegrityError(ClientError):
    """A file does not have the size or the SHA-256 that the catalog states."""


class Request(NamedTuple):
    method: str
    url: str
    headers: Mapping[str, str]
    content: bytes | None = None
    max_bytes: int = _SMALL_BYTES
    within_s: float = _RESPONSE_WITHIN_S
    """How long the whole response may take."""


class Response(NamedTuple):
    """`headers` have lower-case names. `body` is decompressed."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Call(NamedTuple, Generic[T]):
    request: Request
    read: Callable[[Response], T]
    """Raises a ClientError."""


class Calls:
    """The calls of one catalog, by its URL."""

    def __init__(self, url: str) -> None:
        if not _is_address(url):
            raise InvalidRequest(f"{url[:200]!r} is not the address of a catalog: write https://…")
        self.url = url.rstrip("/")

    def search(
        self,
        q: str | None,
        *,
        compat_sdk: str | None,
        scope: str | None,
        official: bool | None,
        page: int,
        limit: int,
    ) -> Call[SearchResults]:
        given = {"q": q, "compatSdk": compat_sdk, "scope": scope, "page": page, "limit": limit}
        query: dict[str, object] = {key: it for key, it in given.items() if it is not None}
        if official is not None:
            query["official"] = str(official).lower()
        return self._get(SEARCH, SearchResults, query)

    def detail(self, widget_id: str) -> Call[WidgetDetail]:
        return self._get(detail_path(*_parts(widget_id)), WidgetDetail, max_bytes=_LARGE_BYTES)

    def version(self, widget_id: str, number: str) -> Call[VersionDetail]:
        try:
            SemVer.parse(number)
        except InvalidVersion as error:
            raise InvalidRequest(str(error)) from None
        path = f"{detail_path(*_parts(widget_id))}/{quote(number)}"
        return self._get(path, VersionDetail)

    def registry(self, scope: str) -> Call[Registry]:
        if not is_name(scope):
            raise InvalidRequest(f"{scope[:80]!r} is not a scope.")
        return self._get(f"/api/widgets/{scope}/registry.json", Registry, max_bytes=_LARGE_BYTES)

    def changes(self, since: int, limit: int) -> Call[Changes]:
        return self._get(CHANGES, Changes, {"since": since, "limit": limit})

    def revocations(self) -> Call[Revocations]:
        return self._get(f"{WIDGETS}revocations", Revocations, max_bytes=_LARGE_BYTES)

    def settings(self) -> Call[Settings]:
        return self._get("/api/settings", Settings)

    def resolve(
        self, sdk: str, widgets: Iterable[InstalledWidget | str], min_age_days: float | None
    ) -> Call[Resolved]:
        wanted = tuple(InstalledWidget(it) if isinstance(it, str) else it for it in widgets)
        body = msgspec.json.encode(
            ResolveRequest(sdk, wanted, msgspec.UNSET if min_age_days is None else min_age_days)
        )
        headers = _headers() | {"content-type": "application/json"}
        request = Request("POST", f"{self.url}{WIDGETS}resolve", headers, body)
        return Call(request, _reader(Resolved))

    def count_install(self, widget_id: str) -> Call[Counted]:
        path = detail_path(*_parts(widget_id))
        return Call(Request("POST", f"{self.url}{path}", _headers()), _reader(Counted))

    def events(self, since: int) -> Request:
        """The changes after this one as server-sent events, uncompressed."""
        headers = {
            "accept": "text/event-stream",
            "accept-encoding": "identity",
            "last-event-id": str(since),
            "user-agent": USER_AGENT,
        }
        return Request("GET", f"{self.url}{CHANGES}?since={since}", headers)

    def _get(
        self,
        path: str,
        shape: type[T],
        query: Mapping[str, object] | None = None,
        max_bytes: int = _SMALL_BYTES,
    ) -> Call[T]:
        address = f"{self.url}{path}" + (f"?{urlencode(query)}" if query else "")
        request = Request("GET", address, _headers(), max_bytes=max_bytes)
        return Call(request, _reader(shape))


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        has_port = parts.port != 0  # ValueError, if it is no number.
    except ValueError:
        return False
    return (
        parts.scheme in ("http", "https")
        and bool(parts.hostname)
        and has_port
        and not parts.query
        and not parts.fragment
    )


def file_request(url: str, size_bytes: int, within_s: float) -> Request:
    """A published file by its URL. `size_bytes` is the size that the catalog states."""
    if not url.startswith(("http://", "https://")):
        raise InvalidRequest(f"{url[:200]!r} is not the address of a file.")
    headers = {"accept-encoding": "identity", "user-agent": USER_AGENT}
    return Request("GET", url, headers, max_bytes=size_bytes, within_s=within_s)


def error_of(response: Response, url: str) -> ClientError:
    """The error for a response that is not successful."""
    said = _sentence(response) or f"{url} answers with status {response.status}."
    match response.status:
        case 404:
            return NotFound(said)
        case 410:
            return FeedExpired(said)
        case 429 | 502 | 503 | 504:
            return CatalogUnavailable(said, _seconds(response.headers.get("retry-after")))
        case status if status >= 500:
            return CatalogUnavailable(said)
        case status if 400 <= status < 500:
            return InvalidRequest(said, tuple(_ERROR.split(said)))
    return UnexpectedAnswer(f"{url} answers with status {response.status}: it is no catalog.")


def _reader(shape: type[T]) -> Callable[[Response], T]:
    decoder = msgspec.json.Decoder(shape)

    def read(response: Response) -> T:
        try:
            return decoder.decode(response.body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise UnexpectedAnswer(
                f"The answer is not what a catalog sends ({error}). Is the address right?"
            ) from None

    return read


def _parts(widget_id: str) -> tuple[str, str]:
    key = widget_id.removeprefix("@")
    if not is_widget_key(key):
        raise InvalidRequest(
            f"{widget_id[:80]!r} is not a widget: write scope and name, such as acme/clock."
        )
    scope, _, name = key.partition("/")
    return scope, name


def _headers() -> dict[str, str]:
    return {"accept": "application/json", "accept-encoding": "gzip", "user-agent": USER_AGENT}


def _sentence(response: Response) -> str | None:
    try:
        said: Any = msgspec.json.decode(response.body, type=Error).error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    return str(said)[:2000] or None


def _seconds(text: str | None) -> float | None:
    return float(text) if text is not None and re.fullmatch("[0-9]{1,9}", text) else None
