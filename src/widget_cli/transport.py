"""HTTP as the tool speaks it: limits of time and size, and retries where they can do no harm."""

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
# A gateway that has lost its service, a service that cannot write just now: these pass.
_PASSING = frozenset({502, 503, 504})
_TOO_MANY = 429

# The most that an answer may hold, unpacked. A page of search results with release notes, and a
# widget with hundreds of versions, are the largest documents; a published file may have any size
# that the operator allows.
SMALL_BYTES = 1 << 20
DOCUMENT_BYTES = 32 << 20
FILE_BYTES = 64 << 20


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
        import httpx  # Here: it takes half the start of the tool, and many commands send nothing.

        self._attempts = attempts
        self._pause = pause
        usual = httpx.Timeout(30, connect=10, write=60)
        timeout = usual if timeout_s is None else httpx.Timeout(timeout_s)
        headers = {
            "User-Agent": f"widget-cli/{VERSION}",
            "Accept": "application/json",
            "Accept-Encoding": "gzip",  # What `bodies` unpacks.
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
        """Send it until it is answered, at most a few times.

        What may not be done twice (`is_repeatable` is false) is sent again only if it cannot have
        arrived: no connection came about, or the answer was that there are too many requests.
        `content` is called for each attempt; `options` are httpx's `json`, `data` and `params`.
        An answer of more than `max_bytes` is not read to its end.
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
                say.print(f"[dim]{plain(host_of(address))} does not answer; trying again …[/]")
            self._pause(pause_s)
        raise AssertionError("The last attempt returns or raises.")

    def _send_once(self, method: str, address: str, max_bytes: int, **options: Any) -> Reply:
        with self._client.stream(method, address, **options) as answer:
            try:
                body = read_body(answer, max_bytes)
            except TooLarge:
                sentence = f"{host_of(address)} answers with more than {sized(max_bytes)}."
                raise _strange(sentence) from None
            except UnknownEncoding:
                sentence = f"{host_of(address)} answers in an encoding that was not asked for."
                raise _strange(sentence) from None
            return Reply(answer.status_code, answer.headers, body)


def _growing(attempt: int) -> float:
    """Twice as long each time, and never quite alike, so that many clients do not march in step."""
    return float(_FIRST_PAUSE_S * 2 ** (attempt - 1) * random.uniform(0.8, 1.2))  # noqa: S311


def _strange(sentence: str) -> ToolError:
    hint = "Check the address, and whether a proxy is in between."
    return ToolError(sentence, hint, ExitCode.UNREACHABLE)


def _no_address(address: str) -> ToolError:
    return wrong_usage(
        f"{address!r} is not an address that can be asked.",
        "Write the catalog's address like https://catalog.example.",
    )
