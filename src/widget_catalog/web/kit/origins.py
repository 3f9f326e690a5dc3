"""Which site a form was sent from: only our own pages may send ours."""

from urllib.parse import urlsplit

from ...domain.errors import NotAllowed
from .call import Call, Services


def refuse_other_sites(services: Services, call: Call) -> None:
    """NotAllowed for a request that a page of another site has sent.

    `Origin: null` is foreign too: sandboxed frames and `data:` documents send it. Our own pages
    never do, since their referrer policy is `same-origin`; with `no-referrer` they would. A
    request without the header is no browser's form.
    """
    headers = call.request.headers
    origin = headers.get("origin")
    ours = {headers.get("host"), urlsplit(services.settings.public_url).netloc} - {None, ""}
    is_foreign = headers.get("sec-fetch-site") in ("cross-site", "same-site")
    if is_foreign or (origin is not None and _host_of(origin) not in ours):
        raise NotAllowed(
            "This was sent from a page of another site. Open a page of this service, and send it "
            "from there."
        )


def _host_of(origin: str) -> str:
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return ""
