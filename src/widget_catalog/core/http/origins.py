"""Same-origin checks: only our own pages may send our forms."""

from urllib.parse import urlsplit

from ..errors import NotAllowed
from .call import Call
from .services import Services


def refuse_other_sites(services: Services, call: Call) -> None:
    """Raises NotAllowed for a cross-site request.

    `Origin: null` is foreign, too: sandboxed frames and `data:` documents send it. Our own pages
    never do, because their referrer policy is `same-origin`; with `no-referrer` they would. A
    request without the header is not a browser's form.
    """
    headers = call.request.headers
    origin = headers.get("origin")
    is_foreign = headers.get("sec-fetch-site") in ("cross-site", "same-site")
    if is_foreign or (origin is not None and not _is_own(services, call, origin)):
        raise NotAllowed(
            "This was sent from a page of another site. Open a page of this service, and send it "
            "from there."
        )


def _is_own(services: Services, call: Call, origin: str) -> bool:
    """With `base_url`, only that origin: the `Host` header is chosen by the client, and a page
    loaded over http may have been replaced. Without it, any host name of this machine is accepted.
    """
    settings = services.settings
    if settings.base_url:
        return _origin_of(origin) == _origin_of(settings.public_url)
    ours = {call.request.headers.get("host"), urlsplit(settings.public_url).netloc} - {None, ""}
    found = _origin_of(origin)
    return found is not None and urlsplit(origin).netloc in ours


def _origin_of(url: str) -> tuple[str, str, int | None] | None:
    """Scheme, host and port, as browsers compare them; None if there is none, as for `null`."""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    if not host:
        return None
    return parts.scheme, host, port or {"https": 443, "http": 80}.get(parts.scheme)
