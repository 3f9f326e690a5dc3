"""Submitted forms: processed and redirected to a confirmation, or rejected and shown again."""

from collections.abc import Callable, Mapping
from functools import partial
from types import MappingProxyType
from typing import NamedTuple

from widget_contract.errors import CatalogError, InvalidName

from ..errors import Conflict, InvalidAccount, InvalidRequest
from .call import Call
from .http import Response
from .routing import Handler
from .services import Services

# Errors that the person can correct in the form.
CORRECTABLE = (InvalidRequest, InvalidName, InvalidAccount, Conflict)


class SentForm(NamedTuple):
    """Which form of a page was rejected, its values, and the errors. By default, none was."""

    name: str = ""
    fields: Mapping[str, str] = MappingProxyType({})
    error: CatalogError | None = None

    def errors(self, form: str) -> list[str]:
        """The errors to show next to a form of the page."""
        if self.error is None or form != self.name:
            return []
        return (
            list(self.error.errors)
            if isinstance(self.error, InvalidAccount)
            else [self.error.message]
        )

    def typed(self, form: str, field: str, default: str = "") -> str:
        return self.fields.get(field, default) if form == self.name else default


NOT_SENT = SentForm()
Page = Callable[[Services, Call, SentForm], Response]
Change = Callable[[Services, Call, Mapping[str, str]], object]


def take_form(
    services: Services,
    call: Call,
    name: str,
    change: Callable[[Mapping[str, str]], object],
    page: Page,
    next_: str,
    *,
    correctable: tuple[type[CatalogError], ...] = CORRECTABLE,
) -> Response:
    """Make the change; `next_` gets the form's name as `done`."""
    fields = call.form()
    try:
        change(fields)
    except correctable as error:
        return page(services, call, SentForm(name, fields, error))
    return services.renderer.redirect(f"{next_}?done={name}")


def forms_of(
    page: Page,
    place: Callable[[Call], str],
    correctable: tuple[type[CatalogError], ...] = CORRECTABLE,
) -> Callable[[str], Callable[[Change], Handler]]:
    """A decorator for the forms of a page: makes a handler of a function that makes the change."""

    def named(name: str) -> Callable[[Change], Handler]:
        def handler_of(change: Change) -> Handler:
            def handle(services: Services, call: Call) -> Response:
                done = partial(change, services, call)
                return take_form(
                    services, call, name, done, page, place(call), correctable=correctable
                )

            return handle

        return handler_of

    return named
