"""Pages (placeholder until the helper's version lands)."""

from ..reading.catalog import Catalog
from .http import NOSNIFF, Request, Response


class Pages:
    def __init__(self, catalog: Catalog, service_name: str, public_url: str) -> None:
        self._catalog = catalog

    def answer(self, request: Request) -> Response:
        return Response(404, [("content-type", "text/plain"), NOSNIFF], b"not found")
