"""`widget org`: organizations, their members and invitations."""

from enum import StrEnum
from typing import Annotated, Any

import typer

from ..addresses import path_part
from ..answers import not_a_catalog
from ..app import App
from ..console import ask, out, plain, say, show_json, show_table, warn
from ..errors import wrong_usage
from ..exits import ExitCode
from ..options import CatalogOption, JsonOption, YesOption
from ..session import Session, opened

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
def create(
    slug: SlugArgument,
    display_name: Annotated[
        str | None,
        typer.Option("--display-name", metavar="NAME", help="Its name.", show_default="the slug"),
    ] = None,
    catalog: CatalogOption = None,
    json: JsonOption = False,
) -> None:
    """Create an organization. You become its owner."""
    body = {"slug": slug, "displayName": display_name or slug}
    with opened(catalog) as session:
        made = session.post("/api/organizations", body)
    if json:
        show_json(made)
        return
    say.print(
        f"[green]Created[/] organization {plain(slug)}. Publish there with: --scope {plain(slug)}"
    )


@app.command("list")
def list_(catalog: CatalogOption = None, json: JsonOption = False) -> None:
    """List the organizations you are a member of."""
    with opened(catalog) as session:
        found = session.get("/api/organizations")
        rows = _rows(found, "organizations", session, "slug", "role", "displayName")
    if json:
        show_json(found)
        return
    show_table(("organization", "you are", "name"), rows)
    if not rows:
        say.print("You are not a member of any organization.")


@app.command()
def show(slug: SlugArgument, catalog: CatalogOption = None, json: JsonOption = False) -> None:
    """Show an organization and its members."""
    with opened(catalog) as session:
        found = session.get(_path(slug))
        rows = _rows(found, "members", session, "username", "role", "since")
    if json:
        show_json(found)
        return
    out.print(f"[bold]{plain(slug)}[/]  {plain(found.get('displayName') or '')}")
    show_table(("member", "role", "since"), [(*row[:2], row[2][:10]) for row in rows])


@app.command()
def invite(
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
    catalog: CatalogOption = None,
    json: JsonOption = False,
) -> None:
    """Invite a person by username or e-mail address."""
    invited = email if whom is None else whom.removeprefix("@")
    if not invited or (whom and email):
        hint = "Pass the organization, then one person: widget org invite acme bob"
        raise wrong_usage("Whom?", hint)
    # Usernames contain no @.
    kind = "email" if email or "@" in invited else "username"
    with opened(catalog) as session:
        made = session.post(f"{_path(slug)}/invitations", {kind: invited, "role": role.value})
    if json:
        show_json(made)
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
def uninvite(
    slug: SlugArgument,
    invitation_id: InvitationArgument,
    catalog: CatalogOption = None,
    json: JsonOption = False,
) -> None:
    """Revoke an open invitation."""
    with opened(catalog) as session:
        session.delete(f"{_path(slug)}/invitations/{path_part(invitation_id)}")
    _done("The invitation is revoked.", json, id=invitation_id)


@app.command()
def invitations(
    slug: Annotated[
        str | None,
        typer.Argument(
            metavar="ORGANIZATION",
            help="Invitations sent by this organization, instead of those to you.",
        ),
    ] = None,
    catalog: CatalogOption = None,
    json: JsonOption = False,
) -> None:
    """List open invitations: to you, or from an organization."""
    path = f"{_path(slug)}/invitations" if slug else "/api/invitations"
    with opened(catalog) as session:
        found = session.get(path)
        columns = ("id", "organization", "username", "email", "role", "invitedBy", "expiresAt")
        listed = _rows(found, "invitations", session, *columns)
    if json:
        show_json(found)
        return
    rows = [
        (number, organization, user or email, role, by, ends[:10])
        for number, organization, user, email, role, by, ends in listed
    ]
    show_table(("id", "organization", "to", "role", "by", "until"), rows)
    if not rows:
        say.print("There are no open invitations.")


@app.command()
def accept(
    invitation_id: InvitationArgument,
    secret: Annotated[
        str | None,
        typer.Option(metavar="SECRET", help="The token in the link of an e-mail invitation."),
    ] = None,
    catalog: CatalogOption = None,
    json: JsonOption = False,
) -> None:
    """Accept an invitation."""
    body = {"secret": secret} if secret else {}
    _answer(invitation_id, "accept", body, catalog, json, "Accepted. See: widget org list")


@app.command()
def decline(
    invitation_id: InvitationArgument, catalog: CatalogOption = None, json: JsonOption = False
) -> None:
    """Decline an invitation."""
    _answer(invitation_id, "decline", {}, catalog, json, "Declined.")


@app.command()
def role(
    slug: SlugArgument,
    username: UserArgument,
    new_role: Annotated[Role, typer.Argument(metavar="ROLE", help="owner, admin or member.")],
    catalog: CatalogOption = None,
    json: JsonOption = False,
) -> None:
    """Change the role of a member."""
    with opened(catalog) as session:
        session.put(_member_path(slug, username), {"role": new_role.value})
    sentence = f"{username} is now {new_role.value} of {slug}."
    _done(sentence, json, organization=slug, username=username, role=new_role.value)


@app.command()
def members(
    slug: SlugArgument,
    visibility: Annotated[
        Visibility, typer.Argument(metavar="VISIBILITY", help="public or private.")
    ],
    catalog: CatalogOption = None,
    json: JsonOption = False,
) -> None:
    """Make the list of members public or private."""
    is_public = visibility is Visibility.PUBLIC
    with opened(catalog) as session:
        session.put(f"{_path(slug)}/settings", {"membersPublic": is_public})
    sentence = f"The members of {slug} are now {visibility.value}."
    _done(sentence, json, organization=slug, membersPublic=is_public)


@app.command()
def remove(
    slug: SlugArgument,
    username: UserArgument,
    yes: YesOption = False,
    catalog: CatalogOption = None,
    json: JsonOption = False,
) -> None:
    """Remove a member. The widgets they published remain."""
    _agree(f"Remove {username} from {slug}?", yes)
    with opened(catalog) as session:
        session.delete(_member_path(slug, username))
    _done(
        f"{username} is no longer a member of {slug}.", json, organization=slug, username=username
    )


@app.command()
def leave(
    slug: SlugArgument,
    yes: YesOption = False,
    catalog: CatalogOption = None,
    json: JsonOption = False,
) -> None:
    """Leave an organization. The last owner cannot leave."""
    _agree(f"Leave {slug}?", yes)
    with opened(catalog) as session:
        username = session.get("/api/auth/session").get("username")
        if not isinstance(username, str):
            raise not_a_catalog(session.url)
        session.delete(_member_path(slug, username))
    _done(f"You have left {slug}.", json, organization=slug, username=username)


@app.command()
def transfer(
    slug: SlugArgument,
    username: UserArgument,
    yes: YesOption = False,
    catalog: CatalogOption = None,
    json: JsonOption = False,
) -> None:
    """Transfer ownership to a member. You become an admin."""
    _agree(f"Make {username} the owner of {slug}, and yourself an admin?", yes)
    with opened(catalog) as session:
        session.post(f"{_path(slug)}/transfer", {"username": username})
    _done(f"{slug} is now owned by {username}.", json, organization=slug, username=username)


def _path(slug: str) -> str:
    return f"/api/organizations/{path_part(slug)}"


def _member_path(slug: str, username: str) -> str:
    return f"{_path(slug)}/members/{path_part(username)}"


def _answer(
    invitation_id: str,
    action: str,
    body: dict[str, str],
    catalog: str | None,
    json: bool,
    outcome: str,
) -> None:
    with opened(catalog) as session:
        session.post(f"/api/invitations/{path_part(invitation_id)}/{action}", body)
    _done(outcome, json, id=invitation_id)


def _rows(
    found: dict[str, Any], key: str, session: Session, *columns: str
) -> list[tuple[str, ...]]:
    """These columns of a list of objects; missing and null values are empty."""
    listed = found.get(key)
    if not isinstance(listed, list) or not all(isinstance(it, dict) for it in listed):
        raise not_a_catalog(session.url)
    return [
        tuple("" if it.get(column) is None else str(it[column]) for column in columns)
        for it in listed
    ]


def _agree(question: str, yes: bool) -> None:
    if not ask(question, is_agreed=yes):
        say.print("Nothing was changed.")
        raise typer.Exit(ExitCode.FAILED)


def _done(sentence: str, json: bool, **about: str | bool) -> None:
    if json:
        show_json({"success": True, **about})
        return
    say.print(plain(sentence))
