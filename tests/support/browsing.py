"""A headless browser: it stores cookies and submits the forms of the loaded page."""

from collections.abc import Mapping
from typing import Self
from urllib.parse import urlencode

from support.html import Html
from support.people import PASSWORD, Person
from support.site import InProcessSite, Reply

_FORM = "application/x-www-form-urlencoded"
_FILES = "multipart/form-data; boundary={}"
# The headers of every personal page.
# A second policy: not the folder with authors' files.
OWN_FOLDERS = "script-src *:*/static/ *:*/client/; style-src *:*/static/"
# The one script that may be in a page: it applies the theme.
IN_PAGE = "'sha256-Ppwa2sS7IBcLTEWk5SnuXDHHPw1+m3n4jnEBgA1csoA='"
SCRIPTS = f"script-src 'self' {IN_PAGE};"
OWN_FOLDERS_AND_SCRIPT = OWN_FOLDERS.replace("client/;", f"client/ {IN_PAGE};")
OWN_FOLDERS_AND_FRAME = f"{OWN_FOLDERS_AND_SCRIPT}; frame-src *:*/frame/v1"
PERSONAL = {
    "content-type": "text/html; charset=utf-8",
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; style-src 'self'; img-src 'self' data:; "
    f"form-action 'self'; base-uri 'none'; frame-ancestors 'none', {OWN_FOLDERS}",
    "referrer-policy": "same-origin",
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
}

# By field: a file, or several with their names.
Files = Mapping[str, bytes | list[tuple[str, bytes]]]


class Browsing:
    """Redirects are returned, not followed; `page` is the last loaded page.

    `cookies` have names without the prefix that all of them have over https.
    """

    def __init__(self, site: InProcessSite) -> None:
        self.site = site
        self.cookies: dict[str, str] = {}
        self.page = Html(b"")
        self._prefix = "__Host-" if site.settings.public_url.startswith("https:") else ""

    def get(self, address: str, **headers: str) -> Reply:
        return self._request("GET", address, b"", **headers)

    def post(self, address: str, fields: dict[str, str], **headers: str) -> Reply:
        """Send only these fields, as any site could make a browser do."""
        return self._request("POST", address, urlencode(fields).encode(), **headers)

    def submit(self, action: str, **fields: str) -> Reply:
        """Fill in the form of the page with this target, and submit it."""
        return self.post(action, {**self.hidden_fields(action), **fields})

    def submit_files(self, action: str, files: Files, **fields: str) -> Reply:
        """Submit a form with files; a browser sends an empty one for a field without a file."""
        body, kind = multipart({**self.hidden_fields(action), **fields}, files)
        return self._request("POST", action, body, content_type=kind)

    def hidden_fields(self, action: str) -> dict[str, str]:
        (start,) = {
            number
            for number, element in enumerate(self.page.elements)
            if element.tag == "form"
            and element.attributes["action"] == action
            and self._is_first(number, action)
        }
        fields: dict[str, str] = {}
        for element in self.page.elements[start + 1 :]:
            if element.tag == "form":
                break
            if element.attributes.get("type") == "hidden":
                fields[element.attributes["name"] or ""] = element.attributes["value"] or ""
        return fields

    def sign_in(self, username: str, password: str = PASSWORD) -> Self:
        self.get("/sign-in")
        response = self.submit("/sign-in", username=username, password=password)
        assert response.status == 303, response.body
        return self

    @property
    def errors(self) -> list[str]:
        """The errors shown on the page."""
        return [it.text for it in self.page.all("div", role="alert")]

    @property
    def title(self) -> str:
        return self.page.one("h1").text

    def _is_first(self, index: int, action: str) -> bool:
        earlier = self.page.elements[:index]
        return not any(it.tag == "form" and it.attributes["action"] == action for it in earlier)

    def _request(self, method: str, address: str, body: bytes, **headers: str) -> Reply:
        headers.setdefault("accept", "text/html,application/xhtml+xml,*/*;q=0.8")
        if body:
            headers.setdefault("content_type", _FORM)
        if self.cookies:
            pairs = "; ".join(f"{self._prefix}{key}={value}" for key, value in self.cookies.items())
            headers.setdefault("cookie", pairs)
        response = self.site.request(method, address, body, **headers)
        for key, value in response.response.headers:
            if key == "set-cookie":
                self._keep(value)
        if response.headers.get("content-type", "").startswith("text/html"):
            self.page = Html(response.body)
            assert self.page.open_at_end == []
        return response

    def _keep(self, cookie: str) -> None:
        pair, *attributes = cookie.split("; ")
        assert pair.startswith(self._prefix), cookie
        name, _, value = pair.removeprefix(self._prefix).partition("=")
        if "Max-Age=0" in attributes:
            self.cookies.pop(name, None)
        else:
            self.cookies[name] = value


def multipart(fields: dict[str, str], files: Files) -> tuple[bytes, str]:
    """A form in the browser's format, and its content type."""
    boundary = "----boundary7MA4YWxkTrZu0gW"
    parts = [(f'name="{name}"', value.encode()) for name, value in fields.items()]
    kind = "\r\nContent-Type: application/octet-stream"
    for name, chosen in files.items():
        if isinstance(chosen, bytes):
            chosen = [(f"{name}.txt" if chosen else "", chosen)]
        for file_name, content in chosen:
            parts.append((f'name="{name}"; filename="{file_name}"{kind}', content))
    lines = [
        f"--{boundary}\r\nContent-Disposition: form-data; {about}\r\n\r\n".encode()
        + value
        + b"\r\n"
        for about, value in parts
    ]
    return b"".join([*lines, f"--{boundary}--\r\n".encode()]), _FILES.format(boundary)


def browser_of(person: Person) -> Browsing:
    """The person's session, in a browser."""
    browsing = Browsing(person.site)
    name, _, value = person.headers["cookie"].partition("=")
    browsing.cookies[name.removeprefix("__Host-")] = value
    return browsing
