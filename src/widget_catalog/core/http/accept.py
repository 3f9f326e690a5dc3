"""What a client accepts: the content codings and media types of its headers, with their weights."""

import re
from functools import lru_cache

from ..files.contract import Encoding
from .content import ENCODINGS

# Longer headers are not kept in memory.
_MAX_REMEMBERED = 200
_WEIGHT = re.compile(r";\s*q\s*=\s*([0-9.]+)\s*(?:;|\Z)")


def choose_encoding(accept: str, offered: tuple[Encoding, ...] = ENCODINGS) -> Encoding | None:
    """The best encoding that an Accept-Encoding header allows; None for identity."""
    choose = _choose if len(accept) < _MAX_REMEMBERED else _choose.__wrapped__
    return choose(accept, offered)


@lru_cache(maxsize=1000)
def _choose(accept: str, offered: tuple[Encoding, ...]) -> Encoding | None:
    weights: dict[str, float] = {}
    for part in accept.lower().split(","):
        name = part.partition(";")[0]
        weights.setdefault(name.strip(), weight_of(part))
    if "x-gzip" in weights:
        weights.setdefault("gzip", weights["x-gzip"])
    others = weights.get("*", 0.0)
    best: Encoding | None = None
    best_weight = weights.get("identity", 0.0)
    for encoding in offered:
        weight = weights.get(encoding, others)
        if (weight > 0 and weight > best_weight) or (weight == best_weight > 0 and best is None):
            best, best_weight = encoding, weight
    return best


def weight_of(part: str) -> float:
    """The weight of one item of an Accept header; 1 if none is given, 0 if it is invalid."""
    if ";" not in part:
        return 1.0
    found = _WEIGHT.search(part)
    try:
        return float(found.group(1)) if found else 0.0
    except ValueError:
        return 0.0


def accepts(accept: str, media_type: str) -> bool:
    """Whether an Accept header names this type, and does not refuse it with `q=0`."""
    for part in accept.lower().split(","):
        if part.partition(";")[0].strip() == media_type:
            weight = _WEIGHT.search(part)
            return weight is None or weight.group(1).strip("0.") != ""
    return False
