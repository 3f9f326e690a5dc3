"""PageRenderer: templates, style sheets and headers shared by all pages."""

import base64
import hashlib
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, urlsplit

from jinja2 import Template
from markupsafe import Markup

from widget_contract.preview import preview_file, preview_files, preview_tag, served_preview_files

from .. import release
from ..languages.language import ENGLISH, Language
from ..tracing import part
from .branding import LOGO_TYPES, Brand
from .content import Content
from .contributions import NO_CONTRIBUTIONS, Contributions
from .http import NOSNIFF, Headers, Response
from .page_templates import PageEnvironment, page_environment

STATIC = Path(__file__).parent / "static"

HTML = ("content-type", "text/html; charset=utf-8")
_FRAME_TEMPLATE = "frame.html"
_NO_STORE = ("cache-control", "no-store")

Header = tuple[str, str]

# From the folder of the preview's files.
_FRAME = "../../frame/v1"

# The style sheets and scripts of pages, and the files that each consists of. A style sheet also has
# that of the preview.
_SOURCES = {
    "site.css": ("site.css", "cards.css", "browse.css", "widget.css"),
    "docs.css": ("site.css", "browse.css", "widget.css", "fields.css", "reference.css"),
    "people.css": ("site.css", "people.css", "browse.css", "widget.css", "fields.css"),
    "dashboard.css": ("site.css", "dashboard.css"),
    "search.js": ("static-search.js",),
    **{it: (it,) for it in ("passkeys.js", "site.js", "docs.js", "suggest.js", "publish.js")},
}

# Applies the theme that `site.js` stores, before anything is drawn. It is in the page: a file would
# delay the first paint by a round trip.
_THEME_SCRIPT = (
    "{const it=/(?:^|; )theme=(light|dark)/.exec(document.cookie);"
    "if(it)document.documentElement.dataset.theme=it[1]}"
)
_THEME_HASH = base64.b64encode(hashlib.sha256(_THEME_SCRIPT.encode()).digest()).decode()


class StaticFile(NamedTuple):
    path: str
    content: bytes


class Frame:
    """What surrounds a page, in parts: the macros of a template, each called when a page needs it
    first.
    """

    def __init__(self, template: Template, values: Mapping[str, object]) -> None:
        self._template = template
        self._values = values

    @cached_property
    def _macros(self) -> dict[str, Callable[..., Markup]]:
        return vars(self._template.make_module(dict(self._values)))

    @cached_property
    def links(self) -> Callable[[str], Markup]:
        return cache(self._macros["links"])

    def __getattr__(self, name: str) -> Markup:
        written = self.__dict__[name] = self._macros[name]()
        return written


class PageRenderer:
    def __init__(
        self,
        service_name: str,
        public_url: str,
        contributions: Contributions = NO_CONTRIBUTIONS,
        *,
        has_dashboard: bool = False,
        is_static: bool = False,
        frame_url: str = "",
    ) -> None:
        """`is_static`: pages become files, so there is no sign-in, and queries have no effect.
        `frame_url`: where the frame of previews is, if another site serves it.
        """
        self.service_name = self._own_name = service_name
        self.public_url = public_url
        self.files = _static_files()
        own = ("dashboard.js", "cards.js")
        scripts = {it: preview_file(it, (STATIC / it).read_bytes()) for it in own}
        # They import each other by relative URLs, so they share one folder, whose name changes.
        is_apart = urlsplit(frame_url).hostname != urlsplit(public_url).hostname
        served = served_preview_files(frame_url or _FRAME, is_apart=is_apart and bool(frame_url))
        self.preview_files = served | scripts
        self.frame_rules = f"frame-src {frame_url}" if frame_url else "frame-src 'self'"
        """The rules of a page with a preview, besides those of its scripts."""
        self._frame_url = frame_url
        self.preview_path = f"/static/preview-{preview_tag(self.preview_files)}"
        self.has_dashboard = has_dashboard
        self.mirror_url = ""
        self.brand = Brand()
        self.look: tuple[object, ...] = ("", self.brand)
        """What all pages show, and what changes while the service runs."""
        self.is_static = is_static
        # If the service is published under a path, links start with it.
        self.root = urlsplit(public_url).path.rstrip("/")
        self._contributions = contributions
        self.templates = page_environment(contributions)
        self._environments = {ENGLISH: self.templates}
        self._frames: dict[tuple[Language, int], Frame] = {}
        self.templates.globals.update(
            root=self.root,
            static={name: self.root + file.path for name, file in self.files.items()},
            preview_url=self.root + self.preview_path,
            has_dashboard="yes" if has_dashboard else "",
            takes_reports="",
            is_static="yes" if is_static else "",
            public_url=public_url,
            release=release.VERSION,
            theme_script=Markup(_THEME_SCRIPT),  # noqa: S704
            mirror_url="",
            **self.values_of(self.brand),
        )

    def take_reports(self) -> None:
        """Show links to report a widget."""
        self._show(takes_reports="yes")

    def show_mirror(self, url: str) -> None:
        """Show the upstream in the footer of every page, if this is a mirror."""
        self.mirror_url = url
        self._show(mirror_url=url)
        self.look = (url, self.brand)

    def show_brand(self, brand: Brand) -> None:
        """Show this on every page."""
        if brand != self.brand:
            self.brand = brand
            self.service_name = brand.name or self._own_name
            self._show(**self.values_of(brand))
            self.look = (self.mirror_url, brand)

    def _show(self, **values: object) -> None:
        self.templates.globals.update(values)
        # Another one: a thread may be about to add a frame with the values from before.
        self._frames = {}

    def values_of(self, brand: Brand, *, is_saved: bool = True) -> dict[str, object]:
        """The values of templates that a brand determines."""
        logo, address = brand.logo, self.root + "/favicon.svg"
        if logo is not None:
            address = self.root + logo.path if is_saved else logo.inline
        return {
            "service_name": brand.name or self._own_name,
            "brand": brand,
            "accent_url": brand.accent_path and self.root + brand.accent_path,
            "logo_url": address,
            "logo_type": LOGO_TYPES["svg" if logo is None else logo.kind],
            "logo_width": 26 if logo is None else logo.shown_width,
        }

    def list_files(self) -> list[str]:
        """The paths of the static files that the pages of a static site need."""
        needed = ("site.css", "docs.css", "site.js", "docs.js", "search.js")
        return [*(self.files[it].path for it in needed), *self.brand.list_files()]

    def render(self, template: str, *, language: Language = ENGLISH, **values: object) -> bytes:
        with part("render"):
            environment = self._environments.get(language) or self._translate(language)
            values["language"] = language
            values["frame"] = Frame(environment.get_template(_FRAME_TEMPLATE), values)
            return environment.get_template(template).render(values).encode()

    def render_public(
        self, name: str, language: Language, languages: Sequence[Language], **values: object
    ) -> bytes:
        """A page that is the same for everybody. What surrounds it is the same on all pages in a
        language, and takes as long to render as a short page: it is kept.
        """
        with part("render"):
            environment = self._environments.get(language) or self._translate(language)
            shared: dict[str, object] = {"language": language, "languages": languages}
            key, frames = (language, len(languages)), self._frames
            frame = frames.get(key)
            if frame is None:
                frame = frames[key] = Frame(environment.get_template(_FRAME_TEMPLATE), shared)
            values |= {**shared, "frame": frame}
            return environment.get_template(name).render(values).encode()

    def _translate(self, language: Language) -> PageEnvironment:
        """The templates in another language; all languages share their globals."""
        environment = page_environment(self._contributions, language)
        environment.globals = self.templates.globals
        self._environments[language] = environment
        return environment

    def security_headers(
        self,
        form_targets: str = "'self'",
        *,
        has_script: bool = False,
        more: str = "",
        ancestors: str = "'none'",
    ) -> Headers:
        """Nothing is loaded from other origins, and no framing, except by `ancestors`. Scripts are
        allowed only on pages that need them, and in the page only the one that applies the theme;
        `more` are additional rules of the policy for these.

        Our origin also serves authors' files, under `/cdn/`. So a second policy, which applies in
        addition, names our folders, on any host: this one may have several names.
        """
        in_page = f" 'sha256-{_THEME_HASH}'" if has_script else ""
        script = f"script-src 'self'{in_page}; " if has_script else ""
        more = more and f"{more}; "
        any_host = "*:*" + quote(self.root, safe="/%")
        own = f"{any_host}/static/ {any_host}/client/{in_page}"
        frame = self._frame_url or f"{any_host}/frame/v1"
        frames = f"; frame-src {frame}" if self.frame_rules in more else ""
        policy = (
            f"default-src 'none'; {script}{more}style-src 'self'; img-src 'self' data:; "
            f"form-action {form_targets}; base-uri 'none'; frame-ancestors {ancestors}, "
            f"script-src {own}; style-src {any_host}/static/{frames}"
        )
        return [
            ("content-security-policy", policy),
            # With no-referrer, browsers send `Origin: null` with our own forms.
            ("referrer-policy", "same-origin"),
            # Older than the policy, and knows no list of sites.
            *([("x-frame-options", "DENY")] if ancestors == "'none'" else []),
            NOSNIFF,
        ]

    def page(
        self,
        template: str,
        *headers: Header,
        status: int = 200,
        form_targets: str = "'self'",
        has_script: bool = False,
        script_rules: str | None = None,
        language: Language = ENGLISH,
        **values: object,
    ) -> Response:
        """A personal page. It must not be cached, and is not compressed, because it contains
        secrets next to text that others may control (BREACH). `has_script`: the script for
        passkeys; with `script_rules`, the template names other scripts, and these rules are added
        to the policy.
        """
        runs = has_script or script_rules is not None
        policy = self.security_headers(form_targets, has_script=runs, more=script_rules or "")
        described = [HTML, _NO_STORE, *policy, *headers]
        body = self.render(template, language=language, has_script=has_script, **values)
        return Response(status, described, body)

    def message(
        self,
        status: int,
        title: str,
        sentence: str,
        *headers: Header,
        language: Language = ENGLISH,
    ) -> Response:
        return self.page(
            "message.html",
            *headers,
            status=status,
            language=language,
            title=title,
            sentence=sentence,
        )

    def redirect(self, path: str, *headers: Header, status: int = 303) -> Response:
        """To another local path; after a form, with GET."""
        return leave(self.root + path, *headers, status=status)

    def sign_in_first(self, next_: str) -> Response:
        return self.go_first("/sign-in", next_)

    def go_first(self, path: str, next_: str, *headers: Header, status: int = 302) -> Response:
        """To a required page, which then redirects to the original target."""
        address = f"{path}?next={quote(next_, safe='')}" if next_ else path
        return self.redirect(address, *headers, status=status)


@cache
def _static_files() -> dict[str, StaticFile]:
    """Style sheets and scripts by name. The name in the path changes with the content."""
    found = {}
    for name, sources in _SOURCES.items():
        content = b"".join((STATIC / it).read_bytes() for it in sources)
        if name.endswith("css"):
            content = _shorten(content + preview_files()["preview.css"].content)
        stem, kind = name.split(".")
        found[name] = StaticFile(f"/static/{stem}.{Content(content).tag}.{kind}", content)
    return found


def _shorten(style: bytes) -> bytes:
    """A style sheet without comments and layout. None of ours has a brace or a semicolon, or two
    spaces, in a string.
    """
    style = b" ".join(re.sub(rb"/\*.*?\*/", b"", style, flags=re.DOTALL).split())
    for mark in (b"{", b"}", b";"):
        style = style.replace(b" " + mark, mark).replace(mark + b" ", mark)
    return style.replace(b";}", b"}")


def leave(address: str, *headers: Header, status: int = 303) -> Response:
    described = [("location", address), _NO_STORE, ("referrer-policy", "no-referrer"), *headers]
    return Response(status, described, b"")


def local_path(text: str) -> str | None:
    """A local redirect target; None for anything that might lead to another site."""
    is_plain = text.isascii() and text.isprintable() and "\\" not in text and len(text) <= 8192
    is_local = text.startswith("/") and not text.startswith("//")
    return text if is_plain and is_local else None
