"""The language of a response: what is offered, what a request asks for, and the switch."""

import asyncio
import re
from functools import lru_cache
from urllib.parse import parse_qsl, urlencode, urlsplit

from ..languages.language import ENGLISH, Language, parse_languages
from .accept import weight_of
from .http import HeaderLookup, Request
from .rendering import local_path

COOKIE = "language"
QUERY = "lang"
SWITCH = "/language"
"""The path of the switch, with the chosen language in the query."""
A_YEAR_S = 365 * 86_400
_ASKED = re.compile(rf"(?:\A|[;&\s]){COOKIE}=([A-Za-z-]{{2,20}})(?=;|\s|\Z)")
_IN_QUERY = re.compile(rf"(?:\A|&){QUERY}=([A-Za-z-]{{2,20}})(?=&|\Z)")
# Longer headers, or more languages than anybody reads, are not looked at.
_MAX_CHARACTERS = 200


class Languages:
    """Which language a request gets, of those that are offered: the one of `lang` in the query, of
    the cookie that the switch in the footer sets, or of the browser's Accept-Language. The first is
    for those who read none of them. What is offered bounds the number of forms of a page, whatever
    clients ask for.
    """

    def __init__(self, tags: str = ENGLISH.tag) -> None:
        self.offered = parse_languages(tags)
        self._by_tag = {it.tag.lower(): it for it in self.offered}
        self._negotiate = lru_cache(maxsize=1000)(self._choose)
        self._loaded = {ENGLISH}

    def choose(self, request: Request) -> Language:
        if len(self.offered) == 1:
            return self.offered[0]
        if QUERY in request.query_string and (found := self.find_asked(request.query_string)):
            return found
        headers = request.headers
        if headers.get("cookie") is not None and (found := self._remembered(headers)):
            return found
        accepted = headers.get("accept-language")
        if accepted is None or len(accepted) > _MAX_CHARACTERS:
            return self.offered[0]
        return self._negotiate(accepted)

    async def load(self, language: Language) -> None:
        """Call this before the first use of a language."""
        if language not in self._loaded:
            await asyncio.to_thread(language.load)
            self._loaded.add(language)

    def find_asked(self, query_string: str) -> Language | None:
        """The one in a query."""
        asked = _IN_QUERY.search(query_string)
        return None if asked is None else self.find(asked[1])

    def find(self, tag: str) -> Language | None:
        return self._by_tag.get(tag.lower())

    def _remembered(self, headers: HeaderLookup) -> Language | None:
        for key, line in headers.items():
            if key == "cookie" and (asked := _ASKED.search(line)):
                return self.find(asked[1])
        return None

    def _choose(self, accepted: str) -> Language:
        """The most wanted one; of several, the first one named. `de-AT` is content with `de`."""
        wanted: dict[Language, float] = {}
        for part in accepted.split(","):
            tag = part.partition(";")[0].strip()
            found = self.find(tag) or self.find(tag.partition("-")[0])
            if tag == "*":
                found = self.offered[0]
            if found is not None:
                wanted[found] = max(wanted.get(found, 0.0), weight_of(part))
        best = max(wanted, key=wanted.__getitem__, default=self.offered[0])
        return best if wanted.get(best) else self.offered[0]


def without_language(referer: str, root: str) -> str:
    """The local path and query of a page, without its language; the front page if it is none."""
    try:
        address = urlsplit(referer)
        fields = parse_qsl(address.query, keep_blank_values=True, max_num_fields=30)
    except ValueError:
        return "/"
    path = address.path.removeprefix(root) if address.path.startswith(f"{root}/") else "/"
    path = "/" + path.lstrip("/")
    query = urlencode([it for it in fields if it[0] != QUERY])
    return local_path(f"{path}?{query}" if query else path) or "/"
