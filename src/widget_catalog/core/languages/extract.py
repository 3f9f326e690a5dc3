"""Brings the catalogs up to date with the sources, and the texts of the JavaScript client with the
catalogs:
`python -m widget_catalog.core.languages.extract [TAG …]`; a tag without a catalog gets one.
"""

import sys
from io import BytesIO
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_file
from babel.messages.pofile import read_po, write_po

from .client_texts import CLIENT, SCRIPTS, client_texts
from .language import CATALOGS

_SOURCES = Path(__file__).parents[3]
# Without dates and names of tools, which would change without need.
_HEADER = r"""# The texts of public pages: {tag}.
msgid ""
msgstr ""
"Language: {tag}\n"
"Plural-Forms: {plural_forms}\n"
"Content-Type: text/plain; charset=utf-8\n"

"""
_METHODS = {".html": "jinja2.ext:babel_extract", ".py": "python", ".js": "javascript"}
_OPTIONS = {
    "trimmed": "true",
    "newstyle_gettext": "true",
    "silent": "false",
    "parse_template_string": "true",
}


def extract() -> Catalog:
    """All marked texts, with the files that they are from."""
    found = Catalog()
    contract = _SOURCES / "widget_contract"
    preview = sorted((contract / "preview").glob("*.js"))
    # `rglob` follows the link to the client in some versions of Python, and not in others.
    product = [it for it in sorted((_SOURCES / "widget_catalog").rglob("*")) if it.parent != CLIENT]
    client = [CLIENT / it for it in SCRIPTS]
    for path in [contract / "capabilities.py", *preview, *client, *product]:
        method = _METHODS.get(path.suffix)
        if method is None or not _has_marks(path):
            continue
        place = (path.relative_to(_SOURCES).as_posix(), 0)
        for _, message, comments, _ in extract_from_file(method, path, options=_OPTIONS):
            text = message if isinstance(message, str) else tuple(message)
            found.add(text, locations=[place], auto_comments=comments)
    return found


def _has_marks(path: Path) -> bool:
    text = path.read_text("utf-8")
    if path.suffix == ".py":
        return "N_(" in text or "gettext" in text
    if path.suffix == ".js":
        own = ("static", "preview", "client")
        return (path.parent.name in own and " _ = " in text) or "N_ = " in text
    return "{% trans" in text or "_(" in text


def updated(tag: str, sources: Catalog) -> bytes:
    """The catalog of a language with what is in the sources now. New texts are empty."""
    path = CATALOGS / f"{tag}.po"
    locale = tag.replace("-", "_")
    catalog = Catalog(locale=locale)
    if path.exists():
        catalog = read_po(BytesIO(path.read_bytes()), locale=locale)
    catalog.update(sources, no_fuzzy_matching=True)
    catalog.obsolete.clear()
    written = BytesIO()
    write_po(written, catalog, width=100, omit_header=True, include_lineno=False)
    header = _HEADER.format(tag=tag, plural_forms=catalog.plural_forms)
    return header.encode() + written.getvalue()


def main(tags: list[str]) -> None:
    sources = extract()
    for tag in sorted({*tags, *(it.stem for it in CATALOGS.glob("*.po"))}):
        (CATALOGS / f"{tag}.po").write_bytes(updated(tag, sources))
    (CLIENT / "texts.js").write_text(client_texts(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
