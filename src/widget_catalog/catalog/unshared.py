"""UnsharedAnswers: response bodies made for one client, with a total bound until they are read."""

import weakref
from collections.abc import Iterator, Sequence

from ..core.errors import Busy
from ..core.http.content import WHOLE_BYTES, AnyContent, Packer

# Per worker: clients that do not read their responses cannot use more.
_MAX_BYTES = 32 << 20
# Shorter parts are joined; longer ones are not copied.
_SHORT_BYTES = 1 << 14
_WAIT_S = 5


class UnsharedAnswers:
    def __init__(self, packer: Packer) -> None:
        self._packer = packer
        self._bytes = 0

    def content(self, parts: Sequence[bytes]) -> AnyContent:
        """The parts as one body. A part that occurs several times is stored once."""
        if sum(map(len, parts)) <= WHOLE_BYTES:
            return self._packer.content(parts)
        pieces = list(_joined(parts))
        size = sum(len(it) for it in {id(it): it for it in pieces}.values())
        if self._bytes + size > _MAX_BYTES:
            raise Busy(
                "Many large answers are being sent just now. Try again soon, or ask for fewer "
                "widgets at a time.",
                _WAIT_S,
            )
        content = self._packer.content(pieces)
        self._bytes += size
        # Released when it is sent, or the client has disconnected.
        weakref.finalize(content, self._release, size)
        return content

    def _release(self, size: int) -> None:
        self._bytes -= size


def _joined(parts: Sequence[bytes]) -> Iterator[bytes]:
    short: list[bytes] = []
    for part in parts:
        if len(part) < _SHORT_BYTES:
            short.append(part)
            continue
        if short:
            yield b"".join(short)
            short.clear()
        yield part
    if short:
        yield b"".join(short)
