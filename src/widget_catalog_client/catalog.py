"""Catalog: the synchronous client."""

import contextlib
import time
from collections.abc import Iterable, Iterator
from types import TracebackType
from typing import Any, BinaryIO, Self, TypeVar

import httpx

from widget_contract.wire import Registry, SearchResults, Settings, VersionEntry, WidgetDetail
from widget_contract.wire_running import (
    Change,
    Changes,
    InstalledWidget,
    PublishedFile,
    Resolved,
    Revocations,
    VersionDetail,
)

from .calls import Call, Calls, ClientError, Response
from .flows import (
    Emit,
    Fetch,
    Flow,
    Listen,
    Pause,
    Receiver,
    Step,
    WatchOptions,
    downloaded,
    fetched,
    watched,
)
from .transport import errors_named, headers_of, http_options, stream_timeout

T = TypeVar("T")


class Catalog:
    """A catalog by its URL, such as `https://catalog.example`. Thread-safe.

    `timeout_s` is the timeout for connecting and for reading. Requests that fail, or return `503`
    or `429`, are retried `retries` times. `http` is your own httpx client, with proxies or
    certificates; it is not closed.
    """

    def __init__(
        self, url: str, *, timeout_s: float = 10, retries: int = 2, http: httpx.Client | None = None
    ) -> None:
        self._calls = Calls(url)
        self._retries = retries
        self._is_own = http is None
        self._http = http or httpx.Client(**http_options(timeout_s))

    @property
    def url(self) -> str:
        return self._calls.url

    def search(
        self,
        q: str | None = None,
        *,
        compat_sdk: str | None = None,
        scope: str | None = None,
        official: bool | None = None,
        page: int = 1,
        limit: int = 20,
    ) -> SearchResults:
        return self._call(
            self._calls.search(
                q, compat_sdk=compat_sdk, scope=scope, official=official, page=page, limit=limit
            )
        )

    def detail(self, widget_id: str) -> WidgetDetail:
        """A widget, `scope/name`, with all its versions."""
        return self._call(self._calls.detail(widget_id))

    def version(self, widget_id: str, number: str) -> VersionDetail:
        """One version in full: manifest, files, changes of permissions."""
        return self._call(self._calls.version(widget_id, number))

    def registry(self, scope: str) -> Registry:
        """All listed widgets of a scope."""
        return self._call(self._calls.registry(scope))

    def resolve(
        self,
        sdk: str,
        widgets: Iterable[InstalledWidget | str],
        *,
        min_age_days: float | None = None,
    ) -> Resolved:
        """What to do about these widgets with this SDK. A string is a widget to be installed."""
        return self._call(self._calls.resolve(sdk, widgets, min_age_days))

    def changes(self, since: int = 0, *, limit: int = 100) -> Changes:
        """A page of the changes after this number."""
        return self._call(self._calls.changes(since, limit))

    def revocations(self) -> Revocations:
        """All bundles that must not run."""
        return self._call(self._calls.revocations())

    def settings(self) -> Settings:
        """The public settings of the catalog."""
        return self._call(self._calls.settings())

    def count_install(self, widget_id: str) -> None:
        """Count an install of a widget, `scope/name`. It is not retried, so that nothing is counted
        twice."""
        self._run(fetched(self._calls.count_install(widget_id), retries=0))

    def download_bundle(self, file: VersionEntry | PublishedFile, to: BinaryIO) -> None:
        """Write a bundle or style sheet to a seekable file, and verify its size and SHA-256. If
        this raises, the file is empty."""
        self._run(downloaded(file, to, self._retries))

    def watch(
        self, since: int | None = None, *, poll_s: float = 15, streams: bool = True
    ) -> Iterator[Change]:
        """Every change after `since` as it happens, exactly once; without `since`, new changes.

        Uses an event stream, which is reopened after a disconnect, or polling. Close the iterator
        to stop it. Raises FeedExpired if changes are missed.
        """
        flow = watched(self._calls, since, WatchOptions(poll_s, streams))
        with contextlib.ExitStack() as stack:
            stream = _Stream(self, stack)
            step = next(flow)
            while True:
                result = None
                if isinstance(step, Emit):
                    yield step.change
                else:
                    try:
                        result = stream.do(step)
                    except ClientError as error:
                        step = flow.throw(error)
                        continue
                step = flow.send(result)

    def close(self) -> None:
        if self._is_own:
            self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _call(self, call: Call[T]) -> T:
        return self._run(fetched(call, self._retries))

    def _run(self, flow: Flow[T]) -> T:
        try:
            step = next(flow)
            while True:
                try:
                    result = self._do(step)
                except ClientError as error:
                    step = flow.throw(error)
                else:
                    step = flow.send(result)
        except StopIteration as end:
            value: T = end.value
            return value

    def _do(self, step: Step) -> Any:
        if isinstance(step, Pause):
            return time.sleep(step.seconds)
        assert isinstance(step, Fetch)  # noqa: S101
        request = step.request
        with (
            errors_named(request.url),
            self._http.stream(
                request.method, request.url, headers=request.headers, content=request.content
            ) as response,
        ):
            receiver = Receiver(step, response.status_code, headers_of(response))
            for piece in response.iter_raw():
                receiver.take(piece)
            return receiver.response()


class _Stream:
    """Runs the steps of watching, with at most one open stream."""

    def __init__(self, catalog: Catalog, stack: contextlib.ExitStack) -> None:
        self._catalog = catalog
        self._stack = stack
        self._pieces: Iterator[bytes] = iter(())

    def do(self, step: Step) -> Any:
        if isinstance(step, Fetch | Pause):
            self._stack.close()
            return self._catalog._do(step)  # noqa: SLF001
        if isinstance(step, Listen):
            return self._open(step)
        try:
            return next(self._pieces, b"")
        except httpx.HTTPError:
            return b""

    def _open(self, step: Listen) -> Response:
        self._stack.close()
        request = step.request
        http = self._catalog._http  # noqa: SLF001
        with errors_named(request.url):
            response = self._stack.enter_context(
                http.stream(
                    request.method,
                    request.url,
                    headers=request.headers,
                    timeout=stream_timeout(http.timeout, step.idle_s),
                )
            )
            if response.status_code == 200:
                self._pieces = response.iter_raw()
                return Response(200, headers_of(response), b"")
            receiver = Receiver(Fetch(request), response.status_code, headers_of(response))
            for piece in response.iter_raw():
                receiver.take(piece)
            return receiver.response()
