"""A site with people of every kind, an organization, and something published by each.

It is built once per run, by the real code; every test gets a copy of it, including sessions, so
that nobody has to sign in again, which is slow on purpose.
"""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple, Self

from support.folders import copy_folder
from support.people import Person, a_person, confirm_all
from support.site import InProcessSite
from widget_catalog.core import clock

PEOPLE = ("ann", "olly", "abe", "mia", "pia", "eve")


class MovableClock:
    """A clock that stands still until it is moved."""

    def __init__(self) -> None:
        self.at = clock.now()

    def __call__(self) -> datetime:
        return self.at

    def forward(self, **span: float) -> None:
        self.at += timedelta(**span)


class BuiltPeople(NamedTuple):
    folder: Path
    headers: dict[str, dict[str, str]]


class People:
    """The site with its people: `ann` owns the organization `acme`, `abe` is its admin, `mia`
    a member, `pia` a member who may publish `acme/clock`; `olly` is the operator, and `eve`
    has nothing to do with any of them. `ann/clock` and `acme/clock` have a version 1.0.0."""

    def __init__(self, built: BuiltPeople, folder: Path, **settings: Any) -> None:
        copy_folder(built.folder, folder)
        self.clock = MovableClock()
        self.site = InProcessSite(folder, self.clock, is_prepared=True, **settings)
        self.ann, self.olly, self.abe, self.mia, self.pia, self.eve = (
            Person(self.site, name, built.headers[name]) for name in PEOPLE
        )
        # Everybody has just signed in, however long ago the fixture was built.
        confirm_all(self.site)

    def __enter__(self) -> Self:
        self.site.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self.site.__exit__()


def build_people(folder: Path) -> BuiltPeople:
    with InProcessSite(folder) as site:
        people = {name: a_person(site, name, is_operator=name == "olly") for name in PEOPLE}
        ann = people["ann"]
        done = [
            ann.post("/api/organizations", {"slug": "acme", "displayName": "Acme"}),
            *(join(ann, people[name], "acme", role) for name, role in _ROLES.items()),
            ann.put("/api/widgets/acme/clock/publishers", {"publishers": ["pia"]}),
            ann.publish("ann/clock"),
            ann.publish("acme/clock"),
        ]
        assert {it.status for it in done} <= {200, 201}, [it.body for it in done]
    return BuiltPeople(folder, {name: person.headers for name, person in people.items()})


_ROLES = {"abe": "admin", "mia": "member", "pia": "member"}


def join(owner: Person, guest: Person, slug: str, role: str = "member") -> Any:
    """Invite a person, who accepts."""
    body = {"username": guest.username, "role": role}
    invited = owner.post(f"/api/organizations/{slug}/invitations", body)
    assert invited.status == 201, invited.body
    return guest.post(f"/api/invitations/{invited.json()['id']}/accept")
