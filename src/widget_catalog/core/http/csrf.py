"""Refuses requests that pages of other sites make a browser send."""

import hmac
from urllib.parse import urlsplit

from ..errors import NotAllowed
from ..settings import Settings
from .call import Call
from .http import Request
from .routing import UNSAFE_METHODS, Route


def check_csrf(settings: Settings, call: Call, route: Route) -> None:
    """Browsers send cookies on behalf of any site; only our own pages can send the CSRF token."""
    if route.method not in UNSAFE_METHODS or not call.is_by_session:
        return
    if route.takes_form:
        refuse_other_sites(settings, call.request)
    token = call.request.headers.get("x-csrf-token") or ""
    if not token and route.takes_form:
        token = call.form().get("csrf_token", "")
    if not hmac.compare_digest(token.encode(), call.csrf_token.encode()):
        raise NotAllowed(
            "This form is out of date. Go back, load the page again, and send it once more."
            if route.takes_form
            else "The CSRF token is missing or wrong: send the session's csrfToken in the header "
            "X-CSRF-Token."
        )


def refuse_other_sites(settings: Settings, request: Request) -> None:
    """Raises NotAllowed for a cross-site request.

    `Origin: null` is foreign, too: sandboxed frames and `data:` documents send it. Our own pages
    never do, because their referrer policy is `same-origin`; with `no-referrer` they would. A
    request without the header is not a browser's form.
    """
    headers = request.headers
    origin = headers.get("origin")
    is_foreign = headers.get("sec-fetch-site") in ("cross-site", "same-site")
    if is_foreign or (origin is not None and not _is_own(settings, request, origin)):
        raise NotAllowed(
            "This was sent from a page of another site. Open a page of this service, and send it "
            "from there."
        )


def _is_own(settings: Settings, request: Request, origin: str) -> bool:
    """With `base_url`, only that origin: the `Host` header is chosen by the client, and a page
    loaded over http may have been replaced. Without it, any host name of this machine is accepted.
    """
    if settings.base_url:
        return _origin_of(origin) == _origin_of(settings.public_url)
    ours = {request.headers.get("host"), urlsplit(settings.public_url).netloc} - {None, ""}
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
