"""Copies the replica for a backup, while others write to it.

The copy is consistent. Every later state of the store contains the changes it has applied, so it
fits a copy of the store taken afterwards, and `Replica.apply` brings it up to date.
"""

import contextlib
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import IO, NamedTuple

import msgspec

from ...core.errors import StoreUnavailable
from .file import ReplicaFile, find_current, make_current
from .integrity import start_child, wait_for
from .mapped_memory import released_meanwhile
from .rows import FeedEntry

_DONE, _FAILED = 0, 1


class ReplicaFacts(msgspec.Struct, frozen=True):
    """`applied` is the last change that it is known to contain; it may contain more by now."""

    id: str
    format: int
    widgets: int
    size_bytes: int
    applied: FeedEntry | None


class ReplicaCopy(NamedTuple):
    facts: ReplicaFacts
    content: IO[bytes]


@contextlib.contextmanager
def copied_replica(folder: Path) -> Iterator[ReplicaCopy | None]:
    """The current replica as a stream; None if there is none that can be read.

    Raises StoreUnavailable at the end if the stream is incomplete. A child process reads, because
    a damaged file must not crash a backup.
    """
    path = find_current(folder)
    if path is None:
        yield None
        return
    reading, writing = os.pipe()
    sender = start_child(partial(_send, path, reading, writing))
    os.close(writing)
    is_at_end = False
    try:
        with open(reading, "rb") as stream:  # noqa: PTH123
            try:
                facts = msgspec.json.decode(stream.readline(), type=ReplicaFacts)
            except msgspec.MsgspecError:
                yield None
                return
            yield ReplicaCopy(facts, stream)
            is_at_end = not stream.read(1)
    finally:
        # If the copy is no longer needed, the pipe is closed.
        code = wait_for(sender)
    if is_at_end and code != _DONE:
        raise StoreUnavailable("The read model cannot be copied.")


def _send(path: Path, reading: int, writing: int) -> int:
    os.close(reading)
    try:
        file = ReplicaFile(path)
        with file.reading() as transaction:
            state = file.state(transaction)
            widgets = transaction.stat(file.listings)["entries"]
        facts = ReplicaFacts(file.id, state.format, widgets, path.stat().st_size, state.applied)
        os.write(writing, msgspec.json.encode(facts) + b"\n")
        # Includes free pages, because that follows no page.
        with released_meanwhile(path.parent):
            file.environment.copyfd(writing)
    except Exception:
        return _FAILED  # Prints nothing, because the parent may have ended.
    return _DONE


def adopt_copy(copy: Path, folder: Path, replica_id: str) -> None:
    """Use a copy as the replica of a folder that has none."""
    path = folder / f"{replica_id}{copy.suffix}"
    copy.rename(path)
    make_current(path)
