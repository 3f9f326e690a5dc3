"""Publishing from the browser: the form, the confirmation page, and who can see the upload."""

import hashlib
import json

import pytest

from publishing.publish_form import PUBLISH, facts, files, pending, send, told, uploaded
from support.browsing import SCRIPTS, Browsing, browser_of
from support.people import BUNDLE, manifest
from support.site_with_people import People
from widget_catalog.publishing.publish_version import tidy_uploads

STYLE = b".clock { color: red }\n"


@pytest.fixture
def ann(people: People) -> Browsing:
    return browser_of(people.ann)


@pytest.mark.parametrize("notes", ["Faster.", "Slower."])
def test_release_notes_of_the_last_version_are_not_published_again_unnoticed(
    people: People, ann: Browsing, notes: str
) -> None:
    people.ann.publish("ann/timer", "1.0.0", releaseNotes="Faster.")

    pending(ann, files(version="1.1.0", releaseNotes=notes))

    told = "The release notes are those of 1.0.0." in ann.page.one("main").text
    assert told is (notes == "Faster.")


def test_release_notes_that_are_typed_replace_those_of_the_manifest(
    people: People, ann: Browsing
) -> None:
    sent = files(releaseNotes="Of the last version.", keywords=["egg", "tea"])
    assert send(ann, sent, notes="é" * 20_001).status == 400
    assert told(ann, "notes") == ["Is too long: 20,001 characters, and at most 20,000 are taken."]

    place = pending(ann, sent, notes="- Rings.\r\n- Stops.\r\n")

    assert facts(ann)["Release notes"] == "- Rings. - Stops."
    assert facts(ann)["Keywords"] == "egg, tea"
    ann.submit(place)
    (version,) = people.site.get("/api/v1/widgets/ann/timer").json()["versions"]
    assert version["releaseNotes"] == "- Rings.\n- Stops."


def test_a_widget_is_sent_looked_at_and_published(people: People, ann: Browsing) -> None:
    place = pending(ann, files(css=STYLE, permissions=["network"]))

    shown = facts(ann)
    assert (ann.title, shown["Widget"]) == ("Clock 1.0.0", "new")
    assert shown["SHA-256"] == hashlib.sha256(BUNDLE).hexdigest()
    assert (shown["Bundle"], shown["Permissions"]) == (f"{len(BUNDLE)} bytes", "network")
    assert shown["Its SHA-256"] == hashlib.sha256(STYLE).hexdigest()
    assert people.ann.get("/api/widgets/ann/timer").status == 404
    response = ann.submit(place)
    assert response.headers["location"] == "/account/widgets/ann/timer?done=published"
    ann.get(response.headers["location"])
    assert ann.page.one("p", role="status").text.startswith("The version was published")
    assert people.site.get("/cdn/@ann/timer/1.0.0/index.js").body == BUNDLE
    assert people.site.get("/cdn/@ann/timer/1.0.0/index.css").body == STYLE
    assert uploaded(people) == []
    # Again, by a double click or the back button.
    assert ann.post(place, {"csrf_token": people.ann.headers["x_csrf_token"]}).status == 303
    assert ann.get(place).headers["location"] == "/account/widgets/ann/timer"


def test_the_preview_runs_what_was_sent_and_shows_it_to_its_author_alone(
    people: People, ann: Browsing
) -> None:
    place = pending(
        ann, files(css=STYLE, configSchema={"type": "object"}, defaultSize={"w": 2, "h": 1})
    )

    policy = ann.get(place).headers["content-security-policy"]
    assert f"{SCRIPTS} connect-src 'self'; frame-src 'self'" in policy
    preview = json.loads(ann.page.one("script", type="application/json").text)
    assert preview["bundleUrl"] == f"{place}/index.js"
    assert preview["styleUrl"] == f"{place}/index.css"
    assert preview["credentials"] == "same-origin"
    assert preview["manifest"] == {
        "configSchema": {"type": "object"},
        "defaultSize": {"w": 2, "h": 1},
    }
    bundle = ann.get(f"{place}/index.js")
    assert (bundle.status, bundle.body) == (200, BUNDLE)
    # None of our pages can be made to run it as a script.
    assert bundle.headers["content-type"] == "text/plain; charset=utf-8"
    assert bundle.headers["x-content-type-options"] == "nosniff"
    assert bundle.headers["cache-control"] == "no-store"
    for other in (people.eve, people.olly):
        for path in (place, f"{place}/index.js", f"{place}/index.css"):
            assert browser_of(other).get(path).status == 404
    assert Browsing(people.site).get(f"{place}/index.js").status == 302


def test_permissions_are_compared_with_what_is_offered_now(people: People, ann: Browsing) -> None:
    people.ann.publish("ann/timer", "1.0.0", permissions=["network", "storage"])
    pending(ann, files(version="1.1.0", permissions=["camera", "storage"]))

    shown = facts(ann)
    assert shown["Widget"] == "currently 1.0.0"
    assert shown["Changed"] == "+ camera − network"


def test_capabilities_are_checked_shown_and_compared(people: People, ann: Browsing) -> None:
    camera = {"domain": "camera", "access": "read"}
    lock = {"domain": "lock", "access": "control", "entities": ["lock.front_*"]}
    people.ann.publish("ann/timer", "1.0.0", permissions=["network"], capabilities=[camera])

    assert send(ann, files(version="1.1.0", capabilities=[{**lock, "access": "all"}])).status == 400
    assert told(ann, "manifest") == ["capabilities[0].access: must be read or control."]
    place = pending(ann, files(version="1.1.0", capabilities=[camera, lock]))

    shown = facts(ann)
    assert shown["Permissions"] == "read cameras, control locks (lock.front_*)"
    assert shown["Changed"] == "+ control locks (lock.front_*) − network"
    ann.submit(place)
    ann.get("/account/widgets/ann/timer/versions/1.1.0")
    assert facts(ann)["Permissions"] == "read cameras, control locks (lock.front_*)"


def test_all_errors_are_reported_at_once_beside_their_fields(ann: Browsing) -> None:
    broken = {"version": "1", "minSize": {"w": 0, "h": 1}, "icon": "clock"}
    response = send(ann, files("A name", js=b"", css=b"", **broken), scope="ACME")

    assert response.status == 400
    (summary,) = ann.errors
    assert summary.startswith("There are 6 errors. Nothing was saved: choose the files again.")
    (said,) = told(ann, "manifest")
    assert "version: " in said
    assert "icon: must be an Iconify name" in said
    assert "minSize: must be like" in said
    assert told(ann, "bundle") == ["Choose the bundle, a JavaScript module."]
    assert len(told(ann, "name")) == len(told(ann, "scope")) == 1
    field = ann.page.one("input", id="bundle").attributes
    assert field["aria-invalid"] == "true"
    assert field["aria-describedby"] == "bundle-hint faults-bundle"


@pytest.mark.parametrize(
    ("manifest_file", "sentence"),
    [
        (b"", "Choose the manifest, usually called widget.json."),
        (b"{", "The manifest is not JSON: look at line 1, column 2."),
        (b"[]", "The manifest must be a JSON object."),
        (b'{"name": "\xe9"}', "The manifest is not proper Unicode text."),
        (
            b'{"a": "' + b"x" * 70_000 + b'"}',
            "The manifest has 70,009 bytes; at most 65,536 ",
        ),
    ],
)
def test_a_manifest_that_is_none(ann: Browsing, manifest_file: bytes, sentence: str) -> None:
    response = send(ann, {**files(), "manifest": manifest_file})

    assert response.status == 400
    assert told(ann, "manifest")[0].startswith(sentence)
    assert told(ann, "bundle") == []


def test_the_same_gates_as_everywhere(people: People, ann: Browsing) -> None:
    assert send(ann, files("clock")).status == 409
    assert "ann/clock 1.0.0 is already published" in ann.errors[0]
    eve = browser_of(people.eve)
    assert send(eve, files("clock", version="2.0.0"), scope="acme").status == 403
    assert len(told(eve, "scope")) == 1
    assert send(eve, files("clock", version="2.0.0", scope="acme")).status == 403
    # A member who may publish this one widget.
    pia = browser_of(people.pia)
    pending(pia, files("clock", version="2.0.0"), scope="acme")


def test_what_was_published_meanwhile_is_reported_on_the_page_to_confirm(
    people: People, ann: Browsing
) -> None:
    place = pending(ann, files())
    people.ann.publish("ann/timer", "1.0.0", b"export function mount() {}\n")

    response = ann.submit(place)

    assert response.status == 409
    assert "ann/timer 1.0.0 is already published" in ann.errors[0]


def test_the_form_decides_about_scope_and_name(people: People, ann: Browsing) -> None:
    """In the format of other tools, a manifest's name is the display name."""
    place = pending(ann, files("Big Clock", scope="ann"), scope="acme", name="big-clock")

    assert ann.submit(place).headers["location"].startswith("/account/widgets/acme/big-clock")


def test_a_manifest_of_other_tools_is_not_told_about_a_key_it_does_not_have(
    people: People, ann: Browsing
) -> None:
    other = manifest("Big Clock")
    del other["displayName"]
    sent = {**files(), "manifest": json.dumps(other).encode()}

    assert send(ann, sent).status == 400
    assert told(ann, "manifest") == []
    assert told(ann, "name")[0].startswith("'Big Clock' is not a widget name")
    pending(ann, sent, name="big-clock")
    assert ann.title == "Big Clock 1.0.0"

    sent["manifest"] = json.dumps({**other, "name": "x" * 101}).encode()
    assert send(ann, sent, name="big-clock").status == 400
    assert told(ann, "manifest") == [
        "Name in the manifest: is too long: 101 characters, and at most 100 are taken."
    ]


def test_what_is_discarded_or_left_behind_is_removed(people: People, ann: Browsing) -> None:
    place = pending(ann, files())
    assert len(uploaded(people)) == 1
    assert ann.submit(f"{place}/discard").headers["location"] == PUBLISH
    assert uploaded(people) == []
    assert ann.get(place).status == 404

    left = pending(ann, files())
    assert len(uploaded(people)) == 1
    people.clock.forward(minutes=61)
    node = people.site.node
    tidy_uploads(node.store, node.bundles, node.uploads)
    assert uploaded(people) == []
    assert browser_of(people.ann).get(left).status == 404
