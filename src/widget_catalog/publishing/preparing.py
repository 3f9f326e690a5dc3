"""What is done with uploads before a handler runs, for the routes that declare it: pictures are
decoded, and modules parsed, in turns; and an account has at most two versions in it.

Further confirmations wait for a while, because programs publish several widgets at once, and not
all try again after a 429. Forms do not wait: their files would fill the disk.
"""

import contextlib
from collections.abc import AsyncIterator
from functools import partial

from ..core.errors import BundleRefused, NotFound, TooOften
from ..core.http.body_fields import read_object
from ..core.http.call import Call
from ..core.http.routing import InTurn
from ..core.http.services import Services
from .module_notes import ModuleNotes
from .picture_checks import PictureChecks
from .publish_version import list_pictures, read_module
from .sent_files import list_sent_pictures

_MAX_WAIT_S = 10


@contextlib.asynccontextmanager
async def prepare_request(services: Services, call: Call, in_turn: InTurn) -> AsyncIterator[None]:
    """For the API: only a confirmation needs it."""
    request_id = await in_turn(partial(_confirmed_id, call))
    if request_id is None:
        yield
        return
    async with _confirming(services, call, in_turn, request_id):
        yield


@contextlib.asynccontextmanager
async def prepare_confirmation(
    services: Services, call: Call, in_turn: InTurn
) -> AsyncIterator[None]:
    async with _confirming(services, call, in_turn, call.params["id"]):
        yield


@contextlib.asynccontextmanager
async def prepare_form(services: Services, call: Call, in_turn: InTurn) -> AsyncIterator[None]:
    """Turns are those of the account: nobody has checked yet whether it may publish in the scope
    that its form names.
    """
    checks, account = services.of(PictureChecks), call.actor.name
    async with checks.one_more(account, max_wait_s=0):
        pictures = await in_turn(partial(list_sent_pictures, call.files))
        call.prepared = await checks.check(pictures, account, in_turn)
        yield


@contextlib.asynccontextmanager
async def prepare_preview(services: Services, call: Call, in_turn: InTurn) -> AsyncIterator[None]:
    """Without notes if the account has two versions in progress already."""
    notes, account = services.of(ModuleNotes), call.actor.name
    is_new = partial(_is_new, notes)
    store, uploads, id_ = services.store, services.uploads, call.params["id"]
    with contextlib.suppress(NotFound, BundleRefused, TooOften):
        async with services.of(PictureChecks).one_more(account, max_wait_s=0):
            module = await in_turn(partial(read_module, store, uploads, call.actor, id_, is_new))
            if module is not None:
                await notes.make(module.sha256_hash, module.content, module.scope)
    yield


@contextlib.asynccontextmanager
async def _confirming(
    services: Services, call: Call, in_turn: InTurn, request_id: str
) -> AsyncIterator[None]:
    checks = services.of(PictureChecks)
    account = call.actor.name
    async with checks.one_more(account, _MAX_WAIT_S), checks.one_at_a_time(request_id):
        listing = partial(list_pictures, services.store, services.uploads, call.actor, request_id)
        scope, pictures = await in_turn(listing)
        call.prepared = await checks.check(pictures, scope, in_turn)
        yield


def _is_new(notes: ModuleNotes, sha256_hash: str) -> bool:
    return notes.about(sha256_hash) is None


def _confirmed_id(call: Call) -> str | None:
    body = read_object(call.body)
    id_ = body.get("versionId")
    return id_ if body.get("action") == "confirm" and isinstance(id_, str) else None
