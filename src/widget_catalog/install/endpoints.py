"""`/install` for people, and the package index for pip, uv and npm."""

import json
from html import escape
from typing import Any
from urllib.parse import quote

from ..core.errors import NotFound
from ..core.http.call import Call
from ..core.http.conditional import is_known
from ..core.http.http import NOSNIFF, Response
from ..core.http.routing import AuthMode, Handler, Route, Who, page
from ..core.http.services import Services
from .packages import Package, Packages, normalize, version_of

_JSON = "application/vnd.pypi.simple.v1+json"
_REVALIDATED = ("cache-control", "no-cache")
_VARY = ("vary", "accept")
_VERSION = "1.1"


def get_install(services: Services, _call: Call) -> Response:
    packages = services.of(Packages)
    shown: dict[str, Any] = {
        "version": version_of(packages.tool),
        "launcher": packages.launcher.file,
        "has_dependencies": packages.has_dependencies,
        "files": [(it.file, it.sha256) for it in packages.own.values()],
    }
    # The account corner requests the session.
    rules = "connect-src 'self'"
    return services.renderer.page("install/install.html", script_rules=rules, **shown)


def get_constraints(services: Services, _call: Call) -> Response:
    """Where pip gets our packages, and their hashes: it looks for these names nowhere else."""
    base = f"{services.settings.public_url}/install"
    wheels = services.of(Packages).own_wheels
    lines = [f"{project} @ {base}/{it.file}#sha256={it.sha256}\n" for project, it in wheels]
    return _response("text/plain; charset=utf-8", "".join(lines).encode())


def get_index(services: Services, call: Call) -> Response:
    names = list(services.of(Packages).projects)
    if _wants_json(call):
        return _json({"projects": [{"name": it} for it in names]})
    return _html("Packages", [f'<a href="{it}/">{it}</a>' for it in names])


def get_project(services: Services, call: Call) -> Response:
    name = normalize(call.params["project"])
    files = services.of(Packages).projects.get(name)
    if files is None:
        raise NotFound(f"This catalog does not offer the package {name[:100]}.")
    # Relative to this page, so that they are right behind every proxy.
    if _wants_json(call):
        return _json({"name": name, "versions": _versions(files), "files": list(map(_file, files))})
    links = [
        f'<a href="../../{quote(it.file)}#sha256={it.sha256}">{escape(it.file)}</a>' for it in files
    ]
    return _html(f"Files of {name}", links)


def get_file(services: Services, call: Call) -> Response:
    package = services.of(Packages).all.get(call.params["file"])
    if package is None:
        raise NotFound("This catalog does not offer this file.")
    etag = f'"{package.sha256}"'
    if is_known(call.request.headers, etag):
        return Response(304, [_REVALIDATED, ("etag", etag)], None)
    kind = "application/gzip" if package.project is None else "application/octet-stream"
    headers = [("content-type", kind), _REVALIDATED, NOSNIFF, ("etag", etag)]
    return Response(200, headers, package.body)


def _file(package: Package) -> dict[str, Any]:
    size = len(package.body) if isinstance(package.body, bytes) else package.body.stop
    url = f"../../{quote(package.file)}"
    return {
        "filename": package.file,
        "url": url,
        "hashes": {"sha256": package.sha256},
        "size": size,
    }


def _versions(files: list[Package]) -> list[str]:
    return sorted({version_of(it) for it in files})


def _wants_json(call: Call) -> bool:
    """Browsers and old installers get HTML."""
    accept = call.request.headers.get("accept") or ""
    return _JSON in accept or "application/vnd.pypi.simple.latest+json" in accept


def _json(body: dict[str, Any]) -> Response:
    return _response(_JSON, json.dumps({"meta": {"api-version": _VERSION}, **body}).encode())


def _html(title: str, links: list[str]) -> Response:
    head = f'<meta name="pypi:repository-version" content="{_VERSION}"><title>{title}</title>'
    body = "<br>\n".join(links)
    page = f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head><body>\n{body}\n</body></html>\n'
    return _response("text/html; charset=utf-8", page.encode())


def _response(kind: str, body: bytes) -> Response:
    policy = ("content-security-policy", "default-src 'none'; frame-ancestors 'none'")
    return Response(200, [("content-type", kind), _REVALIDATED, _VARY, NOSNIFF, policy], body)


def _public(path: str, handler: Handler) -> Route:
    return page("GET", path, handler, Who.ANYONE, AuthMode.ANONYMOUS_PAGE)


def _add_slash(services: Services, call: Call) -> Response:
    """Links in the index are relative to a path with a slash."""
    return services.renderer.redirect(f"{call.request.path}/", status=308)


ROUTES = (
    _public("/install", get_install),
    _public("/install/constraints.txt", get_constraints),
    _public("/install/simple", _add_slash),
    _public("/install/simple/", get_index),
    _public("/install/simple/{project}", _add_slash),
    _public("/install/simple/{project}/", get_project),
    _public("/install/{file}", get_file),
)
