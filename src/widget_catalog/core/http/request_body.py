"""The body of a small request: read up to a limit, and of the announced length and type."""

from ..errors import InvalidRequest
from .errors import TooLarge, UnsupportedType
from .http import Body, Request
from .routing import UNSAFE_METHODS, Route


async def read_whole(request: Request, body: Body, most: int) -> bytes:
    """Raises TooLarge, without reading a body that is announced as such, and InvalidRequest."""
    announced = length_of(request, 0)
    chunks: list[bytes] = []
    size = 0
    if announced <= most:
        async for chunk in body:
            chunks.append(chunk)
            size += len(chunk)
            if size > most:
                break
    if max(size, announced) > most:
        raise TooLarge(f"The body is too large: at most {most:,} bytes are taken here.")
    if size < announced:
        # The connection was closed. A form that is cut off may still look complete.
        raise InvalidRequest("The body is incomplete. Send the request again.")
    return b"".join(chunks)


def check_content_type(request: Request, route: Route, sent: bytes) -> None:
    """JSON must be declared as JSON, which other sites cannot do without a preflight."""
    if request.method not in UNSAFE_METHODS or not sent:
        return
    kind = content_type_of(request).partition(";")[0].strip().lower()
    if route.takes_form:
        if kind == "multipart/form-data" and not route.takes_files:
            raise UnsupportedType("The form must be application/x-www-form-urlencoded.")
    elif kind != "application/json":
        raise UnsupportedType("The body must be application/json.")


def content_type_of(request: Request) -> str:
    return request.headers.get("content-type") or ""


def length_of(request: Request, otherwise: int) -> int:
    """The announced length of the body, if any."""
    text = request.headers.get("content-length") or ""
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 20 else otherwise
