"""`texts.js` of the JavaScript client: what its forms say to people, in every language of the
pages, and the sentences about permissions. It is made of the catalogs by `extract.py`.
"""

import json
from collections.abc import Mapping
from pathlib import Path

from .language import ENGLISH, TAGS, find_language
from .permissions import CAPABILITIES, PERMISSIONS

CLIENT = Path(__file__).parents[1] / "http" / "static" / "client"
SCRIPTS = ("consent.js", "settings.js")

_FILE = """\
// What consent.js and settings.js say, in every language of the catalog's pages.
// Made by `./dev run python -m widget_catalog.core.languages.extract`.

/** The sentences about permissions. */
export const PERMISSIONS = %(permissions)s;

const TEXTS = %(texts)s;

/** A function that translates an English text into a language, and fills in values. */
export function translator(locale) {
  const tag = locale ?? (document.documentElement.lang || navigator.language);
  const known = TEXTS[tag] ?? TEXTS[tag.split("-")[0]] ?? {};
  return (text, values = {}) =>
    (known[text] ?? text).replace(/%%\\((\\w+)\\)s/g, (all, name) => values[name] ?? all);
}
"""


def client_texts() -> str:
    languages = {tag: find_language(tag) or ENGLISH for tag in TAGS if tag != ENGLISH.tag}
    shared = (*PERMISSIONS.values(), *CAPABILITIES)
    texts = {
        tag: {it: language.gettext(it) for it in shared} | dict(language.script_texts(*SCRIPTS))
        for tag, language in languages.items()
    }
    return _FILE % {"permissions": _json(PERMISSIONS), "texts": _json(texts)}


def _json(value: Mapping[str, object]) -> str:
    return json.dumps(value, ensure_ascii=False, indent=2)
