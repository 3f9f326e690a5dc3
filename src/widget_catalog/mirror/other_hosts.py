"""Requests to the hosts that an upstream names, for its bundles or as its own upstream.

The operator has chosen the upstream, not these hosts: only public ones are contacted, and those in
networks that a setting allows. The host name is resolved once per request, every address is
checked, and the connection goes to one of those, which prevents DNS rebinding.
"""

from collections.abc import Sequence
from typing import Any

import httpx

from widget_catalog_client import Catalog, ClientError
from widget_catalog_client.transport import http_options
from widget_contract.texts import printable

from ..core.networks import Network, Resolve, is_public, resolve

_TIMEOUT_S = 10.0


class HostRefused(ClientError):
    """The host is in a private network, or on this machine."""


class OtherHosts:
    def __init__(self, networks: Sequence[Network] = (), resolve: Resolve = resolve) -> None:
        self._networks = networks
        self._resolve = resolve

    def client(self, timeout_s: float = _TIMEOUT_S) -> httpx.Client:
        """Without a proxy, which would resolve host names itself."""
        transport = CheckedTransport(self._networks, self._resolve)
        return httpx.Client(transport=transport, **http_options(timeout_s))

    def mirror_of(self, url: str) -> Any:
        """What the catalog at this URL says about itself in `mirrorOf`. Raises ClientError."""
        with self.client(timeout_s=3) as http, Catalog(url, http=http, retries=0) as catalog:
            return catalog.settings().mirror_of


class CheckedTransport(httpx.BaseTransport):
    """Connects only to checked addresses. Of errors, only the status is received: what a host says
    that was not chosen must not be shown.
    """

    def __init__(self, networks: Sequence[Network], resolve: Resolve) -> None:
        self._networks = networks
        self._resolve = resolve
        self._plain = httpx.HTTPTransport()

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        addresses = self._checked_addresses(request)
        for number, address in enumerate(addresses, 1):
            try:
                response = self._plain.handle_request(_directed(request, address))
            except httpx.ConnectError:
                if number == len(addresses):
                    raise
            else:
                if response.status_code == httpx.codes.OK:
                    return response
                response.close()
                return httpx.Response(response.status_code, stream=httpx.ByteStream(b""))
        raise httpx.ConnectError("the host has no address", request=request)

    def close(self) -> None:
        self._plain.close()

    def _checked_addresses(self, request: httpx.Request) -> list[str]:
        url = request.url
        try:
            addresses = self._resolve(url.host, url.port or (443 if url.scheme == "https" else 80))
        except (OSError, UnicodeError):
            raise httpx.ConnectError("the host name cannot be resolved", request=request) from None
        if not all(is_public(it, self._networks) for it in addresses):
            raise HostRefused(
                f"{printable(str(url)[:200])} leads into a private network. Only the host of the "
                "upstream itself may be there, and networks in the setting mirror_networks."
            )
        return addresses


def _directed(request: httpx.Request, address: str) -> httpx.Request:
    """The request to this address. The header Host and the name in the certificate stay."""
    return httpx.Request(
        request.method,
        request.url.copy_with(host=address),
        headers=request.headers,
        stream=request.stream,
        extensions={**request.extensions, "sni_hostname": request.url.host},
    )
