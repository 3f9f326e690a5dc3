"""Options for httpx that both clients use, and its errors as ours."""

import contextlib
from collections.abc import Iterator
from typing import Any

import httpx

from .calls import CatalogUnavailable, InvalidRequest, UnexpectedAnswer

_MAX_CONNECTIONS = 64


def http_options(timeout_s: float) -> dict[str, Any]:
    return {
        "timeout": httpx.Timeout(timeout_s),
        "limits": httpx.Limits(max_connections=_MAX_CONNECTIONS, max_keepalive_connections=16),
        "follow_redirects": False,
    }


def stream_timeout(usual: httpx.Timeout, idle_s: float) -> httpx.Timeout:
    """The timeouts of a stream, which may be idle for longer than a request may take."""
    return httpx.Timeout(idle_s, connect=usual.connect, write=usual.write, pool=usual.pool)


def headers_of(response: httpx.Response) -> dict[str, str]:
    return {name.lower(): value for name, value in response.headers.items()}


@contextlib.contextmanager
def errors_named(url: str) -> Iterator[None]:
    try:
        yield
    except httpx.TimeoutException:
        raise CatalogUnavailable(f"{url} does not answer in time.") from None
    except httpx.ConnectError as error:
        raise CatalogUnavailable(f"{url} cannot be reached: {_reason(error)}.") from error
    # UnicodeError: a host name that cannot be encoded, or a lone surrogate.
    except (httpx.InvalidURL, httpx.UnsupportedProtocol, UnicodeError) as error:
        raise InvalidRequest(f"{url[:200]!r} is not an address: {_reason(error)}.") from None
    except (httpx.DecodingError, httpx.TooManyRedirects) as error:
        raise UnexpectedAnswer(f"{url} cannot be read: {_reason(error)}.") from None
    except httpx.HTTPError as error:
        raise CatalogUnavailable(f"{url} broke off: {_reason(error)}.") from error


def _reason(error: Exception) -> str:
    return str(error).rstrip(".")
