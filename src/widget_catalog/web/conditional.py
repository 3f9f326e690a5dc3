"""What a request's conditions and preferences choose: an encoding, a 304, a range."""

import re
from email.utils import formatdate
from functools import lru_cache

from ..reading.content import Encoding

# Our order of preference where the client has none: best size for its time first.
_ENCODINGS: tuple[Encoding, ...] = ("zstd", "br", "gzip")
_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})\Z")


def choose_encoding(accept: str) -> Encoding | None:
    """The best encoding an Accept-Encoding header admits; None for the bytes as they are."""
    found = _CHOSEN.get(accept)
    if found is None:
        found = (_choose(accept),)
        if len(_CHOSEN) < 1000 and len(accept) < 200:
            _CHOSEN[accept] = found
    return found[0]


_CHOSEN: dict[str, tuple[Encoding | None]] = {}


def _choose(accept: str) -> Encoding | None:
    weights: dict[str, float] = {}
    for part in accept.lower().split(","):
        name, _, parameters = part.partition(";")
        key, _, value = parameters.partition("=")
        try:
            weight = float(value) if key.strip() == "q" else 1.0
        except ValueError:
            weight = 0.0
        weights.setdefault(name.strip(), weight)
    if "x-gzip" in weights:
        weights.setdefault("gzip", weights["x-gzip"])
    others = weights.get("*", 0.0)
    best: Encoding | None = None
    best_weight = weights.get("identity", 0.0)
    for encoding in _ENCODINGS:
        weight = weights.get(encoding, others)
        if (weight > 0 and weight > best_weight) or (weight == best_weight > 0 and best is None):
            best, best_weight = encoding, weight
    return best


def matches(if_none_match: str, etag: str) -> bool:
    """Whether an If-None-Match header names this entity tag, by weak comparison."""
    if if_none_match == etag:
        return True
    if etag in if_none_match or "*" in if_none_match:
        tags = (tag.strip() for tag in if_none_match.split(","))
        return any(tag == "*" or tag.removeprefix("W/") == etag for tag in tags)
    return False


@lru_cache(maxsize=1024)
def http_date(milliseconds: int) -> str:
    return formatdate(milliseconds // 1000, usegmt=True)


def choose_range(header: str, size: int) -> tuple[int, int] | None:
    """The bytes a Range header asks for, as start and stop; None: all of them.

    Raises ValueError where none of the bytes it asks for exist. A header that is not a
    single range of bytes is ignored, as HTTP allows.
    """
    found = _RANGE.match(header)
    if found is None or found.group(1) == found.group(2) == "":
        return None
    first, last = found.groups()
    if first == "":
        start, stop = max(size - int(last), 0), size
        if int(last) == 0:
            raise ValueError(header)
    else:
        start, stop = int(first), min(int(last) + 1 if last else size, size)
        if last and int(last) < start:
            return None
    if start >= size:
        raise ValueError(header)
    return start, stop
