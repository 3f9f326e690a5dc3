"""Connection errors as messages: certificates, http instead of https, timeouts."""

from collections.abc import Iterator
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from .errors import ToolError
from .exits import ExitCode

if TYPE_CHECKING:
    import httpx

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
