"""Accounts, roles, and the table of permissions."""

import re
from collections.abc import Set
from datetime import datetime
from enum import StrEnum
from typing import ClassVar, NamedTuple

import msgspec

from widget_contract.names import Scope, is_name
from widget_contract.texts import name_error

from .errors import FieldMessage, InvalidAccount, NotAllowed

MIN_PASSWORD = 12
MAX_PASSWORD = 1_000
_MAX_EMAIL = 254
_EMAIL = re.compile(r"[^@\s]+@[^@\s.]+(?:\.[^@\s.]+)*\Z")

# Names that could be mistaken for the service, its operators, or its URLs.
RESERVED = frozenset(
    "abuse account accounts admin administrator admins api app assets audit auth billing catalog "
    "catalog-admin cdn contact device docs favicon health help helpdesk hostmaster info internal "
    "invitation invitations join legal login logout mail maintainer maintainers metrics moderator "
    "moderators no-reply noreply null official operator operators organization organizations "
    "owner postmaster privacy publish register registry robots root safety scopes search security "
    "service settings setup sign-in sign-out signin signout staff static stats status support "
    "sysadmin system team tokens trust undefined uploads user users verified version versions "
    "webmaster well-known widget widget-catalog widgets www".split()
)


class Role(StrEnum):
    """The role of an account in a scope. A person owns their personal scope."""

    OWNER = "owner"
    ADMIN = "admin"
    MEMBER = "member"


class Right(StrEnum):
    """A permission in a scope."""

    PUBLISH = "publish"
    YANK = "yank"
    DEPRECATE = "deprecate"
    LIST = "list"
    VIEW = "view"
    NAME_PUBLISHERS = "name publishers"
    READ_AUDIT = "read the audit log"
    MANAGE_MEMBERS = "manage members"
    OWN = "own"
    MAKE_OFFICIAL = "make official"
    REVOKE = "revoke"


class Rule(NamedTuple):
    """Who has a permission: these roles, operators or not, publishers of the widget or not.

    Those of all rooms are in `RULES`. A room that can be removed declares its own, and passes it
    instead of a right.
    """

    roles: frozenset[Role]
    operator: bool = True
    publishers: bool = False
    refusal: str = "Only owners and admins of {scope} can do this."


OWNER = frozenset({Role.OWNER})
_ADMINS = frozenset({Role.OWNER, Role.ADMIN})
_EVERYBODY = frozenset(Role)

RULES: dict[Right, Rule] = {
    Right.PUBLISH: Rule(
        _ADMINS,
        operator=False,
        publishers=True,
        refusal="You may not publish to the scope {scope}.",
    ),
    Right.YANK: Rule(_ADMINS),
    Right.DEPRECATE: Rule(_ADMINS),
    Right.LIST: Rule(_ADMINS),
    Right.VIEW: Rule(_EVERYBODY, refusal="The scope {scope} is not yours."),
    Right.NAME_PUBLISHERS: Rule(_ADMINS, operator=False),
    Right.READ_AUDIT: Rule(OWNER, refusal="The audit log of {scope} is for its owners."),
    Right.MANAGE_MEMBERS: Rule(
        _ADMINS,
        operator=False,
        refusal="Only owners and admins of {scope} can manage its members.",
    ),
    Right.OWN: Rule(OWNER, operator=False, refusal="Only an owner of {scope} can do this."),
    Right.MAKE_OFFICIAL: Rule(
        frozenset(), refusal="Only the operator can mark widgets as official."
    ),
    Right.REVOKE: Rule(frozenset(), refusal="Only the operator can revoke versions."),
}

# The rights that can be granted to an access token; each of them includes reading.
TOKEN_RIGHTS = (Right.PUBLISH, Right.YANK, Right.DEPRECATE, Right.LIST)


class Account(msgspec.Struct, frozen=True, kw_only=True):
    id: int
    username: Scope
    email: str
    is_operator: bool
    is_disabled: bool
    created_at: datetime
    has_password: bool = True
    is_closed: bool = False


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """The restrictions of an access token. Without scopes and widgets: everywhere."""

    rights: tuple[Right, ...]
    scopes: tuple[str, ...] = ()
    widgets: tuple[str, ...] = ()

    def admit(self, right: Right | Rule, scope: str, name: str | None) -> bool:
        if right not in self.rights and right is not Right.VIEW:
            return False
        if not self.scopes and not self.widgets:
            return True
        return scope in self.scopes or (name is not None and f"{scope}/{name}" in self.widgets)

    def __str__(self) -> str:
        """What the token may do: `publish, yank in acme, ann/clock`."""
        where = ", ".join((*self.scopes, *self.widgets)) or "all scopes of its account"
        return f"{', '.join(self.rights)} in {where}"


class Via(StrEnum):
    """How an actor was authenticated."""

    SESSION = "session"
    OAUTH = "oauth"
    TOKEN = "token"  # noqa: S105
    COMMAND = "command"
    SERVICE = "service"


class Actor(msgspec.Struct, frozen=True, kw_only=True):
    """Who performs an action: an account, the operator at the command line, or the service."""

    via: Via
    account: Account | None = None
    limits: Limits | None = None
    client_id: str | None = None
    """The OAuth client or the access token that acts for the account."""
    client_name: str | None = None
    address: str | None = None
    """The network address it acts from."""

    @property
    def name(self) -> str:
        if self.account is not None:
            return str(self.account.username)
        return "service" if self.via is Via.SERVICE else "operator"

    @property
    def is_operator(self) -> bool:
        return self.account is None or self.account.is_operator

    @property
    def account_id(self) -> int:
        """The account's number; the command line has none."""
        if self.account is None:
            raise NotAllowed("This needs an account.")
        return self.account.id


class Session(NamedTuple):
    """A browser in which a person has signed in."""

    id: str
    secret_hash: str
    account_id: int
    created_at: int
    last_seen_at: int
    expires_at: int
    confirmed_at: int
    is_two_factor: bool
    browser: str | None = None
    address: str | None = None


class Visitor(NamedTuple):
    """The authenticated account, and the session or OAuth sign-in it used."""

    actor: Actor
    session: Session | None = None
    grant_id: str | None = None
    oauth_scopes: tuple[str, ...] | None = None
    """What the program may read about the person; None for everybody else."""


class Anonymous(msgspec.Struct, frozen=True):
    """An unauthenticated actor, in the audit log. No account can have this name."""

    name: ClassVar[str] = "-"
    via: ClassVar[Via] = Via.SESSION
    client_id: ClassVar[None] = None
    client_name: ClassVar[None] = None

    address: str


COMMAND_LINE = Actor(via=Via.COMMAND)
# The actor of automatic changes. No account can have its name.
SERVICE = Actor(via=Via.SERVICE)


class Standing(NamedTuple):
    """The role of an actor in a scope, and whether it is a publisher of the widget."""

    role: Role | None = None
    is_publisher: bool = False


def rule_of(right: Right | Rule) -> Rule:
    return right if isinstance(right, Rule) else RULES[right]


def is_allowed(
    actor: Actor, right: Right | Rule, standing: Standing, scope: str, name: str | None = None
) -> bool:
    """Whether an actor of this standing has a permission in a scope, or for one widget of it."""
    if actor.limits is not None and not actor.limits.admit(right, scope, name):
        return False
    rule = rule_of(right)
    return (
        standing.role in rule.roles
        or (rule.publishers and standing.is_publisher and standing.role is not None)
        or (rule.operator and actor.is_operator)
    )


def reserved_names(changes: str) -> frozenset[str]:
    """The reserved names: the defaults and these; `-name` removes one."""
    reserved = set(RESERVED)
    for text in changes.split():
        name = text.removeprefix("-")
        if not is_name(name):
            raise ValueError(f"{text[:80]!r} cannot be a name.")
        if text.startswith("-"):
            reserved.discard(name)
        else:
            reserved.add(name)
    return frozenset(reserved)


def parse_username(text: str, reserved: Set[str] = RESERVED) -> Scope:
    """A scope that a person or an organization may take."""
    if not is_name(text):
        rule = (
            "use 1 to 64 lowercase letters, digits and hyphens, beginning with a letter or digit."
        )
        error = f"{text[:80]!r} cannot be a name here: {rule}"
        raise InvalidAccount([FieldMessage("username", error)])
    if text in reserved:
        error = f"The name {text} is reserved. Choose another."
        raise InvalidAccount([FieldMessage("username", error)])
    return Scope(text)


def email_error(email: str) -> FieldMessage | None:
    if name_error(email, _MAX_EMAIL) or not _EMAIL.match(email):
        return FieldMessage("email", f"{email[:80]!r} is not an e-mail address.")
    return None


def password_error(password: str) -> FieldMessage | None:
    """Only the length is checked."""
    if len(password) < MIN_PASSWORD:
        sentence = f"The password is too short: at least {MIN_PASSWORD} characters are needed."
    elif len(password) > MAX_PASSWORD:
        sentence = f"The password is too long: at most {MAX_PASSWORD:,} characters are taken."
    else:
        return None
    return FieldMessage("password", sentence)
