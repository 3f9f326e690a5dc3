"""HTTP with timeouts, size limits, and retries of idempotent requests."""

import random
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Self
from urllib.parse import urlsplit

from .console import plain, say, sized
from .errors import ExitCode, ToolError, wrong_usage
from .release import VERSION

if TYPE_CHECKING:
    import httpx

_GZIP = 16 + zlib.MAX_WBITS


class TooLarge(Exception):
    """The body exceeds the limit."""


class UnknownEncoding(Exception):
    """The content encoding is unsupported, or the body does not match it."""


def read_body(answer: "httpx.Response", max_bytes: int) -> bytes:
    """The decompressed body. `max_bytes` limits both the compressed and the decompressed size."""
    encoding = answer.headers.get("content-encoding", "").strip().lower()
    if encoding not in ("", "identity", "gzip"):
        raise UnknownEncoding
    sent = _read(answer, max_bytes)
    return _unpacked(sent, max_bytes) if sent and encoding == "gzip" else sent


def _unpacked(packed: bytes, max_bytes: int) -> bytes:
    unpacker = zlib.decompressobj(_GZIP)
    try:
        body = unpacker.decompress(packed, max_bytes + 1)
    except zlib.error:
        raise UnknownEncoding from None
    if len(body) > max_bytes:
        raise TooLarge
    if not unpacker.eof:
        raise UnknownEncoding
    return body


def _read(answer: "httpx.Response", max_bytes: int) -> bytes:
    body = bytearray()
    for piece in answer.iter_raw():
        body += piece
        if len(body) > max_bytes:
            raise TooLarge
    return bytes(body)


# OpenSSL's errors for a response that is not TLS.
_NOT_TLS = frozenset({"WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE",
                      "PACKET_LENGTH_TOO_LONG", "UNKNOWN_PROTOCOL"})  # fmt: skip
_PROBE_S = 3
# Responses of servers to http on an https port: nginx, Apache, Go, Node.
_WANTS_TLS = (b"HTTP request was sent to HTTPS port", b"plain HTTP to an SSL-enabled server port",
              b"HTTP request to an HTTPS server")  # fmt: skip


def unreachable(address: str, error: "httpx.TransportError") -> ToolError:
    import httpx

    host = host_of(address)
    if _is_untrusted(error):
        return ToolError(
            f"{host} has a TLS certificate that this machine does not trust.",
            "Check the URL. For a private certificate authority, set SSL_CERT_FILE.",
            ExitCode.UNREACHABLE,
        )
    if _is_http_only(error):
        return ToolError(
            f"{host} uses http on this port, not https.",
            f"If you trust this network, use http://{host}.",
            ExitCode.UNREACHABLE,
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
    return ToolError(
        f"{host} cannot be reached: {reason}.",
        "Check the address and your network, then try again.",
        ExitCode.UNREACHABLE,
    )


def is_lasting(error: BaseException) -> bool:
    """Whether a retry would fail in the same way."""
    return _is_untrusted(error) or _is_http_only(error)


def speaks_https(address: str) -> ToolError:
    host = host_of(address)
    return ToolError(
        f"{host} uses https on this port, not http.",
        f"Use https://{host}.",
        ExitCode.UNREACHABLE,
    )


def wants_https(address: str, body: bytes) -> bool:
    """Whether a server that requires https has responded to http."""
    return address.startswith("http://") and any(it in body for it in _WANTS_TLS)


def host_of(address: str) -> str:
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
