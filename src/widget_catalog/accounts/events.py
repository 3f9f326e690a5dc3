"""Events of accounts, organizations and the names they share."""

from ..catalog.events import Event


class AccountCreated(Event, frozen=True):
    kind = "account_created"
    action = "create account"

    is_operator: bool


class AccountClosed(Event, frozen=True):
    kind = "account_closed"
    action = "close account"


class AccountDisabled(Event, frozen=True):
    kind = "account_disabled"
    action = "disable account"


class AccountEnabled(Event, frozen=True):
    kind = "account_enabled"
    action = "enable account"


class OperatorAppointed(Event, frozen=True):
    kind = "operator_appointed"
    action = "make operator"


class OperatorDismissed(Event, frozen=True):
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


class OrganizationCreated(Event, frozen=True):
    kind = "organization_created"
    action = "create organization"


class OrganizationTransferred(Event, frozen=True):
    kind = "organization_transferred"
    action = "transfer organization"

    member: str


class MembersShown(Event, frozen=True):
    """The list of members became public."""

    kind = "members_shown"
    action = "make members public"


class MembersHidden(Event, frozen=True):
    kind = "members_hidden"
    action = "make members private"


class RoleChanged(Event, frozen=True):
    kind = "role_changed"
    action = "change role"

    member: str
    role: str


class MemberRemoved(Event, frozen=True):
    kind = "member_removed"
    action = "remove member"

    member: str
    publisher_of: list[str] | None = None


class MemberLeft(Event, frozen=True):
    kind = "member_left"
    action = "leave organization"

    member: str
    publisher_of: list[str] | None = None


class MemberInvited(Event, frozen=True):
    kind = "member_invited"
    action = "invite"

    who: str
    role: str


class InvitationWithdrawn(Event, frozen=True):
    kind = "invitation_withdrawn"
    action = "withdraw invitation"

    who: str | None


class InvitationAccepted(Event, frozen=True):
    kind = "invitation_accepted"
    action = "accept invitation"

    role: str


class InvitationDeclined(Event, frozen=True):
    kind = "invitation_declined"
    action = "decline invitation"

    role: str


class ScopeReserved(Event, frozen=True):
    kind = "scope_reserved"
    action = "reserve scope"


class ScopeAssigned(Event, frozen=True):
    """A scope with widgets but no owner became an organization of this member."""

    kind = "scope_assigned"
    action = "assign scope"

    member: str
    widgets: int
    installs: int


class ScopeReleased(Event, frozen=True):
    """Ends the history of a scope; the next owner of its name is unrelated."""

    kind = "scope_released"
    action = "release scope"

    was: str
    members: list[str] | None = None


class SecretsRotated(Event, frozen=True):
    kind = "secrets_rotated"
    action = "rotate secrets"


class WebhookAdded(Event, frozen=True):
    """Without a scope, it is for the whole catalog; the same applies to the events below."""

    kind = "webhook_added"
    action = "add webhook"

    webhook: str
    url: str


class WebhookRemoved(Event, frozen=True):
    kind = "webhook_removed"
    action = "remove webhook"

    webhook: str
    url: str


class WebhookSecretRotated(Event, frozen=True):
    kind = "webhook_secret_rotated"
    action = "rotate webhook secret"

    webhook: str


class WebhookEnabled(Event, frozen=True):
    kind = "webhook_enabled"
    action = "enable webhook"

    webhook: str


class WebhookDisabled(Event, frozen=True):
    """By a person; by the service, after a long series of failures; or because the person who
    added it may no longer do so.
    """

    kind = "webhook_disabled"
    action = "disable webhook"

    webhook: str
    reason: str


class WebhookPinged(Event, frozen=True):
    kind = "webhook_pinged"
    action = "ping webhook"

    webhook: str


class WebhookDeliveryReplayed(Event, frozen=True):
    kind = "webhook_delivery_replayed"
    action = "replay webhook delivery"

    webhook: str
    delivery: str


class Reported(Event, frozen=True):
    """Visible to operators only, so it is in no scope, whose log owners can read."""

    kind = "reported"
    action = "report widget"

    report: str
    widget: str


class ReportDecided(Event, frozen=True):
    kind = "report_decided"
    action = "decide about a report"

    report: str
    widget: str
    state: str
    note: str | None = None
