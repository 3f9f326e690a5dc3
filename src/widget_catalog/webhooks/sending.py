"""Sends events to a webhook: only to allowed addresses, with limits on time and size.

The host name is resolved once per connection, every address is checked, and the connection goes to
one of those addresses, which prevents DNS rebinding. Redirects are not followed. Of the response
only the status is kept.
"""

import socket
import ssl
import threading
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from typing import Any

import httpcore

from ..core import release
from ..core.networks import Network, Resolve, is_public, resolve
from ..core.tracing import DELIVERY, continued, outgoing_headers, part
from .model import Delivery, Outcome, Webhook, sign

_MOST = 32
_MAX_PER_OWNER = 4


class TooManyLookups(Exception):
    """The limit of pending lookups is reached."""


class NameLookups:
    """Used by several threads.

    The system's resolver has its own timeouts, and cannot be cancelled. A lookup that takes too
    long is abandoned: its thread lives until the resolver gives up. So each owner may have only
    few at a time, or dead name servers would take the threads that other owners need.
    """

    def __init__(self, resolve: Resolve = resolve) -> None:
        self._resolve = resolve
        self._lock = threading.Lock()
        self._running: Counter[str] = Counter()

    def addresses_of(self, host: str, port: int, owner: str, timeout_s: float) -> list[str]:
        """Raises TimeoutError, TooManyLookups, or the resolver's error."""
        response: Future[list[str]] = Future()

        def look_up() -> None:
            try:
                addresses = self._resolve(host, port)
            except Exception as error:
                self._end(owner)
                response.set_exception(error)
            else:
                self._end(owner)
                response.set_result(addresses)

        with self._lock:
            if self._running.total() >= _MOST or self._running[owner] >= _MAX_PER_OWNER:
                raise TooManyLookups
            self._running[owner] += 1
        try:
            # A daemon thread does not delay the end of the process.
            threading.Thread(target=look_up, name="webhook look-up", daemon=True).start()
        except RuntimeError:  # No more threads can be started.
            self._end(owner)
            raise TooManyLookups from None
        return response.result(timeout_s)

    def _end(self, owner: str) -> None:
        with self._lock:
            self._running[owner] -= 1
            if not self._running[owner]:
                del self._running[owner]


# Timeout of one delivery, from the name lookup to the end of the response.
_REQUEST_S = 10.0
_LOOKUP_S = 5.0
# After this time a batch ends, to give others a turn.
_BATCH_S = 5.0
_MAX_RESPONSE_BYTES = 1 << 16
_Headers = dict[bytes | str, bytes | str]
_AGENT = f"widget-catalog/{release.VERSION} (webhooks)"


class AddressRefused(Exception):
    """The host resolves to an address that is not allowed."""


class LookupTimedOut(Exception):
    """The resolver did not respond in time."""


class _Limits:
    """The remaining time of a request, and how much may still be read."""

    def __init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        self._ends_at = time.monotonic() + _REQUEST_S
        self._bytes_left = _MAX_RESPONSE_BYTES

    def left_s(self, timeout: float | None, error: type[Exception]) -> float:
        left_s = self._ends_at - time.monotonic()
        if left_s <= 0:
            raise error("The time is over.")
        return left_s if timeout is None else min(left_s, timeout)

    def count(self, size: int) -> None:
        self._bytes_left -= size
        if self._bytes_left < 0:
            raise httpcore.ReadError("The answer is too large.")


class _LimitedStream(httpcore.NetworkStream):
    def __init__(self, stream: httpcore.NetworkStream, limits: _Limits) -> None:
        self._stream = stream
        self._limits = limits

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        received = self._stream.read(max_bytes, self._limits.left_s(timeout, httpcore.ReadTimeout))
        self._limits.count(len(received))
        return received

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, self._limits.left_s(timeout, httpcore.WriteTimeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,
    ) -> httpcore.NetworkStream:
        left_s = self._limits.left_s(timeout, httpcore.ConnectTimeout)
        secured = self._stream.start_tls(ssl_context, server_hostname, left_s)
        return _LimitedStream(secured, self._limits)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class CheckedConnections(httpcore.NetworkBackend):
    """Connects only to checked addresses."""

    def __init__(
        self, networks: Sequence[Network], limits: _Limits, lookups: NameLookups, owner: str
    ) -> None:
        self._networks = networks
        self._limits = limits
        self._lookups = lookups
        self._owner = owner
        self._plain = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        left_s = self._limits.left_s(_LOOKUP_S, httpcore.ConnectTimeout)
        try:
            addresses = self._lookups.addresses_of(host, port, self._owner, left_s)
        except TimeoutError:
            raise LookupTimedOut from None
        if not all(is_public(it, self._networks) for it in addresses):
            raise AddressRefused
        for number, address in enumerate(addresses, 1):
            try:
                left_s = self._limits.left_s(timeout, httpcore.ConnectTimeout)
                stream = self._plain.connect_tcp(
                    address, port, left_s, local_address, socket_options
                )
            except httpcore.ConnectError:
                if number == len(addresses):
                    raise
            else:
                return _LimitedStream(stream, self._limits)
        raise httpcore.ConnectError("The host has no address.")


def create_tls_context() -> ssl.SSLContext:
    """Trusts httpx's default certificates, or those in SSL_CERT_FILE. Expensive to create."""
    import httpx

    return httpx.create_ssl_context()


def send_all(
    webhook: Webhook,
    secrets: Sequence[str],
    deliveries: Sequence[Delivery],
    networks: Sequence[Network],
    tls: ssl.SSLContext,
    lookups: NameLookups,
    now_s: int,
) -> list[Outcome]:
    """In order, until one fails: the rest is sent later."""
    limits = _Limits()
    began_at = time.monotonic()
    outcomes: list[Outcome] = []
    with httpcore.ConnectionPool(
        ssl_context=tls,
        max_connections=1,
        network_backend=CheckedConnections(networks, limits, lookups, webhook.owner),
    ) as pool:
        for number, delivery in enumerate(deliveries):
            limits.restart()
            continued.set(delivery.traceparent)
            with part(DELIVERY):
                headers = _headers(delivery, secrets, now_s + round(time.monotonic() - began_at))
                outcomes.append(_send(pool, webhook.url, headers, delivery))
            is_late = time.monotonic() - began_at > _BATCH_S
            if is_late or not outcomes[-1].is_delivered:
                outcomes += [Outcome(it) for it in deliveries[number + 1 :]]
                break
    return outcomes


def _headers(delivery: Delivery, secrets: Sequence[str], timestamp_s: int) -> _Headers:
    body = delivery.body.encode()
    signatures = [sign(it, delivery.id, timestamp_s, body) for it in secrets]
    headers: _Headers = {
        "content-type": "application/json",
        "user-agent": _AGENT,
        "webhook-id": delivery.id,
        "webhook-timestamp": str(timestamp_s),
        "webhook-signature": " ".join(signatures),
    }
    headers.update(outgoing_headers())
    return headers


def _send(
    pool: httpcore.ConnectionPool, url: str, headers: _Headers, delivery: Delivery
) -> Outcome:
    status = None
    try:
        with pool.stream("POST", url, headers=headers, content=delivery.body.encode()) as got:
            status = got.status
            for _ in got.iter_stream():
                pass  # Read to the end, so that the connection can be reused.
    except (AddressRefused, socket.gaierror, UnicodeError):
        # One message for all: an owner must not learn which names an internal network has.
        unknown = "The host name is unknown, or leads to an address that is not allowed."
        return Outcome(delivery, error=unknown)
    except LookupTimedOut:
        late = f"The host name was not resolved within {_LOOKUP_S:.0f} seconds."
        return Outcome(delivery, error=late)
    except TooManyLookups:
        return Outcome(delivery, error="Too many host names wait to be resolved.")
    except httpcore.TimeoutException:
        return Outcome(delivery, status, f"There was no answer within {_REQUEST_S:.0f} seconds.")
    except httpcore.ConnectError as error:
        return Outcome(delivery, error=_connect_error(error.__cause__ or error.__context__))
    except (httpcore.NetworkError, httpcore.ProtocolError, OSError, ValueError):
        if status is None or not 200 <= status < 300:
            return Outcome(delivery, status, "The answer could not be read.")
    if 200 <= status < 300:
        return Outcome(delivery, status)
    also = " Redirects are not followed." if 300 <= status < 400 else ""
    return Outcome(delivery, status, f"The receiver responded with {status}.{also}")


def _connect_error(cause: BaseException | None) -> str:
    match cause:
        case ssl.SSLCertVerificationError():
            # OpenSSL's reason, such as "certificate has expired".
            return f"The certificate is not accepted: {cause.verify_message.rstrip('.')}."
        case ssl.SSLError():
            return "TLS failed."
    return "The connection failed."
