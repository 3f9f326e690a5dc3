"""Content of pages from parts of a manifest that the catalog itself does not use."""

from typing import Any, NamedTuple
from urllib.parse import urlsplit

_MAX_CHARACTERS = 300


class ManifestFacts(NamedTuple):
    homepage: str | None = None
    repository: str | None = None
    author: str | None = None
    readme: str | None = None


def read_manifest(manifest: dict[str, Any] | None) -> ManifestFacts:
    """Manifests are untrusted: unexpected values are omitted."""
    found = manifest or {}
    repository = found.get("repository")
    author = found.get("author")
    return ManifestFacts(
        _address(found.get("homepage")),
        _address(repository.get("url") if isinstance(repository, dict) else repository),
        _line(author.get("name") if isinstance(author, dict) else author),
        found["readme"] if isinstance(found.get("readme"), str) else None,
    )


def _line(value: object) -> str | None:
    return value[:_MAX_CHARACTERS] if isinstance(value, str) and value.strip() else None


def _address(value: object) -> str | None:
    """A web URL that is safe to link to."""
    text = _line(value)
    if text is None:
        return None
    text = text.removeprefix("git+")
    try:
        parts = urlsplit(text)
        is_web = parts.scheme in ("https", "http") and bool(parts.hostname)
    except ValueError:
        return None
    return text if is_web and text.isprintable() and " " not in text else None
