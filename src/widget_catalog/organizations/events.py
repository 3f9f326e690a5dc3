"""Events of organizations and their members."""

from ..catalog.events import Event, ScopeEvent


class OwnerDemoted(ScopeEvent, frozen=True):
    """An owner has another role now. Only for hooks: the log has the change of roles."""

    kind, action = "owner_demoted", None
    member: str


class OrganizationCreated(Event, frozen=True):
    kind, action = "organization_created", "create organization"


class OrganizationTransferred(Event, frozen=True):
    kind, action = "organization_transferred", "transfer organization"
    member: str


class MembersShown(Event, frozen=True):
    """The list of members became public."""

    kind, action = "members_shown", "make members public"


class MembersHidden(Event, frozen=True):
    kind, action = "members_hidden", "make members private"


class RoleChanged(Event, frozen=True):
    kind, action = "role_changed", "change role"
    member: str
    role: str


class MemberRemoved(ScopeEvent, frozen=True):
    kind, action = "member_removed", "remove member"
    member: str
    publisher_of: list[str] | None = None


class MemberLeft(ScopeEvent, frozen=True):
    kind, action = "member_left", "leave organization"
    member: str
    publisher_of: list[str] | None = None


class MemberInvited(Event, frozen=True):
    kind, action = "member_invited", "invite"
    who: str
    role: str


class InvitationAccepted(Event, frozen=True):
    kind, action = "invitation_accepted", "accept invitation"
    role: str


class InvitationDeclined(Event, frozen=True):
    kind, action = "invitation_declined", "decline invitation"
    role: str
