"""A static site as the API of a service: a transport for httpx that answers from the site's files.

Each response is verified with the site's list of hashes. Only what the list does not name is
missing: a file that cannot be read, or has another hash, was not copied yet, or is being replaced.
"""

import hashlib
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, unquote, urlsplit

import httpx
import msgspec

from widget_contract.static_sites import ENTRY, FORMAT, SUMS, Entry, Index, Indexed, parse_sums
from widget_contract.version_files import SEARCH, WIDGETS
from widget_contract.wire import Error, SearchResults, WidgetSummary
from widget_contract.wire_running import Changes

_API, _CDN = "api/", "cdn/"
_SEARCH = SEARCH.strip("/")
_CHANGES = f"{WIDGETS}changes".strip("/")
_MAX_BYTES = 512 << 20
_WITHIN_S = 300.0
_PIECE = 1 << 16
# Some hosts answer 403 if there is no such file.
_MISSING = (403, 404, 410)

_decode_entry = msgspec.json.Decoder(Entry).decode
_decode_index = msgspec.json.Decoder(Index).decode
_decode_changes = msgspec.json.Decoder(Changes).decode


class _Refused(Exception):
    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class _State(NamedTuple):
    """The site as it was built once: what its clients read, and the newest change in it."""

    hashes: dict[str, str]
    revision: int


class SiteTransport(httpx.BaseTransport):
    """Requests to the catalog at this URL. If it is a service, they are passed on as they are: the
    first one finds out. Used by several threads.
    """

    def __init__(self, http: httpx.Client, url: str) -> None:
        self._http = http
        self._url = url
        self._mutex = threading.Lock()
        self._is_site: bool | None = None
        self._state: _State | None = None
        self._newest = 0
        self._index: tuple[str, tuple[Indexed, ...]] = ("", ())

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        try:
            if not self._find_kind(request):
                return self._http.send(request, stream=True)
            return self._answer(request)
        except _Refused as error:
            return _error(error.status, str(error))
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            return _error(409, f"{request.url} is not what a static site has ({error}).")

    def _find_kind(self, request: httpx.Request) -> bool:
        with self._mutex:
            if self._is_site is None:
                status, content = self._get(ENTRY, request)
                if status == 429 or status >= 500:
                    raise _Refused(503, f"{self._url}/{ENTRY} answers with status {status}.")
                self._is_site = status == 200 and _is_entry(content)
            return self._is_site

    def _answer(self, request: httpx.Request) -> httpx.Response:
        base = unquote(urlsplit(self._url).path).rstrip("/") + "/"
        if not request.url.path.startswith(base):
            raise _Refused(404, f"{request.url} is not a file of {self._url}.")
        path, query = request.url.path.removeprefix(base), request.url.params
        if not path.startswith(_API):
            if path not in self._known(request).hashes:
                raise _Refused(404, f"{request.url} is not a file of {self._url}.")
            # Its hash is in the details of its version.
            return self._http.send(self._request(path, request), stream=True)
        if path == _SEARCH:
            body = self._search(query, request)
        elif path == _CHANGES:
            if "event-stream" in request.headers.get("accept", ""):
                raise _Refused(503, "A static site has no events.")
            body = self._changes(int(query["since"]), int(query["limit"]), request)
        else:
            # Build metadata does not distinguish versions.
            name = path.partition("+")[0].removesuffix(".json")
            body = self._read(f"{name}.json", request)
        return httpx.Response(200, stream=httpx.ByteStream(body))

    def _search(self, query: httpx.QueryParams, request: httpx.Request) -> bytes:
        """All widgets of a scope or that are official, without their versions."""
        path = f"{_SEARCH}.json"
        body = self._read(path, request)
        sha256_hash, widgets = self._index
        if sha256_hash != (found := hashlib.sha256(body).hexdigest()):
            widgets = _decode_index(body).widgets
            self._index = found, widgets
        scope, official = query.get("scope"), query.get("official")
        matching = [
            widget
            for widget in widgets
            if (scope is None or widget.scope == scope)
            and (official is None or bool(widget.is_official) is (official == "true"))
        ]
        page, limit = int(query["page"]), int(query["limit"])
        shown = matching[(page - 1) * limit : page * limit]
        results = SearchResults(tuple(map(_summary, shown)), len(matching), page, limit)
        return msgspec.json.encode(results)

    def _changes(self, since: int, limit: int, request: httpx.Request) -> bytes:
        page = _decode_changes(self._read(f"{_CHANGES}.json", request))
        if since > page.newest:
            raise self._older(page.newest, since)
        first = page.changes[0].seq if page.changes else page.newest + 1
        if since < first - 1:
            raise _Refused(410, f"Changes after {since} are not in {self._url} any more.")
        some = tuple(it for it in page.changes if it.seq > since)[:limit]
        return msgspec.json.encode(Changes(some, some[-1].seq if some else since, page.newest))

    def _read(self, path: str, request: httpx.Request) -> bytes:
        """A file as it is listed. If it is another, the list is read again, once."""
        for _ in range(2):
            state = self._known(request)
            if path not in state.hashes:
                raise _Refused(404, f"{self._url} has no {path}.")
            status, content = self._get(path, request)
            if status == 200 and hashlib.sha256(content).hexdigest() == state.hashes[path]:
                return content
            if status not in (200, *_MISSING):
                raise _Refused(503, f"{self._url}/{path} answers with status {status}.")
            with self._mutex:
                if self._state is state:
                    self._state = None
        raise self._incomplete(path)

    def _known(self, request: httpx.Request) -> _State:
        with self._mutex:
            if self._state is None:
                self._state = self._read_state(request)
            return self._state

    def _read_state(self, request: httpx.Request) -> _State:
        status, content = self._get(SUMS, request)
        if status in _MISSING:
            raise _Refused(
                409, f"{self._url} has no {SUMS}: build the site again, and copy all of its files."
            )
        hashes = parse_sums(content) if status == 200 else None
        if hashes is None:
            raise self._incomplete(SUMS)
        status, content = self._get(ENTRY, request)
        if status != 200 or hashlib.sha256(content).hexdigest() != hashes[ENTRY]:
            raise self._incomplete(ENTRY)
        entry = _decode_entry(content)
        if entry.format > FORMAT:
            raise _Refused(409, f"{self._url} was built by a newer release. Upgrade this one.")
        if entry.revision < self._newest:
            raise self._older(entry.revision, self._newest)
        self._newest = entry.revision
        used = {path: it for path, it in hashes.items() if path.startswith((_API, _CDN))}
        return _State(used, entry.revision)

    def _get(self, path: str, request: httpx.Request) -> tuple[int, bytes]:
        until, content = time.monotonic() + _WITHIN_S, bytearray()
        response = self._http.send(self._request(path, request), stream=True)
        try:
            for piece in response.iter_bytes():
                content += piece
                if len(content) > _MAX_BYTES or time.monotonic() > until:
                    raise _Refused(503, f"{response.url} is too large, or too slow.")
        finally:
            response.close()
        return response.status_code, bytes(content)

    def _request(self, path: str, request: httpx.Request) -> httpx.Request:
        """For a file of the site, with the headers and the timeouts of this request."""
        names = ("accept-encoding", "user-agent")
        headers = {name: it for name in names if (it := request.headers.get(name))}
        url = f"{self._url}/{quote(path, safe='/@')}"
        return httpx.Request("GET", url, headers=headers, extensions=request.extensions)

    def _incomplete(self, path: str) -> _Refused:
        return _Refused(
            503,
            f"{self._url}/{path} is not what {SUMS} says: the site is being written, or was not "
            "copied completely.",
        )

    def _older(self, revision: int, copied: int) -> _Refused:
        return _Refused(
            409,
            f"{self._url} is older than what was copied from it: it ends with change {revision}, "
            f"and change {copied} was copied. Nothing was changed. Use a newer copy. If "
            "its catalog was restored from a backup, mirror it into a new data folder.",
        )


class FolderTransport(httpx.BaseTransport):
    """The files of a folder, as a host serves them at this URL."""

    def __init__(self, folder: Path, url: str) -> None:
        self._folder = folder.resolve()
        self._base = unquote(urlsplit(url).path).rstrip("/") + "/"

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path
        try:
            target = (self._folder / path.removeprefix(self._base)).resolve()
            if path.startswith(self._base) and target.is_relative_to(self._folder):
                return httpx.Response(200, stream=_FileStream(target))
        except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
            pass
        except (OSError, ValueError) as error:
            raise httpx.ReadError(f"{path}: {error}", request=request) from None
        return httpx.Response(404, stream=httpx.ByteStream(b""))


class _FileStream(httpx.SyncByteStream):
    def __init__(self, path: Path) -> None:
        self._file = path.open("rb")

    def __iter__(self) -> Iterator[bytes]:
        try:
            while piece := self._file.read(_PIECE):
                yield piece
        except OSError as error:
            raise httpx.ReadError(f"{self._file.name}: {error.strerror}") from None

    def close(self) -> None:
        self._file.close()


def _error(status: int, sentence: str) -> httpx.Response:
    return httpx.Response(status, stream=httpx.ByteStream(msgspec.json.encode(Error(sentence))))


def _is_entry(content: bytes) -> bool:
    try:
        _decode_entry(content)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return False
    return True


def _summary(indexed: Indexed) -> WidgetSummary:
    return WidgetSummary(
        scope=indexed.scope,
        name=indexed.name,
        display_name=indexed.display_name,
        description=indexed.description,
        icon=None,
        is_official=indexed.is_official,
        download_count=indexed.download_count,
        latest_version=None,
    )
