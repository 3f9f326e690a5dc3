"""Uploads over HTTP: `PUT /uploads/{request}/index.js?expires=…&signature=…`, or another path of a
file.

A URL is for one file of one request, and expires.
"""

import hashlib
import hmac
from urllib.parse import parse_qsl

from widget_contract.version_files import is_path

from ..core.errors import NotAllowed, NotFound
from ..core.http.dispatcher import client_address
from ..core.http.errors import STATUSES, TooSlow, error, failure, log_error
from ..core.http.http import Body, Request, Response
from ..core.http.receiving import Receiver
from ..core.http.replies import done
from ..core.http.services import Services
from ..core.keys import SigningKey
from ..core.networks import network_of
from .request_version import announced_size

PREFIX = "/uploads/"
# The purpose of the keys that sign these addresses.
UPLOADS = "uploads"


class UploadHandler:
    def __init__(self, services: Services, receiver: Receiver) -> None:
        self._services = services
        self._receiver = receiver

    async def handle(self, request: Request, body: Body) -> Response:
        if request.method != "PUT":
            return error(405, "Only PUT is allowed at an upload address.", ("allow", "PUT"))
        try:
            request_id, path = self._signed(request)
            network = network_of(client_address(self._services, request))
            with self._receiver.limit_uploads(network):
                await self._receive(request_id, path, body)
        except TimeoutError:
            return failure(TooSlow("The file did not come in time."))
        except tuple(STATUSES) as problem:
            log_error(request, problem)
            return failure(problem)
        return done()

    async def _receive(self, request_id: str, path: str, body: Body) -> None:
        services, in_thread = self._services, self._receiver.in_thread
        size = await in_thread(announced_size, services.store, request_id, path)
        with self._receiver.limit_bytes(size):
            upload = await in_thread(services.uploads.receive, request_id, path, size)
            try:
                await self._receiver.pass_on(body, upload.write)
                # It may have ended meanwhile.
                await in_thread(announced_size, services.store, request_id, path)
                await in_thread(upload.finish)
            finally:
                await in_thread(upload.give_up)

    def _signed(self, request: Request) -> tuple[str, str]:
        """The request and the path of the file of a valid upload URL."""
        request_id, _, path = request.path[len(PREFIX) :].partition("/")
        if not is_path(path):
            raise NotFound("There is nothing to upload at this address.")
        query = dict(parse_qsl(request.query_string[:500]))
        given = (query.get("expires", ""), query.get("signature", ""))
        key, now_ms = self._services.keys.for_purpose(UPLOADS), self._services.store.now_ms()
        if not _is_signed(key, request_id, path, *given, now_ms):
            raise NotAllowed("This upload address is not valid, or no longer. Request a new one.")
        return request_id, path


def sign_upload(key: SigningKey, request_id: str, path: str, expires_at: int) -> str:
    """Path and query of an upload URL."""
    signature = _signature(key.newest(), request_id, path, expires_at)
    return f"{PREFIX}{request_id}/{path}?expires={expires_at}&signature={signature}"


def _is_signed(
    key: SigningKey, request_id: str, path: str, expires: str, signature: str, now_ms: int
) -> bool:
    """Whether we have signed this URL, and it has not expired."""
    if not (expires.isascii() and expires.isdecimal() and len(expires) <= 15):
        return False
    if not signature.isascii() or now_ms >= int(expires):
        return False
    valid = [_signature(it, request_id, path, int(expires)) for it in key.accepted()]
    return any(hmac.compare_digest(it, signature) for it in valid)


def _signature(key: bytes, request_id: str, path: str, expires_at: int) -> str:
    what = f"PUT {request_id} {path} {expires_at}".encode()
    return hmac.new(key, what, hashlib.sha256).hexdigest()
