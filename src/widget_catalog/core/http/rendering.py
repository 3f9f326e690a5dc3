"""PageRenderer: templates, style sheets and headers shared by all pages."""

import re
from collections.abc import Mapping, MutableMapping, Sequence
from functools import partial
from pathlib import Path
from types import CodeType
from typing import Any, NamedTuple
from urllib.parse import quote, urlsplit

from jinja2 import (
    BytecodeCache,
    ChoiceLoader,
    Environment,
    FileSystemLoader,
    PrefixLoader,
    StrictUndefined,
    Template,
    nodes,
)
from jinja2.bccache import Bucket
from markupsafe import Markup, escape

from widget_contract.capabilities import in_words
from widget_contract.preview import preview_file, preview_files, preview_tag

from .. import release
from ..clock import from_ms
from ..languages.language import ENGLISH, Language
from ..tracing import current, part
from .content import Content
from .http import NOSNIFF, Headers, Response
from .translating import TranslatedCalls, Translating

_TEMPLATES = Path(__file__).parent / "templates"
STATIC = Path(__file__).parent / "static"

HTML = ("content-type", "text/html; charset=utf-8")
_NO_STORE = ("cache-control", "no-store")

Header = tuple[str, str]


class Contributions(NamedTuple):
    """What features contribute to the pages of others: see `features.py`."""

    templates: Mapping[str, Path]
    """Folders of templates, by the first part of their names."""
    menus: Mapping[str, Sequence[tuple[str, str]]]
    """Path and label of the links in each menu."""
    texts: Mapping[str, Sequence[str]]
    """What is said in each of `PLACES`."""


PLACES = {
    "storage_hints": "A sentence below the storage in the operator's overview.",
    "operator_can": "The end of: an operator can, in every scope, ...",
    "on_dismissal": "A sentence about what happens when an operator is dismissed.",
    "install_page": "The path of the page that says how to install the authors' tool.",
}
NO_CONTRIBUTIONS = Contributions({}, {"account": (), "operate": ()}, dict.fromkeys(PLACES, ()))


class PageRenderer:
    def __init__(
        self,
        service_name: str,
        public_url: str,
        contributions: "Contributions" = NO_CONTRIBUTIONS,
        *,
        has_dashboard: bool = False,
        is_static: bool = False,
    ) -> None:
        """`is_static`: pages become files, so there is no sign-in, and queries have no effect."""
        self.service_name = service_name
        self.public_url = public_url
        self.style = _style("site", "cards", "browse", "widget")
        self.style_path = f"/static/site.{Content(self.style).tag}.css"
        self.docs_style = _style("site", "browse", "widget", "fields", "reference")
        self.docs_style_path = f"/static/docs.{Content(self.docs_style).tag}.css"
        self.people_style = _style("site", "people", "browse", "widget", "fields")
        self.people_style_path = f"/static/people.{Content(self.people_style).tag}.css"
        self.dashboard_style = _style("site", "dashboard")
        self.dashboard_style_path = f"/static/dashboard.{Content(self.dashboard_style).tag}.css"
        self.script = (STATIC / "passkeys.js").read_bytes()
        self.script_path = f"/static/passkeys.{Content(self.script).tag}.js"
        self.mark = (STATIC / "favicon.svg").read_bytes()
        self.site_script = (STATIC / "site.js").read_bytes()
        self.site_script_path = f"/static/site.{Content(self.site_script).tag}.js"
        self.docs_script = (STATIC / "docs.js").read_bytes()
        self.docs_script_path = f"/static/docs.{Content(self.docs_script).tag}.js"
        self.suggest_script = (STATIC / "suggest.js").read_bytes()
        self.suggest_script_path = f"/static/suggest.{Content(self.suggest_script).tag}.js"
        self.publish_script = (STATIC / "publish.js").read_bytes()
        self.publish_script_path = f"/static/publish.{Content(self.publish_script).tag}.js"
        own = ("dashboard.js", "cards.js")
        scripts = {it: preview_file(it, (STATIC / it).read_bytes()) for it in own}
        # They import each other by relative URLs, so they share one folder, whose name changes.
        self.preview_files = preview_files() | scripts
        self.preview_path = f"/static/preview-{preview_tag(self.preview_files)}"
        self.static_search = (STATIC / "static-search.js").read_bytes()
        self.static_search_path = f"/static/search.{Content(self.static_search).tag}.js"
        self.has_dashboard = has_dashboard
        self.mirror_url = ""
        self.is_static = is_static
        # If the service is published under a path, links start with it.
        self.root = urlsplit(public_url).path.rstrip("/")
        self._contributions = contributions
        self.templates = _environment(contributions)
        self._environments = {ENGLISH: self.templates}
        self.templates.globals.update(
            root=self.root,
            style_url=self.root + self.style_path,
            docs_style_url=self.root + self.docs_style_path,
            people_style_url=self.root + self.people_style_path,
            dashboard_style_url=self.root + self.dashboard_style_path,
            script_url=self.root + self.script_path,
            preview_url=self.root + self.preview_path,
            has_dashboard="yes" if has_dashboard else "",
            takes_reports="",
            is_static="yes" if is_static else "",
            static_search_url=self.root + self.static_search_path,
            site_script_url=self.root + self.site_script_path,
            docs_script_url=self.root + self.docs_script_path,
            suggest_script_url=self.root + self.suggest_script_path,
            publish_script_url=self.root + self.publish_script_path,
            service_name=service_name,
            public_url=public_url,
            release=release.VERSION,
            mirror_url="",
        )

    def take_reports(self) -> None:
        """Show links to report a widget."""
        self.templates.globals["takes_reports"] = "yes"

    def show_mirror(self, url: str) -> None:
        """Show the upstream in the footer of every page, if this is a mirror."""
        self.mirror_url = url
        self.templates.globals["mirror_url"] = url

    def list_files(self) -> list[str]:
        """The paths of the static files that the pages of a static site need."""
        styles = [self.style_path, self.docs_style_path]
        return [*styles, self.site_script_path, self.docs_script_path, self.static_search_path]

    def render(self, template: str, *, language: Language = ENGLISH, **values: object) -> bytes:
        with part("render"):
            environment = self._environments.get(language) or self._translate(language)
            values["language"] = language
            return environment.get_template(template).render(values).encode()

    def _translate(self, language: Language) -> "PageEnvironment":
        """The same templates in another language, with the same globals."""
        environment = _environment(self._contributions, language)
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
        allowed only on pages that need them; `more` are additional rules of the policy for these.

        Our origin also serves authors' files, under `/cdn/`. So a second policy, which applies in
        addition, names our folders, on any host: this one may have several names.
        """
        script = "script-src 'self'; " if has_script else ""
        more = more and f"{more}; "
        any_host = "*:*" + quote(self.root, safe="/%")
        policy = (
            f"default-src 'none'; {script}{more}style-src 'self'; img-src 'self' data:; "
            f"form-action {form_targets}; base-uri 'none'; frame-ancestors {ancestors}, "
            f"script-src {any_host}/static/ {any_host}/client/; style-src {any_host}/static/"
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


def _style(*names: str) -> bytes:
    """These style sheets as one, and that of the preview."""
    styles = [(STATIC / f"{it}.css").read_bytes() for it in names]
    return b"".join([*styles, preview_files()["preview.css"].content])


def leave(address: str, *headers: Header, status: int = 303) -> Response:
    described = [("location", address), _NO_STORE, ("referrer-policy", "no-referrer"), *headers]
    return Response(status, described, b"")


def local_path(text: str) -> str | None:
    """A local redirect target; None for anything that might lead to another site."""
    is_plain = text.isascii() and text.isprintable() and "\\" not in text and len(text) <= 8192
    is_local = text.startswith("/") and not text.startswith("//")
    return text if is_plain and is_local else None


class CompiledTemplates(BytecodeCache):
    """A cache of compiled templates, shared by all renderers of a process.

    Compiling a template takes a hundred times as long as rendering it.
    """

    def __init__(self) -> None:
        self._code: dict[tuple[str, str, str], CodeType] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        bucket.code = self._code.get(_key_of(bucket))

    def dump_bytecode(self, bucket: Bucket) -> None:
        if bucket.code is not None:
            self._code[_key_of(bucket)] = bucket.code


def _key_of(bucket: Bucket) -> tuple[str, str, str]:
    environment = bucket.environment
    language = environment.language if isinstance(environment, PageEnvironment) else ENGLISH
    return language.tag, bucket.key, bucket.checksum


_COMPILED = CompiledTemplates()
_find_special = re.compile("[&<>\"']").search


def escape_output(value: object) -> str:
    """The same text as `markupsafe.escape`, for output: without an object of its own for every
    text, which takes most of the time of a page with hundreds of them."""
    if type(value) is str:
        return value if _find_special(value) is None else str(escape(value))
    return value if type(value) is Markup else escape(value)


class PageTemplate(Template):
    """A template that escapes what it outputs with `escape_output`."""

    @classmethod
    def from_code(cls, *arguments: Any, **more: Any) -> Template:
        template = super().from_code(*arguments, **more)
        # Compiled templates import `escape` for this purpose only; filters have their own.
        template.root_render_func.__globals__["escape"] = escape_output
        return template


class PageEnvironment(Environment):
    """The templates in one language."""

    template_class = PageTemplate
    language = ENGLISH

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        parsed = super()._parse(source, name, filename)
        TranslatedCalls(self.language).visit(parsed)
        return parsed

    def make_globals(self, d: MutableMapping[str, Any] | None) -> MutableMapping[str, Any]:
        """All templates share the globals of the environment: a map over them for each template,
        as Jinja makes it, is copied entry by entry for every page."""
        return super().make_globals(d) if d else self.globals


def _environment(contributions: Contributions, language: Language = ENGLISH) -> PageEnvironment:
    rooms = {name: FileSystemLoader(it) for name, it in contributions.templates.items()}
    environment = PageEnvironment(
        loader=ChoiceLoader([FileSystemLoader(_TEMPLATES), PrefixLoader(rooms)]),
        autoescape=True,
        undefined=StrictUndefined,
        auto_reload=False,
        bytecode_cache=_COMPILED,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=[Translating],
    )
    environment.language = language
    environment.policies["ext.i18n.trimmed"] = True
    # The settings of a widget are shown in the order in which the author describes them.
    environment.policies["json.dumps_kwargs"] = {"sort_keys": False}
    environment.globals["chosen_theme"] = _chosen_theme
    environment.globals["menus"] = contributions.menus
    environment.globals["texts"] = contributions.texts
    environment.filters["grouped"] = language.number
    environment.filters["plural_form"] = language.plural_form
    environment.filters["noun"] = lambda word, count: word if count == 1 else f"{word}s"
    environment.filters["grouped_by_four"] = lambda text: " ".join(re.findall(".{1,4}", text))
    words_of = in_words if language is ENGLISH else partial(in_words, gettext=language.gettext)
    environment.filters["in_words"] = words_of
    environment.filters["bytes"] = language.bytes
    environment.filters["details_in_words"] = details_in_words
    environment.filters["short"] = short
    environment.filters["day"] = language.day
    environment.filters["moment"] = lambda ms: f"{from_ms(ms):%-d %B %Y, %H:%M} UTC"
    return environment


def _chosen_theme() -> str:
    """Of the visitor of a personal page. Public pages, the same for everybody, have a script."""
    return "" if (trace := current.get()) is None else trace.theme


def short(text: str, most: int) -> str:
    """Truncates a long text, at a word boundary if possible."""
    if len(text) <= most:
        return text
    kept = text[:most]
    return (kept.rpartition(" ")[0] or kept).rstrip(" ,;:.") + "…"


_LABELS = {
    "way": "method",
    "isOperator": "operator",
    "sha256Hash": "SHA-256",
    "cssSha256Hash": "SHA-256 of the style sheet",
    "cssSize": "size of the style sheet",
    "url": "URL",
}


def details_in_words(details: Mapping[str, object]) -> list[tuple[str, str]]:
    """Labels and values."""
    return [
        (_LABELS.get(key) or re.sub("[A-Z]", lambda it: f" {it[0].lower()}", key), _value(value))
        for key, value in details.items()
    ]


def _value(value: object) -> str:
    match value:
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case list():
            return ", ".join(map(str, value)) or "none"
        case _:
            return str(value)
