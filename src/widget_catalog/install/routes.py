"""The routes of /install. Nobody has to sign in, and no name is looked up anywhere else."""

from ..core.http.call import Call
from ..core.http.http import Response
from ..core.http.routing import AuthMode, Handler, Route, Who, page
from ..core.http.services import Services
from . import endpoints


def _public(path: str, handler: Handler) -> Route:
    return page("GET", path, handler, Who.ANYONE, AuthMode.ANONYMOUS_PAGE)


def _add_slash(services: Services, call: Call) -> Response:
    """Links in the index are relative to a path with a slash."""
    return services.renderer.redirect(f"{call.request.path}/", status=308)


ROUTES = (
    _public("/install", endpoints.get_install),
    _public("/install/constraints.txt", endpoints.get_constraints),
    _public("/install/simple", _add_slash),
    _public("/install/simple/", endpoints.get_index),
    _public("/install/simple/{project}", _add_slash),
    _public("/install/simple/{project}/", endpoints.get_project),
    _public("/install/{file}", endpoints.get_file),
)
