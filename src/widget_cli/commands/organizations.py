"""`widget org`: organizations, their members and invitations."""

from enum import StrEnum
from typing import Annotated, Any

import typer

from ..addresses import path_part
from ..catalog import get_account
from ..console import out, plain, require_agreement, say, show_done, show_table, shows_json, warn
from ..errors import wrong_usage
from ..options import App, YesOption, in_session
from ..responses import not_a_catalog
from ..session import Session

app = App(help="Manage organizations, whose members share a scope.")


class Role(StrEnum):
    OWNER = "owner"
    ADMIN = "admin"
    MEMBER = "member"


class Visibility(StrEnum):
    PUBLIC = "public"
    PRIVATE = "private"


_ROLES = "|".join(Role)
SlugArgument = Annotated[
    str, typer.Argument(metavar="ORGANIZATION", help="The organization's slug, which is its scope.")
]
UserArgument = Annotated[str, typer.Argument(metavar="USERNAME", help="A username.")]
InvitationArgument = Annotated[
    str, typer.Argument(metavar="ID", help="The id shown by: widget org invitations")
]


@app.command()
@in_session
def create(
    session: Session,
    slug: SlugArgument,
    display_name: Annotated[
        str | None,
        typer.Option("--display-name", metavar="NAME", help="Its name.", show_default="the slug"),
    ] = None,
) -> None:
    """Create an organization. You become its owner."""
    body = {"slug": slug, "displayName": display_name or slug}
    made = session.post("/api/organizations", body)
    if shows_json(made):
        return
    say.print(
        f"[green]Created[/] organization {plain(slug)}. Publish there with: --scope {plain(slug)}"
    )


@app.command("list")
@in_session
def list_(session: Session) -> None:
    """List the organizations you are a member of."""
    found = session.get("/api/organizations")
    rows = _rows(found, "organizations", session, "slug", "role", "displayName")
    if shows_json(found):
        return
    show_table(("organization", "you are", "name"), rows)
    if not rows:
        say.print("You are not a member of any organization.")


@app.command()
@in_session
def show(session: Session, slug: SlugArgument) -> None:
    """Show an organization and its members."""
    found = session.get(_path(slug))
    rows = _rows(found, "members", session, "username", "role", "since")
    if shows_json(found):
        return
    out.print(f"[bold]{plain(slug)}[/]  {plain(found.get('displayName') or '')}")
    show_table(("member", "role", "since"), [(*row[:2], row[2][:10]) for row in rows])


@app.command()
@in_session
def invite(
    session: Session,
    slug: SlugArgument,
    whom: Annotated[
        str | None, typer.Argument(metavar="WHOM", help="A username or an e-mail address.")
    ] = None,
    email: Annotated[
        str | None,
        typer.Option(metavar="ADDRESS", help="The e-mail address of a person without an account."),
    ] = None,
    role: Annotated[
        Role,
        typer.Option(
            metavar=_ROLES,
            help="An admin publishes and manages members; a member only views; an owner can do "
            "everything.",
        ),
    ] = Role.ADMIN,
) -> None:
    """Invite a person by username or e-mail address."""
    invited = email if whom is None else whom.removeprefix("@")
    if not invited or (whom and email):
        hint = "Pass the organization, then one person: widget org invite acme bob"
        raise wrong_usage("Whom?", hint)
    # Usernames contain no @.
    kind = "email" if email or "@" in invited else "username"
    made = session.post(f"{_path(slug)}/invitations", {kind: invited, "role": role.value})
    if shows_json(made):
        return
    say.print(f"Invited {plain(invited)} to {plain(slug)} as {role.value}.")
    if link := made.get("link"):
        say.print(
            "The catalog sends no e-mail. Send them this link yourself; it is shown only once:"
        )
        out.print(plain(link))
    if note := made.get("note"):
        warn(str(note))


@app.command()
@in_session
def uninvite(session: Session, slug: SlugArgument, invitation_id: InvitationArgument) -> None:
    """Revoke an open invitation."""
    session.delete(f"{_path(slug)}/invitations/{path_part(invitation_id)}")
    show_done("The invitation is revoked.", id=invitation_id)


@app.command()
@in_session
def invitations(
    session: Session,
    slug: Annotated[
        str | None,
        typer.Argument(
            metavar="ORGANIZATION",
            help="Invitations sent by this organization, instead of those to you.",
        ),
    ] = None,
) -> None:
    """List open invitations: to you, or from an organization."""
    path = f"{_path(slug)}/invitations" if slug else "/api/invitations"
    found = session.get(path)
    columns = ("id", "organization", "username", "email", "role", "invitedBy", "expiresAt")
    listed = _rows(found, "invitations", session, *columns)
    if shows_json(found):
        return
    rows = [
        (number, organization, user or email, role, by, ends[:10])
        for number, organization, user, email, role, by, ends in listed
    ]
    show_table(("id", "organization", "to", "role", "by", "until"), rows)
    if not rows:
        say.print("There are no open invitations.")


@app.command()
@in_session
def accept(
    session: Session,
    invitation_id: InvitationArgument,
    secret: Annotated[
        str | None,
        typer.Option(metavar="SECRET", help="The token in the link of an e-mail invitation."),
    ] = None,
) -> None:
    """Accept an invitation."""
    body = {"secret": secret} if secret else {}
    session.post(f"/api/invitations/{path_part(invitation_id)}/accept", body)
    show_done("Accepted. See: widget org list", id=invitation_id)


@app.command()
@in_session
def decline(session: Session, invitation_id: InvitationArgument) -> None:
    """Decline an invitation."""
    session.post(f"/api/invitations/{path_part(invitation_id)}/decline")
    show_done("Declined.", id=invitation_id)


@app.command()
@in_session
def role(
    session: Session,
    slug: SlugArgument,
    username: UserArgument,
    new_role: Annotated[Role, typer.Argument(metavar="ROLE", help="owner, admin or member.")],
) -> None:
    """Change the role of a member."""
    session.put(_member_path(slug, username), {"role": new_role.value})
    sentence = f"{username} is now {new_role.value} of {slug}."
    show_done(sentence, organization=slug, username=username, role=new_role.value)


@app.command()
@in_session
def members(
    session: Session,
    slug: SlugArgument,
    visibility: Annotated[
        Visibility, typer.Argument(metavar="VISIBILITY", help="public or private.")
    ],
) -> None:
    """Make the list of members public or private."""
    is_public = visibility is Visibility.PUBLIC
    session.put(f"{_path(slug)}/settings", {"membersPublic": is_public})
    sentence = f"The members of {slug} are now {visibility.value}."
    show_done(sentence, organization=slug, membersPublic=is_public)


@app.command()
@in_session
def remove(
    session: Session, slug: SlugArgument, username: UserArgument, yes: YesOption = False
) -> None:
    """Remove a member. The widgets they published remain."""
    require_agreement(f"Remove {username} from {slug}?", yes)
    session.delete(_member_path(slug, username))
    show_done(f"{username} is no longer a member of {slug}.", organization=slug, username=username)


@app.command()
@in_session
def leave(session: Session, slug: SlugArgument, yes: YesOption = False) -> None:
    """Leave an organization. The last owner cannot leave."""
    require_agreement(f"Leave {slug}?", yes)
    username = get_account(session).username
    session.delete(_member_path(slug, username))
    show_done(f"You have left {slug}.", organization=slug, username=username)


@app.command()
@in_session
def transfer(
    session: Session, slug: SlugArgument, username: UserArgument, yes: YesOption = False
) -> None:
    """Transfer ownership to a member. You become an admin."""
    require_agreement(f"Make {username} the owner of {slug}, and yourself an admin?", yes)
    session.post(f"{_path(slug)}/transfer", {"username": username})
    show_done(f"{slug} is now owned by {username}.", organization=slug, username=username)


def _path(slug: str) -> str:
    return f"/api/organizations/{path_part(slug)}"


def _member_path(slug: str, username: str) -> str:
    return f"{_path(slug)}/members/{path_part(username)}"


def _rows(
    found: dict[str, Any], key: str, session: Session, *columns: str
) -> list[tuple[str, ...]]:
    """These columns of a list of objects; missing and null values are empty."""
    listed = found.get(key)
    if not isinstance(listed, list) or not all(isinstance(it, dict) for it in listed):
        raise not_a_catalog(session.url)
    return [
        tuple(
            "" if organization.get(column) is None else str(organization[column])
            for column in columns
        )
        for organization in listed
    ]


def register(main: typer.Typer) -> None:
    main.add_typer(app, name="org", rich_help_panel="Account")
