"""Every route of webhooks. The actions check the owner: webhooks of others do not exist for the
actor.
"""

from ..core.http.routing import Route, StepUp, Who, page
from . import api, pages

_WEBHOOKS = "/api/webhooks"
_WEBHOOK = _WEBHOOKS + "/{id}"
_PAGE = pages.WEBHOOKS + "/{id}"

API = (
    Route("GET", _WEBHOOKS, api.get_webhooks, Who.PERSON),
    Route("POST", _WEBHOOKS, api.post_webhook, Who.PERSON, step_up=StepUp.FACTOR),
    Route("GET", _WEBHOOK, api.get_webhook, Who.PERSON),
    Route("DELETE", _WEBHOOK, api.delete_webhook, Who.PERSON),
    Route("POST", _WEBHOOK + "/rotate", api.post_rotate, Who.PERSON, step_up=StepUp.FACTOR),
    Route("GET", _WEBHOOK + "/deliveries", api.get_deliveries, Who.PERSON),
    *(
        Route("POST", f"{_WEBHOOK}/{name}", api.handler_of(action), Who.PERSON)
        for name, action in api.ACTIONS.items()
    ),
)

PAGES = (
    page("GET", pages.WEBHOOKS, pages.get_webhooks, Who.PERSON),
    page("POST", pages.WEBHOOKS, pages.post_webhook, Who.PERSON, step_up=StepUp.FACTOR),
    page("GET", _PAGE, pages.get_webhook, Who.PERSON),
    page("POST", _PAGE + "/rotate", pages.post_rotate, Who.PERSON, step_up=StepUp.FACTOR),
    page("POST", _PAGE + "/remove", pages.post_remove, Who.PERSON),
    *(
        page("POST", f"{_PAGE}/{name}", pages.handler_of(name, action), Who.PERSON)
        for name, action in api.ACTIONS.items()
    ),
    page("GET", pages.OPERATED, pages.get_all_webhooks, Who.OPERATOR),
    page("POST", pages.OPERATED, pages.post_catalog_webhook, Who.OPERATOR, step_up=StepUp.FACTOR),
)

ROUTES = (*API, *PAGES)
