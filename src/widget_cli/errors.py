"""The tool's exception class, and its exit codes, which `docs/managing-widgets.md` lists, too."""

import re
from enum import IntEnum

# A sentence in the imperative, such as "Choose another." or "Try again in 60 s."
_ADVICE = re.compile(
    r"(?:^|[.!?:] )(?:Add|Ask|Change|Choose|Confirm|Correct|Give|Increase|Make|Name|Publish|Raise"
    r"|Remove|Set|Sign|Try|Use|Wait|Write)\b|; try again\b"
)


class ExitCode(IntEnum):
    """An exit code with its `meaning`."""

    meaning: str

    def __new__(cls, code: int, meaning: str) -> "ExitCode":
        member = int.__new__(cls, code)
        member._value_ = code
        member.meaning = meaning
        return member

    DONE = 0, "done"
    FAILED = 1, "refused or failed"
    USAGE = 2, "usage error"
    NOT_SIGNED_IN = 3, "not signed in"
    NOT_ALLOWED = 4, "not allowed"
    INVALID_WIDGET = 5, "invalid widget"
    CONFLICT = 6, "already exists"
    UNREACHABLE = 7, "catalog unreachable"
    TOO_OLD = 8, "tool too old"
    NOT_FOUND = 9, "not found"
    LIMITED = 10, "limit reached"
    INTERRUPTED = 130, "stopped by Ctrl-C"


class Lines(str):
    """A message with several lines. In all others, a line break is part of a quoted name, and is
    shown as `\\n`.
    """

    __slots__ = ("parts",)
    parts: tuple[str, ...]

    def __new__(cls, *parts: str) -> "Lines":
        message = super().__new__(cls, "\n".join(parts))
        message.parts = parts
        return message


def prefixed(prefix: str, message: str) -> str:
    """The message after a prefix; `Lines` remain lines."""
    first, *more = message.parts if isinstance(message, Lines) else (message,)
    return Lines(prefix + first, *more)


class ToolError(Exception):
    """Shown to users with control characters escaped. `hint` says what to do next; `details` are
    further messages. Hint and details may be `Lines`.

    `status` is that of the catalog's response, if any; `explanations` are paragraphs.
    """

    def __init__(
        self,
        sentence: str,
        hint: str,
        exit_code: ExitCode = ExitCode.FAILED,
        details: list[str] | None = None,
        status: int | None = None,
    ) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.hint = hint
        self.exit_code = exit_code
        self.details = details or []
        self.status = status
        self.explanations: list[str] = []

    def suggest(self, hint: str) -> None:
        """Set the hint, unless the message already says what to do."""
        self.hint = "" if _ADVICE.search(self.sentence) and _ADVICE.search(hint) else hint


def wrong_usage(sentence: str, hint: str) -> ToolError:
    return ToolError(sentence, hint, ExitCode.USAGE)


def sign_in_needed(sentence: str, hint: str) -> ToolError:
    return ToolError(sentence, hint, ExitCode.NOT_SIGNED_IN)


def not_allowed(sentence: str, hint: str) -> ToolError:
    return ToolError(sentence, hint, ExitCode.NOT_ALLOWED)


def conflict(sentence: str, hint: str) -> ToolError:
    return ToolError(sentence, hint, ExitCode.CONFLICT)


def unreachable(sentence: str, hint: str) -> ToolError:
    return ToolError(sentence, hint, ExitCode.UNREACHABLE)


def invalid_widget(sentence: str, hint: str, errors: list[str] | None = None) -> ToolError:
    return ToolError(sentence, hint, ExitCode.INVALID_WIDGET, errors)


def not_signed_in(url: str) -> ToolError:
    return sign_in_needed(
        f"You are not signed in to {url}.", f"Sign in: widget login {url} (or set WIDGET_TOKEN)."
    )


def sign_in_ended(url: str) -> ToolError:
    return sign_in_needed(
        f"Your session at {url} has expired.", f"Sign in again: widget login {url}"
    )


def token_refused(url: str) -> ToolError:
    return sign_in_needed(
        f"{url} rejected the token in WIDGET_TOKEN: it is invalid, expired or revoked.",
        "Create a new one with: widget tokens create NAME",
    )


def not_private(url: str, what: str, way_out: str) -> ToolError:
    return sign_in_needed(
        f"{url} does not use https: others on the network could read {what}.",
        f"Use the catalog's https URL. If you trust this network, {way_out}.",
    )
