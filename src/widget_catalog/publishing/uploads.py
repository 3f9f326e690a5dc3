"""Uploads over HTTP: `PUT /uploads/{request}/index.js?expires=…&signature=…`, and nothing else."""

from urllib.parse import parse_qsl

from ..core.errors import NotAllowed, NotFound
from ..core.files.contract import Kind
from ..core.http.call import done
from ..core.http.dispatcher import client_address
from ..core.http.errors import STATUSES, TooSlow, error, failure, log_fault
from ..core.http.http import Body, Request, Response
from ..core.http.receiving import Receiver
from ..core.http.services import Services
from ..core.networks import network_of
from ..publishing.signed_uploads import UPLOADS
from .request_version import announced_size
from .signed_uploads import PREFIX, is_signed


class Uploads:
    def __init__(self, services: Services, receiver: Receiver) -> None:
        self._services = services
        self._receiver = receiver

    async def answer(self, request: Request, body: Body) -> Response:
        if request.method != "PUT":
            return error(405, "Only PUT is allowed at an upload address.", ("allow", "PUT"))
        try:
            request_id, kind = self._signed(request)
            network = network_of(client_address(self._services, request))
            with self._receiver.limit_uploads(network):
                await self._receive(request_id, kind, body)
        except TimeoutError:
            return failure(TooSlow("The file did not come in time."))
        except tuple(STATUSES) as fault:
            log_fault(request, fault)
            return failure(fault)
        return done()

    async def _receive(self, request_id: str, kind: Kind, body: Body) -> None:
        services, in_thread = self._services, self._receiver.in_thread
        size = await in_thread(announced_size, services.store, request_id, kind)
        with self._receiver.limit_bytes(size):
            upload = await in_thread(services.uploads.receive, request_id, kind, size)
            try:
                await self._receiver.pass_on(body, upload.write)
                # It may have ended meanwhile.
                await in_thread(announced_size, services.store, request_id, kind)
                await in_thread(upload.finish)
            finally:
                await in_thread(upload.give_up)

    def _signed(self, request: Request) -> tuple[str, Kind]:
        """The file and request of a valid upload URL."""
        query = dict(parse_qsl(request.query_string[:500]))
        kind: Kind
        match request.path[len(PREFIX) :].split("/"):
            case [request_id, "index.js"]:
                kind = "js"
            case [request_id, "index.css"]:
                kind = "css"
            case _:
                raise NotFound("There is nothing to upload at this address.")
        services = self._services
        given = (query.get("expires", ""), query.get("signature", ""))
        if not is_signed(
            services.keys.for_purpose(UPLOADS), request_id, kind, *given, services.store.now_ms()
        ):
            raise NotAllowed("This upload address is not valid, or no longer. Request a new one.")
        return request_id, kind
