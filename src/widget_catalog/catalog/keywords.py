"""Keywords: an optional list in a manifest, which pages show and their search looks at."""

from typing import Any

import msgspec

_MAX_KEYWORDS = 12
_MAX_CHARACTERS = 100


class _Manifest(msgspec.Struct):
    keywords: Any = None


_decode = msgspec.json.Decoder(_Manifest).decode


def list_keywords(value: object) -> tuple[str, ...]:
    """The value of `keywords` in a manifest. Manifests are untrusted: what is no keyword is
    omitted.
    """
    some = value[:_MAX_KEYWORDS] if isinstance(value, list) else ()
    return tuple(it for it in some if isinstance(it, str) and _is_keyword(it))


def keywords_of(manifest: str | None) -> tuple[str, ...]:
    """The keywords of a manifest as it was published."""
    # Most have none, and searching is faster than decoding.
    if manifest is None or "keywords" not in manifest:
        return ()
    try:
        return list_keywords(_decode(manifest).keywords)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return ()


def _is_keyword(text: str) -> bool:
    return bool(text.strip()) and len(text) <= _MAX_CHARACTERS and text.isprintable()
