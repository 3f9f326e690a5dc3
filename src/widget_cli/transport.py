"""HTTP as the tool speaks it: time limits, and trying again where that can do no harm."""

import random
import time
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from .console import plain, say
from .errors import ToolError, wrong_usage
from .exits import ExitCode
from .release import VERSION

if TYPE_CHECKING:  # It takes a tenth of a second to load, and not every command needs it.
    import httpx

Pause = Callable[[float], None]

_ATTEMPTS = 4
_FIRST_PAUSE_S = 0.5
_LONGEST_PAUSE_S = 30
# A gateway that has lost its service, a service that cannot write just now: these pass.
_PASSING = frozenset({502, 503, 504})
_TOO_MANY = 429


class Reply(NamedTuple):
    """An answer, whatever its status."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def retry_after_s(self) -> int | None:
        text = self.headers.get("retry-after", "")
        return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else None


class Transport:
    """Sends requests to anybody. What a status means is for others to say."""

    def __init__(
        self,
        *,
        attempts: int = _ATTEMPTS,
        timeout_s: float | None = None,
        pause: Pause = time.sleep,
    ) -> None:
        import httpx

        self._attempts = attempts
        self._pause = pause
        usual = httpx.Timeout(30, connect=10, write=60)
        timeout = usual if timeout_s is None else httpx.Timeout(timeout_s)
        headers = {"User-Agent": f"widget-cli/{VERSION}", "Accept": "application/json"}
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
        **options: Any,
    ) -> Reply:
        """Send it until it is answered, at most a few times.

        What may not be done twice (`is_repeatable` is false) is sent again only if it cannot have
        arrived: no connection came about, or the answer was that there are too many requests.
        `content` is called for each attempt; `options` are httpx's `json`, `data` and `params`.
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
                answer = self._client.request(method, address, headers=given, **options)
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                if is_last or _is_untrusted(error):
                    raise _unreachable(address, error) from None
                pause_s = _growing(attempt)
            except httpx.TransportError as error:
                if isinstance(error, httpx.UnsupportedProtocol):
                    raise _no_address(address) from None
                if is_last or not is_repeatable:
                    raise _unreachable(address, error) from None
                pause_s = _growing(attempt)
            except (httpx.InvalidURL, httpx.RequestError):
                raise _no_address(address) from None
            else:
                reply = Reply(answer.status_code, answer.headers, answer.content)
                is_passing = reply.status == _TOO_MANY or (
                    is_repeatable and reply.status in _PASSING
                )
                pause_s = _growing(attempt)
                if reply.retry_after_s is not None:
                    pause_s = max(pause_s, float(reply.retry_after_s))
                if is_last or not is_passing or pause_s > _LONGEST_PAUSE_S:
                    return reply
            if say.is_terminal:
                say.print(f"[dim]{plain(_host(address))} does not answer; trying again …[/]")
            self._pause(pause_s)
        raise AssertionError("The last attempt returns or raises.")


def _growing(attempt: int) -> float:
    """Twice as long each time, and never quite alike, so that many clients do not march in step."""
    return float(_FIRST_PAUSE_S * 2 ** (attempt - 1) * random.uniform(0.8, 1.2))  # noqa: S311


def _unreachable(address: str, error: "httpx.TransportError") -> ToolError:
    import httpx

    host = _host(address)
    if _is_untrusted(error):
        return ToolError(
            f"{host} cannot prove who it is: its certificate is not trusted here.",
            "Check the address; for a certificate of your own, set SSL_CERT_FILE.",
            ExitCode.UNREACHABLE,
        )
    if isinstance(error, httpx.TimeoutException):
        reason = "it does not answer in time"
    elif isinstance(error, httpx.ConnectError):
        reason = "no connection comes about"
    else:
        reason = "the connection broke off"
    return ToolError(
        f"{host} cannot be reached: {reason}.",
        "Check the address and your network, then try again.",
        ExitCode.UNREACHABLE,
    )


def _is_untrusted(error: BaseException | None) -> bool:
    import ssl

    while error is not None:
        if isinstance(error, ssl.SSLCertVerificationError):
            return True
        error = error.__cause__ or error.__context__
    return False


def _no_address(address: str) -> ToolError:
    return wrong_usage(
        f"{address!r} is not an address that can be asked.",
        "Write the catalog's address like https://catalog.example.",
    )


def _host(address: str) -> str:
    return address.partition("://")[2].partition("/")[0] or address
