"""Events of organizations and their members."""

from ..catalog.events import Event, ScopeEvent


class OwnerDemoted(ScopeEvent, frozen=True):
    """An owner has another role now. Only for hooks: the log has the change of roles."""

    kind = "owner_demoted"
    action = None

    member: str


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


class MemberRemoved(ScopeEvent, frozen=True):
    kind = "member_removed"
    action = "remove member"

    member: str
    publisher_of: list[str] | None = None


class MemberLeft(ScopeEvent, frozen=True):
    kind = "member_left"
    action = "leave organization"

    member: str
    publisher_of: list[str] | None = None


class MemberInvited(Event, frozen=True):
    kind = "member_invited"
    action = "invite"

    who: str
    role: str


class InvitationAccepted(Event, frozen=True):
    kind = "invitation_accepted"
    action = "accept invitation"

    role: str


class InvitationDeclined(Event, frozen=True):
    kind = "invitation_declined"
    action = "decline invitation"

    role: str
