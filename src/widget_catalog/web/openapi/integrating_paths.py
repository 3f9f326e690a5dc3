"""Operations for those who run widgets: what must not run any more."""

from .answers import Answer, example_revocations, json_answer, shared
from .operations import operation

_OPEN = ("ETag", "Vary", "Access-Control-Allow-Origin")


def integrating_paths(base_url: str) -> dict[str, object]:
    return {
        "/api/v1/widgets/revocations": {"get": _revocations(base_url)},
    }


def _revocations(base_url: str) -> Answer:
    return operation(
        "listRevocations",
        "List revoked bundles",
        "Bundles that must not run: the operator has revoked them. Unload what you have of them, "
        "and do not load them again, not even from a cache of your own. A revoked version counts "
        "as yanked everywhere, and its bundle is answered with `410`.\n\n"
        "Ask at every start of your dashboard; `ETag` makes that cheap. A revocation can be taken "
        "back: what is not in the list may run.",
        f"curl '{base_url}/api/v1/widgets/revocations'",
        {
            "200": json_answer("All of them.", "Revocations", example_revocations(), *_OPEN),
            "304": shared("NotModified"),
        },
    )
