"""Events of accounts."""

from ..catalog.events import Event, ScopeEvent


class AccountCreated(Event, frozen=True):
    kind = "account_created"
    action = "create account"

    is_operator: bool


class AccountClosed(ScopeEvent, frozen=True):
    kind = "account_closed"
    action = "close account"


class AccountDisabled(ScopeEvent, frozen=True):
    kind = "account_disabled"
    action = "disable account"


class AccountEnabled(Event, frozen=True):
    kind = "account_enabled"
    action = "enable account"


class OperatorAppointed(Event, frozen=True):
    kind = "operator_appointed"
    action = "make operator"


class OperatorDismissed(ScopeEvent, frozen=True):
    kind = "operator_dismissed"
    action = "remove operator"


class InvitedToCatalog(Event, frozen=True):
    kind = "invited_to_catalog"
    action = "invite to the catalog"

    role: str
    email: str | None


class SignInFailed(Event, frozen=True):
    kind = "sign_in_failed"
    action = "failed sign-in"

    attempts: int


class SignedIn(Event, frozen=True):
    kind = "signed_in"
    action = "sign in"

    way: str
    session: str
    replaces: str | None = None


class SignedOut(Event, frozen=True):
    kind = "signed_out"
    action = "sign out"

    session: str


class SessionEnded(Event, frozen=True):
    kind = "session_ended"
    action = "end session"

    session: str


class SignedOutElsewhere(Event, frozen=True):
    kind = "signed_out_elsewhere"
    action = "sign out everywhere else"


class PasswordChanged(Event, frozen=True):
    kind = "password_changed"
    action = "change password"

    keeps_tokens: bool


class PasswordReset(Event, frozen=True):
    kind = "password_reset"
    action = "reset password"


class ResetLinkMade(Event, frozen=True):
    kind = "reset_link_made"
    action = "make reset link"


class IdentityConnected(Event, frozen=True):
    kind = "identity_connected"
    action = "connect identity"

    issuer: str


class PasskeyAdded(Event, frozen=True):
    kind = "passkey_added"
    action = "add passkey"

    passkey: str


class PasskeyRenamed(Event, frozen=True):
    kind = "passkey_renamed"
    action = "rename passkey"

    passkey: str


class PasskeyRemoved(Event, frozen=True):
    kind = "passkey_removed"
    action = "remove passkey"

    passkey: str


class AppAdded(Event, frozen=True):
    kind = "app_added"
    action = "add authenticator app"


class AppRemoved(Event, frozen=True):
    kind = "app_removed"
    action = "remove authenticator app"


class RecoveryCodesMade(Event, frozen=True):
    kind = "recovery_codes_made"
    action = "make recovery codes"


class RecoveryCodeUsed(Event, frozen=True):
    kind = "recovery_code_used"
    action = "use recovery code"

    left: int


class SecondFactorReset(Event, frozen=True):
    kind = "second_factor_reset"
    action = "reset second factor"


class TokenCreated(Event, frozen=True):
    kind = "token_created"
    action = "create token"

    token: str
    id: str


class TokenRevoked(Event, frozen=True):
    kind = "token_revoked"
    action = "revoke token"

    id: str


class TokenRequested(Event, frozen=True):
    kind = "token_requested"
    action = "request token"

    token: str


class TokenConfirmed(Event, frozen=True):
    kind = "token_confirmed"
    action = "confirm token"

    token: str


class TokenRefused(Event, frozen=True):
    kind = "token_refused"
    action = "refuse token"

    token: str


class AccessGranted(Event, frozen=True):
    kind = "access_granted"
    action = "grant access"

    grant: str
    way: str


class AccessEnded(Event, frozen=True):
    kind = "access_ended"
    action = "end access"

    grant: str
    reason: str | None = None
    program: str | None = None


class InvitationWithdrawn(Event, frozen=True):
    kind = "invitation_withdrawn"
    action = "withdraw invitation"

    who: str | None


class SecretsRotated(Event, frozen=True):
    kind = "secrets_rotated"
    action = "rotate secrets"
