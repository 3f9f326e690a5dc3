"""Pages of the API reference: the overview, one per operation, and one of all schemas."""

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any
from urllib.parse import quote, urlencode

from ...core.http.content import AnyContent
from .rendered_pages import RenderedPages

_ROOT = "/docs/api"
_SCHEMAS = "schemas"


class ReferencePages:
    def __init__(self, pages: RenderedPages, document: Callable[[], dict[str, Any]]) -> None:
        self._pages = pages
        self._document = document

    @cached_property
    def _reference(self) -> Any:
        # Markdown is slow to load, and this page is rarely requested.
        from .reference import reference

        return reference(self._document())

    def list_paths(self) -> list[str]:
        """The paths of all pages of the reference."""
        operations = [it.id for group in self._reference.groups for it in group.operations]
        return [_ROOT, *(f"{_ROOT}/{it}" for it in (_SCHEMAS, *operations))]

    def page(self, page: str = "") -> AnyContent | None:
        """The page of this operation, `schemas`, or the overview."""
        operation = self._reference.find(page)
        if page in ("", _SCHEMAS):
            template = f"catalog/reference/{page or 'overview'}.html"
        elif operation is not None:
            template = "catalog/reference/operation.html"
        else:
            return None
        return self._pages.get(
            f"reference {page}",
            (),
            template,
            lambda: {"reference": self._reference, "page": page, "operation": operation},
        )

    def find_address(self, operation_id: str, given: Mapping[str, str]) -> str | None:
        """The API URL for the values of an operation's form.

        The form's own URL if one is missing; None if there is no such form.
        """
        operation = self._reference.find(operation_id)
        if operation is None or not operation.can_be_tried or operation.body is not None:
            return None
        address, query = operation.path, {}
        for it in operation.parameters:
            value = given.get(it.name, "").strip()
            if it.place == "query" and value:
                query[it.name] = value
            elif it.place == "path":
                if not value.strip("."):  # Browsers interpret dots as relative paths.
                    return f"{_ROOT}/{operation_id}#try"
                address = address.replace(f"{{{it.name}}}", quote(value, safe=""))
        return f"{address}?{urlencode(query)}" if query else str(address)
