"""HTTP with timeouts, size limits, and retries of idempotent requests."""

import random
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, Self

from .bodies import TooLarge, UnknownEncoding, read_body
from .connection_faults import host_of, is_lasting, unreachable
from .console import plain, say, sized
from .errors import ToolError, wrong_usage
from .exits import ExitCode
from .release import VERSION

Pause = Callable[[float], None]

_ATTEMPTS = 4
_FIRST_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 30
# Temporary failures of a gateway or of the service.
_PASSING = frozenset({502, 503, 504})
_TOO_MANY = 429

# Maximum size of a decompressed response. The largest documents are pages of search results with
# release notes, and widgets with hundreds of versions; the operator limits the size of files.
SMALL_BYTES = 1 << 20
DOCUMENT_BYTES = 32 << 20
FILE_BYTES = 64 << 20


class Reply(NamedTuple):
    """A response with any status."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def retry_after_s(self) -> int | None:
        text = self.headers.get("retry-after", "")
        return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None


class Transport:
    """Sends requests. Callers interpret the status."""

    def __init__(
        self,
        *,
        attempts: int = _ATTEMPTS,
        timeout_s: float | None = None,
        pause: Pause = time.sleep,
    ) -> None:
        import httpx  # Here: it takes half the startup time, and many commands need no HTTP.

        self._attempts = attempts
        self._pause = pause
        usual = httpx.Timeout(30, connect=10, write=60)
        timeout = usual if timeout_s is None else httpx.Timeout(timeout_s)
        headers = {
            "User-Agent": f"widget-cli/{VERSION}",
            "Accept": "application/json",
            "Accept-Encoding": "gzip",  # The encoding that `bodies` supports.
        }
        self._client = httpx.Client(timeout=timeout, headers=headers)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def send(
        self,
        method: str,
        address: str,
        *,
        is_repeatable: bool,
        token: str | None = None,
        content: Callable[[], Iterable[bytes]] | None = None,
        headers: Mapping[str, str] | None = None,
        max_bytes: int = DOCUMENT_BYTES,
        **options: Any,
    ) -> Reply:
        """Send a request, with a few retries.

        If `is_repeatable` is false, it is retried only if it cannot have been processed: the
        connection failed, or the response was 429. `content` is called for each attempt; `options`
        are httpx's `json`, `data` and `params`. A response larger than `max_bytes` is not read to
        its end.
        """
        import httpx

        given = dict(headers or {})
        if token is not None:
            given["Authorization"] = f"Bearer {token}"
        for attempt in range(1, self._attempts + 1):
            if content is not None:
                options["content"] = content()
            is_last = attempt == self._attempts
            try:
                reply = self._send_once(method, address, max_bytes, headers=given, **options)
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                if is_last or is_lasting(error):
                    raise unreachable(address, error) from None
                pause_s = _growing(attempt)
            except httpx.TransportError as error:
                if isinstance(error, httpx.UnsupportedProtocol):
                    raise _no_address(address) from None
                if is_last or not is_repeatable or is_lasting(error):
                    raise unreachable(address, error) from None
                pause_s = _growing(attempt)
            except (httpx.InvalidURL, httpx.RequestError):
                raise _no_address(address) from None
            else:
                is_passing = reply.status == _TOO_MANY or (
                    is_repeatable and reply.status in _PASSING
                )
                pause_s = _growing(attempt)
                if reply.retry_after_s is not None:
                    pause_s = max(pause_s, float(reply.retry_after_s))
                if is_last or not is_passing or pause_s > _LONGEST_PAUSE_S:
                    return reply
            if say.is_terminal:
                say.print(f"[dim]{plain(host_of(address))} does not respond; retrying …[/]")
            self._pause(pause_s)
        raise AssertionError("The last attempt returns or raises.")

    def _send_once(self, method: str, address: str, max_bytes: int, **options: Any) -> Reply:
        with self._client.stream(method, address, **options) as answer:
            try:
                body = read_body(answer, max_bytes)
            except TooLarge:
                sentence = f"{host_of(address)} sent a response larger than {sized(max_bytes)}."
                raise _strange(sentence) from None
            except UnknownEncoding:
                sentence = (
                    f"{host_of(address)} sent a response with an unsupported content encoding."
                )
                raise _strange(sentence) from None
            return Reply(answer.status_code, answer.headers, body)


def _growing(attempt: int) -> float:
    """Exponential backoff with jitter."""
    return float(_FIRST_PAUSE_S * 2 ** (attempt - 1) * random.uniform(0.8, 1.2))  # noqa: S311


def _strange(sentence: str) -> ToolError:
    hint = "Check the URL, and whether a proxy responded instead."
    return ToolError(sentence, hint, ExitCode.UNREACHABLE)


def _no_address(address: str) -> ToolError:
    return wrong_usage(
        f"{address!r} is not a valid URL.",
        "Write the catalog's URL like https://catalog.example.",
    )
