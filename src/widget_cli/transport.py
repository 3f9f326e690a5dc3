"""HTTP with timeouts, size limits, and retries of idempotent requests."""

import random
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Self
from urllib.parse import urlsplit

from . import VERSION
from .console import plain, say, sized
from .errors import ToolError, unreachable, wrong_usage

if TYPE_CHECKING:
    import httpx

_GZIP = 16 + zlib.MAX_WBITS
# OpenSSL's errors for a response that is not TLS.
_NOT_TLS = frozenset({"WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE",
                      "PACKET_LENGTH_TOO_LONG", "UNKNOWN_PROTOCOL"})  # fmt: skip
_PROBE_S = 3
# Responses of servers to http on an https port: nginx, Apache, Go, Node.
_WANTS_TLS = (b"HTTP request was sent to HTTPS port", b"plain HTTP to an SSL-enabled server port",
              b"HTTP request to an HTTPS server")  # fmt: skip
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
# The timeout of reading is that of one read. A body may take this many times as long in all, so
# that a server which sends a byte now and then cannot keep the tool forever.
_BODY_TIMEOUTS = 10


def _read_body(response: "httpx.Response", max_bytes: int, host: str, longest_s: float) -> bytes:
    """The decompressed body. `max_bytes` limits both the compressed and the decompressed size.

    It is decompressed here and not by httpx, which decompresses a whole chunk at once: a few
    kilobytes from a malicious server can become gigabytes.
    """
    hint = "Check the URL, and whether a proxy responded instead."
    too_large = unreachable(f"{host} sent a response larger than {sized(max_bytes)}.", hint)
    unsupported = unreachable(f"{host} sent a response with an unsupported content encoding.", hint)
    encoding = response.headers.get("content-encoding", "").strip().lower()
    if encoding not in ("", "identity", "gzip"):
        raise unsupported
    sent = bytearray()
    deadline_s = time.monotonic() + longest_s
    for piece in response.iter_raw():
        sent += piece
        if time.monotonic() > deadline_s:
            slow = f"{host} did not send its whole response within {longest_s:,.0f} seconds."
            raise unreachable(slow, "Check your network, and whether a proxy responded instead.")
        if len(sent) > max_bytes:
            raise too_large
    if not sent or encoding != "gzip":
        return bytes(sent)
    unpacker = zlib.decompressobj(_GZIP)
    try:
        body = unpacker.decompress(sent, max_bytes + 1)
    except zlib.error:
        raise unsupported from None
    if len(body) > max_bytes:
        raise too_large
    if not unpacker.eof:
        raise unsupported
    return body


def _connection_error(address: str, error: "httpx.TransportError") -> ToolError:
    import httpx

    host = _host_of(address)
    if _is_untrusted(error):
        return unreachable(
            f"{host} has a TLS certificate that this machine does not trust.",
            "Check the URL. For a private certificate authority, set SSL_CERT_FILE.",
        )
    if _is_http_only(error):
        return unreachable(
            f"{host} uses http on this port, not https.",
            f"If you trust this network, use http://{host}.",
        )
    if isinstance(error, httpx.TimeoutException):
        reason = "the request timed out"
    elif isinstance(error, httpx.ConnectError):
        is_refused = any(isinstance(it, ConnectionRefusedError) for it in _causes(error))
        reason = "connection refused" if is_refused else "the connection failed"
    elif _accepts_tls(address):
        return speaks_https(address)
    else:
        reason = "the connection was closed"
    return unreachable(
        f"{host} cannot be reached: {reason}.",
        "Check the address and your network, then try again.",
    )


def _is_lasting(error: BaseException) -> bool:
    """Whether a retry would fail in the same way."""
    return _is_untrusted(error) or _is_http_only(error)


def speaks_https(address: str) -> ToolError:
    host = _host_of(address)
    return unreachable(f"{host} uses https on this port, not http.", f"Use https://{host}.")


def wants_https(address: str, body: bytes) -> bool:
    """Whether a server that requires https has responded to http."""
    return address.startswith("http://") and any(it in body for it in _WANTS_TLS)


def _host_of(address: str) -> str:
    return address.partition("://")[2].partition("/")[0] or address


def _accepts_tls(address: str) -> bool:
    """Whether a server that closes http connections accepts a TLS handshake."""
    import socket
    import ssl

    parts = urlsplit(address)
    if parts.scheme != "http" or parts.hostname is None:
        return False
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE  # A hint needs no verified identity.
    try:
        with (
            socket.create_connection((parts.hostname, parts.port or 80), _PROBE_S) as connection,
            context.wrap_socket(connection, server_hostname=parts.hostname),
        ):
            return True
    except (OSError, ValueError):
        return False


def _is_untrusted(error: BaseException) -> bool:
    import ssl

    return any(isinstance(it, ssl.SSLCertVerificationError) for it in _causes(error))


def _is_http_only(error: BaseException) -> bool:
    import ssl

    return any(isinstance(it, ssl.SSLError) and it.reason in _NOT_TLS for it in _causes(error))


def _causes(error: BaseException) -> Iterator[BaseException]:
    cause: BaseException | None = error
    while cause is not None:
        yield cause
        cause = cause.__cause__ or cause.__context__


Pause = Callable[[float], None]


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
            "Accept-Encoding": "gzip",  # The encoding that `_read_body` supports.
        }
        self._client = httpx.Client(timeout=timeout, headers=headers)
        self._longest_body_s = _BODY_TIMEOUTS * (timeout.read or 0)

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
                if is_last or _is_lasting(error):
                    raise _connection_error(address, error) from None
                pause_s = _growing(attempt)
            except httpx.TransportError as error:
                if isinstance(error, httpx.UnsupportedProtocol):
                    raise _no_address(address) from None
                if is_last or not is_repeatable or _is_lasting(error):
                    raise _connection_error(address, error) from None
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
                say.print(f"[dim]{plain(_host_of(address))} does not respond; retrying …[/]")
            self._pause(pause_s)
        raise AssertionError("The last attempt returns or raises.")

    def _send_once(self, method: str, address: str, max_bytes: int, **options: Any) -> Reply:
        with self._client.stream(method, address, **options) as response:
            body = _read_body(response, max_bytes, _host_of(address), self._longest_body_s)
            return Reply(response.status_code, response.headers, body)


def _growing(attempt: int) -> float:
    """Exponential backoff with jitter."""
    return float(_FIRST_PAUSE_S * 2 ** (attempt - 1) * random.SystemRandom().uniform(0.8, 1.2))


def _no_address(address: str) -> ToolError:
    return wrong_usage(
        f"{address!r} is not a valid URL.", "Write the catalog's URL like https://catalog.example."
    )
