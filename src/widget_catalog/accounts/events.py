"""Events of accounts."""

from ..catalog.model.events import Event, ScopeEvent


class AccountCreated(Event, frozen=True):
    kind, action = "account_created", "create account"
    is_operator: bool


class AccountClosed(ScopeEvent, frozen=True):
    kind, action = "account_closed", "close account"


class AccountDisabled(ScopeEvent, frozen=True):
    kind, action = "account_disabled", "disable account"


class AccountEnabled(Event, frozen=True):
    kind, action = "account_enabled", "enable account"


class OperatorAppointed(Event, frozen=True):
    kind, action = "operator_appointed", "make operator"


class OperatorDismissed(ScopeEvent, frozen=True):
    kind, action = "operator_dismissed", "remove operator"


class InvitedToCatalog(Event, frozen=True):
    kind, action = "invited_to_catalog", "invite to the catalog"
    role: str
    email: str | None


class SignInFailed(Event, frozen=True):
    kind, action = "sign_in_failed", "failed sign-in"
    attempts: int


class SignedIn(Event, frozen=True):
    kind, action = "signed_in", "sign in"
    way: str
    session: str
    replaces: str | None = None


class SignedOut(Event, frozen=True):
    kind, action = "signed_out", "sign out"
    session: str


class SessionEnded(Event, frozen=True):
    kind, action = "session_ended", "end session"
    session: str


class SignedOutElsewhere(Event, frozen=True):
    kind, action = "signed_out_elsewhere", "sign out everywhere else"


class PasswordChanged(Event, frozen=True):
    kind, action = "password_changed", "change password"
    keeps_tokens: bool


class PasswordReset(Event, frozen=True):
    kind, action = "password_reset", "reset password"


class ResetLinkMade(Event, frozen=True):
    kind, action = "reset_link_made", "make reset link"


class IdentityConnected(Event, frozen=True):
    kind, action = "identity_connected", "connect identity"
    issuer: str


class PasskeyAdded(Event, frozen=True):
    kind, action = "passkey_added", "add passkey"
    passkey: str


class PasskeyRenamed(Event, frozen=True):
    kind, action = "passkey_renamed", "rename passkey"
    passkey: str


class PasskeyRemoved(Event, frozen=True):
    kind, action = "passkey_removed", "remove passkey"
    passkey: str


class AppAdded(Event, frozen=True):
    kind, action = "app_added", "add authenticator app"


class AppRemoved(Event, frozen=True):
    kind, action = "app_removed", "remove authenticator app"


class RecoveryCodesMade(Event, frozen=True):
    kind, action = "recovery_codes_made", "make recovery codes"


class RecoveryCodeUsed(Event, frozen=True):
    kind, action = "recovery_code_used", "use recovery code"
    left: int


class SecondFactorReset(Event, frozen=True):
    kind, action = "second_factor_reset", "reset second factor"


class TokenCreated(Event, frozen=True):
    kind, action = "token_created", "create token"
    token: str
    id: str


class TokenRevoked(Event, frozen=True):
    kind, action = "token_revoked", "revoke token"
    id: str


class TokenRequested(Event, frozen=True):
    kind, action = "token_requested", "request token"
    token: str


class TokenConfirmed(Event, frozen=True):
    kind, action = "token_confirmed", "confirm token"
    token: str


class TokenRefused(Event, frozen=True):
    kind, action = "token_refused", "refuse token"
    token: str


class AccessGranted(Event, frozen=True):
    kind, action = "access_granted", "grant access"
    grant: str
    way: str


class AccessEnded(Event, frozen=True):
    kind, action = "access_ended", "end access"
    grant: str
    reason: str | None = None
    program: str | None = None


class InvitationWithdrawn(Event, frozen=True):
    kind, action = "invitation_withdrawn", "withdraw invitation"
    who: str | None


class SecretsRotated(Event, frozen=True):
    kind, action = "secrets_rotated", "rotate secrets"
