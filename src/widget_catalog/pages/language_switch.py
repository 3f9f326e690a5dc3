"""The switch in the footer: remembers the chosen language, and shows the page again from which it
was chosen.
"""

from ..core.http.cookies import cookie_attributes
from ..core.http.http import NOSNIFF, Headers, Request, Response
from ..core.http.language_choice import A_YEAR_S, COOKIE, Languages, without_language
from ..core.http.rendering import PageRenderer


def switch_language(request: Request, languages: Languages, renderer: PageRenderer) -> Response:
    headers: Headers = [NOSNIFF]
    if (chosen := languages.find_asked(request.query_string)) is not None:
        attributes = cookie_attributes(renderer.public_url)
        cookie = f"{COOKIE}={chosen.tag}; Max-Age={A_YEAR_S}{attributes}"
        headers.append(("set-cookie", cookie))
    back = without_language(request.headers.get("referer") or "", renderer.root)
    return renderer.redirect(back, *headers)
