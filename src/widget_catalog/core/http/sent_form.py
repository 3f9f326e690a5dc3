"""Pages with forms. A submitted form is processed and redirected to a confirmation, or rejected and
shown again. Pages of signed-in users have CSRF tokens.
"""

import hashlib
import re
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import msgspec

from widget_contract.errors import CatalogError, InvalidName

from ..errors import Conflict, FieldMessage, InvalidAccount, InvalidRequest, TooOften
from .call import Call
from .errors import headers_of, status_of
from .http import Response
from .rendering import Header
from .replies import done
from .routing import Handler
from .services import Services

# Errors that the person can correct in the form.
CORRECTABLE = (InvalidRequest, InvalidName, InvalidAccount, Conflict)


_NOTHING: Mapping[str, str] = MappingProxyType({})


class FormError(NamedTuple):
    """An error of a form: the field, if it is about one, and the sentence next to the field."""

    field: str
    text: str
    at_field: str


class SentForm(NamedTuple):
    """Which form of a page was rejected, its values, and the errors. By default, none was.

    An error is about the field whose name it begins with (`url: has no host.`) or has as a
    `FieldMessage`. `at` has the fields of other names; with the name "", of errors without one.
    """

    name: str = ""
    fields: Mapping[str, str] = _NOTHING
    error: CatalogError | None = None
    at: Mapping[str, str] = _NOTHING

    def errors(self, form: str = "") -> list[FormError]:
        """The errors to show above a form of the page."""
        if self.error is None or form != self.name:
            return []
        texts = getattr(self.error, "errors", None) or [self.error.message]
        return [self._about(text) for text in texts]

    def needs_summary(self, form: str = "") -> bool:
        """Whether an error is about no field, or they are about several."""
        about = {it.field for it in self.errors(form)}
        return "" in about or len(about) > 1

    def errors_at(self, form: str, field: str) -> list[str]:
        return [it.at_field for it in self.errors(form) if it.field == field]

    def is_first(self, form: str, field: str) -> bool:
        """Whether the first error about a field is about this one."""
        return next((it.field for it in self.errors(form) if it.field), "") == field

    def typed(self, form: str, field: str, default: str = "") -> str:
        return self.fields.get(field, default) if form == self.name else default

    def _about(self, text: str) -> FormError:
        name, colon, sentence = text.partition(": ")
        if isinstance(text, FieldMessage):
            return FormError(self.at.get(text.field, text.field), text, text)
        if colon and (name in self.at or name in self.fields):
            field = self.at.get(name, name)
            words = re.sub("(?<=.)([A-Z])", r" \1", name).capitalize()
            return FormError(field, f"{words}: {sentence}", sentence[:1].upper() + sentence[1:])
        # A quota is about no field.
        field = "" if isinstance(self.error, TooOften) else self.at.get("", "")
        return FormError(field, text, text)


NOT_SENT = SentForm()
Page = Callable[[Services, Call, SentForm], Response]
FormChange = Callable[[Services, Call, Mapping[str, Any]], object]


Form = Callable[[FormChange], Handler]


def forms_of(
    page: Page,
    place: Callable[[Call], str],
    correctable: tuple[type[CatalogError], ...] = CORRECTABLE,
) -> Callable[..., Form]:
    """A decorator for the forms of a page: makes a handler of a function that makes the change. It
    redirects to `place`, with the form's name, if it has one, as `done`; unless the change made a
    response. `at`: see `SentForm`.
    """

    def named(name: str, at: Mapping[str, str] = _NOTHING) -> Form:
        def handler_of(change: FormChange) -> Handler:
            def handle(services: Services, call: Call) -> Response:
                fields = call.form()
                try:
                    made = change(services, call, fields)
                except correctable as error:
                    return page(services, call, SentForm(name, fields, error, at))
                if isinstance(made, Response):
                    return made
                query = f"?done={name}" if name else ""
                return services.renderer.redirect(f"{place(call)}{query}")

            return handle

        return handler_of

    return named


def by_api(change: FormChange, body: type[msgspec.Struct] | None = None) -> Handler:
    """Makes the change of a form with the fields of a JSON body."""

    def handle(services: Services, call: Call) -> Response:
        fields = {} if body is None else msgspec.structs.asdict(call.json(body))
        change(services, call, fields)
        return done()

    return handle


def form_page(
    services: Services, template: str, *headers: Header, sent: SentForm = NOT_SENT, **values: Any
) -> Response:
    """If the form was rejected, the page shows why, and has the error's status and headers."""
    if sent.error is not None:
        values.setdefault("status", status_of(sent.error))
        headers = (*headers, *headers_of(sent.error))
    return services.renderer.page(template, *headers, sent=sent, **values)


def own_page(
    services: Services, call: Call, template: str, *headers: Header, **values: Any
) -> Response:
    """With `sent`: see `form_page`."""
    actor = call.actor
    who: dict[str, Any] = {
        "username": actor.name,
        "is_operator": actor.is_operator,
        "csrf_token": call.csrf_token,
    }
    return form_page(services, template, *headers, **who, **values)


def own_form_page(
    services: Services,
    call: Call,
    template: str,
    sent: SentForm,
    sentences: Mapping[str, str],
    **values: Any,
) -> Response:
    """With the errors of a form that was sent, or the sentence about one that is done."""
    values["done"] = sentences.get(call.query().get("done", ""))
    return own_page(services, call, template, sent=sent, **values)


def tag_of(shown: object) -> str:
    """Of what a form shows and replaces, for its hidden field `seen`."""
    return hashlib.sha256(repr(shown).encode()).hexdigest()[:16]


def seen_in(call: Call, sent: SentForm, tag: str) -> str:
    """The field `seen` of a form that is shown, perhaps again: what the person has seen stays that,
    in previews and next to other errors, until they are told that it has changed.
    """
    return tag if isinstance(sent.error, Conflict) else call.form().get("seen") or tag


def require_unchanged(fields: Mapping[str, str], tag: str, what: str) -> None:
    """So that nobody undoes a change that they have not seen. Raises Conflict."""
    if fields.get("seen", tag) != tag:
        raise Conflict(
            f"Somebody else has changed {what} meanwhile: compare with it in another tab. Save "
            "again to replace that by what is entered here."
        )


def done_page(services: Services, call: Call, title: str, sentence: str) -> Response:
    return own_page(services, call, "author/done.html", title=title, sentence=sentence)


def code_page(
    services: Services, call: Call, heading: str, lead: str, code: str, error: Any = None
) -> Response:
    """Asks for the code that a program or a device shows."""
    sent = SentForm("", {"user_code": code[:40]}, error, {"": "user_code"})
    texts = {"heading": heading, "lead": lead, "action": call.request.path}
    return own_page(services, call, "author/code.html", sent=sent, **texts)
