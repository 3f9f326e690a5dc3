"""Creates a data folder of this release for later ones: tests/core/db/fixtures/NNNN.tar.xz.

    PYTHONPATH=tests ./dev run python -m core.db.schema_fixture [--mirror]

With `--mirror` the catalog becomes a mirror at the end: NNNN-mirror.tar.xz. Run it once, with the
release itself, before the next migration is added. It refuses to replace an archive: each must be
created by its own release.
"""

import contextlib
import json
import sqlite3
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

from accounts.oauth.program import sign_in_program
from accounts.second_factor.authenticator import Authenticator
from accounts.second_factor.people import add_app, add_passkey
from core.db.old_folders import FIXTURES, MADE_AT, STYLES
from support.browsing import Browsing
from support.people import BUNDLE, Person, a_person
from support.routes import of_rooms
from support.site import InProcessSite, Reply
from support.site_with_people import PEOPLE, MovableClock, join
from support.widgets import import_widgets, version_line, widget_line
from widget_catalog.accounts.administer_account import set_disabled
from widget_catalog.core.db.migrate import SCHEMA
from widget_catalog.mirror.store import Mirror, add_tasks, save_mirror
from widget_catalog.moderation.report_widget import ReportForm, report_widget
from widget_catalog.transfer.export_catalog import export_catalog, linked_to

CDN = "https://catalog.example/cdn"
MIRROR = Mirror("https://upstream.example", "0123456789abcdef", (), ("ann",), seq=7)


def main() -> None:
    is_mirror = sys.argv[1:] == ["--mirror"]
    target = FIXTURES / f"{SCHEMA}{'-mirror' * is_mirror}.tar.xz"
    if target.exists():
        sys.exit(f"{target} exists already. It is never made again.")
    with tempfile.TemporaryDirectory() as folder:
        data, content = Path(folder) / "data", Path(folder) / "content"
        content.mkdir()
        build(data, content, is_mirror=is_mirror)
        with tarfile.open(target, "w:xz") as archive:
            archive.add(content, ".", filter=_without_traces)
    print(f"Wrote {target} ({target.stat().st_size:,} bytes).")


def build(data: Path, content: Path, *, is_mirror: bool) -> None:
    """Fill a data folder like real users, and copy what a backup contains into `content`."""
    clock = MovableClock()
    clock.at = MADE_AT
    with InProcessSite(data, clock) as site:
        _import(site)
        people = {name: a_person(site, name, is_operator=name == "olly") for name in PEOPLE}
        known = _live(site, people, clock)
        _watch_over(site, people["ann"], people["olly"])
        if is_mirror:
            with site.node.store.writing() as tx:
                save_mirror(tx, MIRROR)
                add_tasks(tx, [("ann", "dice")])
        exported = b"".join(export_catalog(site.node.store, linked_to(CDN)))
    (content / "export.ndjson").write_bytes(exported)
    (content / "known.json").write_text(json.dumps(known, indent=1))
    (data / "second-factor.key").rename(content / "second-factor.key")
    (data / "bundles").rename(content / "bundles")
    with contextlib.closing(sqlite3.connect(data / "catalog.db")) as database:
        database.execute("VACUUM INTO ?", (str(content / "catalog.db"),))


def _import(site: InProcessSite) -> None:
    """An operator's import: every kind of version and widget."""
    base_folder = site.settings.data.parent
    (base_folder / "sun.js").write_bytes(b"export default class Sun {}\n")
    (base_folder / "sun.css").write_bytes(STYLES)
    stored = {"bundleUrl": None, "bundleSize": None, "sha256Hash": None}
    import_widgets(
        site.node,
        widget_line(
            "home/sun",
            downloadCount=1234,
            versions=[
                version_line("1.0.0", yanked=True, yankedReason="It burns."),
                version_line("1.1.0", deprecationMessage="Use 2.", license="MIT"),
                version_line("2.0.0", bundleFile="sun.js", cssFile="sun.css", **stored),
                version_line("2.1.0-beta.1+7", releaseNotes="Für Leute: “☀”"),
            ],
        ),
        widget_line("home/hidden", listed=False, isOfficial=None, downloadCount=5),
        widget_line("home/empty", versions=[], description=None, icon=None, isOfficial=True),
        base_folder=base_folder,
    )


def _live(site: InProcessSite, people: dict[str, Person], clock: MovableClock) -> dict[str, Any]:
    """Actions of people; returns their secrets."""
    ann, olly = people["ann"], people["olly"]
    _done(ann.post("/api/organizations", {"slug": "acme", "displayName": "Acme"}))
    for name, role in {"abe": "admin", "mia": "member", "pia": "member"}.items():
        _done(join(ann, people[name], "acme", role))
    invitations = "/api/organizations/acme/invitations"
    _done(ann.post(invitations, {"email": "guest@example.org", "role": "member"}))
    _done(ann.put("/api/widgets/acme/clock/publishers", {"publishers": ["pia"]}))
    for key, version in (("ann/clock", "1.0.0"), ("ann/clock", "1.1.0"), ("acme/clock", "1.0.0")):
        _done(ann.publish(key, version, BUNDLE + version.encode()))
        clock.forward(minutes=1)
    _done(ann.request("ann/clock", "9.0.0"))
    _done(ann.post("/api/widgets/ann/clock/versions/1.0.0/yank", {"reason": "It stops."}))
    message = {"message": "Too loud."}
    _done(ann.post("/api/widgets/acme/clock/versions/1.0.0/deprecate", message))
    _done(olly.post("/api/widgets/acme/clock/official", {"isOfficial": True}))
    _done(*(site.post(f"/api/v1/widgets/{key}") for key in ["ann/clock"] * 3 + ["home/sun"]))
    token = ann.post("/api/tokens", {"name": "ci", "actions": ["publish"], "scopes": ["ann"]})
    _done(token)
    program = sign_in_program(Browsing(site).sign_in("abe"))
    browsing = Browsing(site).sign_in("mia")
    codes = add_passkey(browsing, Authenticator(), "Phone")
    app, _ = add_app(browsing, clock.at.timestamp())
    set_disabled(site.node.store, "eve", is_disabled=True)
    return {
        "token": token.json()["token"],
        "refreshToken": program["refresh_token"],
        "appSecret": app.secret,
        "recoveryCodes": codes,
    }


def _watch_over(site: InProcessSite, ann: Person, olly: Person) -> None:
    """A version is revoked, and a visitor reports it."""
    for version in ("1.0.0", "1.1.0"):
        _done(ann.publish("ann/dice", version, BUNDLE + b"dice" + version.encode()))
    revoke = "/api/widgets/ann/dice/versions/1.0.0/revoke"
    _done(olly.post(revoke, {"reason": "It reads passwords."}))
    for room in of_rooms("fixture_data"):
        room.add_data(ann)
    said = ReportForm("harmful", "It reads passwords.", "1.0.0", "eve@example.org")
    report_widget(site.node.store, "203.0.113.9", "ann", "dice", said, 5)


def _done(*responses: Reply) -> None:
    assert {it.status for it in responses} <= {200, 201}, [it.body for it in responses]


def _without_traces(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mtime = int(MADE_AT.timestamp())
    return member


if __name__ == "__main__":
    main()
