"""An operation of the OpenAPI document: description, parameters and responses."""

from .answers import Answer, shared

INTEGRATORS = "Integrators"
OPERATIONS = "Operations"


def parameter(name: str) -> Answer:
    return {"$ref": f"#/components/parameters/{name}"}


def operation(
    operation_id: str,
    summary: str,
    about: str,
    curl: str,
    answers: dict[str, Answer],
    given: list[Answer] | None = None,
    tag: str = INTEGRATORS,
    body: Answer | None = None,
) -> Answer:
    """An operation with its own responses, and those that every path may return."""
    everywhere = {
        "405": shared("MethodNotAllowed"),
        "414": shared("AddressTooLong"),
        "429": shared("TooManyRequests"),
        "500": shared("InternalFault"),
        "503": shared("Unreadable"),
    }
    return {
        "tags": [tag],
        "operationId": operation_id,
        "summary": summary,
        "description": about,
        **({"parameters": given} if given else {}),
        **({"requestBody": body} if body else {}),
        "responses": dict(sorted({**everywhere, **answers}.items())),
        "x-codeSamples": [{"lang": "Shell", "label": "curl", "source": curl}],
    }
