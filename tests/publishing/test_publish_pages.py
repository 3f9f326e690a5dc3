"""Publishing from the browser: the form, the confirmation page, and who can see the upload."""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from support.browsing import Browsing, browser_of, multipart
from support.people import BUNDLE, manifest
from support.site import Reply
from support.site_with_people import BuiltPeople, People
from widget_catalog.core.http.http import PlainRequest
from widget_catalog.publishing.publish_version import tidy_uploads

PUBLISH = "/account/publish"
STYLE = b".clock { color: red }\n"


@pytest.fixture
def ann(people: People) -> Browsing:
    return browser_of(people.ann)


def files(
    name: str = "timer", js: bytes = BUNDLE, css: bytes = b"", **more: Any
) -> dict[str, bytes]:
    return {"manifest": json.dumps(manifest(name, **more)).encode(), "bundle": js, "style": css}


def send(browsing: Browsing, sent: dict[str, bytes], **fields: str) -> Reply:
    browsing.get(PUBLISH)
    return browsing.submit_files(PUBLISH, sent, **fields)


def pending(browsing: Browsing, sent: dict[str, bytes], **fields: str) -> str:
    """The page to confirm the upload."""
    response = send(browsing, sent, **fields)
    assert response.status == 303, browsing.page.one("main").text
    place = response.headers["location"]
    assert browsing.get(place).status == 200
    return place


def told(browsing: Browsing, field: str) -> list[str]:
    """The errors next to a field."""
    found = browsing.page.all("div", id=f"faults-{field}")
    return [it.text for it in found]


def facts(browsing: Browsing) -> dict[str, str]:
    page = browsing.page
    return {it.text: value.text for it, value in zip(page.all("dt"), page.all("dd"), strict=True)}


def uploaded(people: People) -> list[str]:
    return sorted(it.name for it in (people.site.settings.data / "uploads").iterdir())


@pytest.mark.parametrize("notes", ["Faster.", "Slower."])
def test_release_notes_of_the_last_version_are_not_published_again_unnoticed(
    people: People, ann: Browsing, notes: str
) -> None:
    people.ann.publish("ann/timer", "1.0.0", releaseNotes="Faster.")

    pending(ann, files(version="1.1.0", releaseNotes=notes))

    told = "The release notes are those of 1.0.0." in ann.page.one("main").text
    assert told is (notes == "Faster.")


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
    place = pending(ann, files(css=STYLE, configSchema={"type": "object"}, defaultSize={"w": 2}))

    policy = ann.get(place).headers["content-security-policy"]
    assert "script-src 'self'; connect-src 'self'; frame-src 'self'" in policy
    preview = json.loads(ann.page.one("script", type="application/json").text)
    assert preview["bundleUrl"] == f"{place}/index.js"
    assert preview["styleUrl"] == f"{place}/index.css"
    assert preview["credentials"] == "same-origin"
    assert preview["manifest"] == {"configSchema": {"type": "object"}, "defaultSize": {"w": 2}}
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
    assert ann.errors == ["There are 6 errors. Nothing was saved: choose the files again."]
    (said,) = told(ann, "manifest")
    assert "version: " in said
    assert "icon: must be an Iconify name" in said
    assert "minSize: must be like" in said
    assert told(ann, "bundle") == ["Choose the bundle, a JavaScript module."]
    assert len(told(ann, "name")) == len(told(ann, "scope")) == 1
    assert ann.page.one("input", id="bundle").attributes["aria-invalid"] == "true"
    assert ann.page.one("input", id="bundle").attributes["aria-describedby"] == "faults-bundle"


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


def test_a_bundle_that_is_too_large_is_refused_in_words(people: People, ann: Browsing) -> None:
    most = people.site.settings.max_bundle_bytes
    response = send(ann, files(js=b"x" * (most + 5)))

    assert response.status == 400
    wanted = f"The file has {most + 5:,} bytes; at most {most:,} are taken."
    assert told(ann, "bundle") == [wanted]
    assert uploaded(people) == []
    too_much = send(ann, files(js=b"x" * (33 << 20)))
    assert too_much.status == 413


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


def test_a_form_of_another_site_or_of_nobody_is_refused(people: People, ann: Browsing) -> None:
    ann.get(PUBLISH)
    visitor = Browsing(people.site)
    visitor.cookies["session"] = "0" * 43
    visitor.page = ann.page

    response = visitor.submit_files(PUBLISH, files(), csrf_token="0" * 64)
    assert response.status == 302
    assert response.headers["location"].startswith("/sign-in")
    assert ann.submit_files(PUBLISH, files(), csrf_token="0" * 64).status == 403
    assert uploaded(people) == []


def test_slow_forms_of_one_account_leave_room_for_others(people: People, ann: Browsing) -> None:
    """From ten addresses: more than a worker would receive concurrently."""
    ann.get(PUBLISH)
    body, kind = multipart(ann.hidden_fields(PUBLISH), files())
    session = {"cookie": f"__Host-session={ann.cookies['session']}", "content-type": kind}
    come = asyncio.Event()

    class Slow:
        async def __aiter__(self) -> AsyncIterator[bytes]:
            yield body[:10]
            await come.wait()
            yield body[10:]

    async def post(number: int) -> Reply:
        request = PlainRequest("POST", PUBLISH, "", session, f"192.0.2.{number}:9")
        return Reply(await people.site._worker.handle(request, Slow()))

    async def hold() -> set[asyncio.Task[Reply]]:
        pending = {asyncio.ensure_future(post(it)) for it in range(10)}
        async with asyncio.timeout(60):
            while len(pending) > 2:
                done, pending = await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
                assert {it.result().status for it in done} == {429}
                assert {it.result().headers["retry-after"] for it in done} == {"5"}
        return pending

    async def finish(held: set[asyncio.Task[Reply]]) -> list[int]:
        come.set()
        return [(await it).status for it in held]

    loop = people.site._loop
    held = loop.run_until_complete(hold())
    assert send(browser_of(people.abe), files("honest")).status == 303
    assert loop.run_until_complete(finish(held)) == [303, 303]
    assert send(ann, files("again")).status == 303  # All slots are free again.


def test_no_room_is_kept_for_a_form_of_another_site(people: People, ann: Browsing) -> None:
    ann.get(PUBLISH)
    _, kind = multipart({}, {})

    class Unread:
        async def __aiter__(self) -> AsyncIterator[bytes]:
            raise AssertionError("The body was asked for.")
            yield b""

    headers = {"cookie": f"__Host-session={ann.cookies['session']}", "content-type": kind}
    for more in ({"origin": "https://evil.example"}, {"sec-fetch-site": "cross-site"}):
        request = PlainRequest("POST", PUBLISH, "", headers | more, "192.0.2.1:9")
        answered = people.site._loop.run_until_complete(
            people.site._worker.handle(request, Unread())
        )
        assert answered.status == 403


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 400),
        (b"no parts at all", 400),
        (b'--b\r\nContent-Disposition: form-data; name="bundle"; filename="a"\r\n\r\nabc', 400),
        (b"--b\r\nnothing\r\n\r\n\r\n--b--\r\n", 400),
        (b'--b\r\nContent-Disposition: form-data; name="scope"\r\n\r\n' + b"x" * 5000, 413),
        (b"--b\r\n" + b"X: y\r\n" * 20, 400),
        (b'--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n\r\n' * 30 + b"--b--", 400),
    ],
)
def test_a_body_that_is_no_form_is_refused(ann: Browsing, body: bytes, status: int) -> None:
    kind = "multipart/form-data; boundary=b"
    response = ann._request("POST", PUBLISH, body, content_type=kind)

    assert response.status == status, ann.page.one("main").text


@pytest.mark.parametrize("kind", ["multipart/form-data", "multipart/form-data; boundary="])
def test_a_form_that_names_no_boundary_is_refused_in_words(ann: Browsing, kind: str) -> None:
    response = ann._request("POST", PUBLISH, b"--b--\r\n", content_type=kind)

    assert response.status == 400
    assert "its Content-Type names no boundary" in ann.page.one("main").text


def test_a_form_with_files_is_refused_where_none_are_taken(ann: Browsing) -> None:
    body, kind = multipart({"name": "CI"}, {})
    response = ann._request("POST", "/account/tokens/new", body, content_type=kind)

    assert response.status == 415
    assert "must be application/x-www-form-urlencoded" in ann.page.one("main").text


@pytest.fixture
def small(built_people: BuiltPeople, tmp_path: Path) -> Iterator[People]:
    quotas = {"max_open_requests": 1, "max_bundle_bytes": 100}
    with People(built_people, tmp_path / "small", **quotas) as made:
        yield made


def test_quotas_and_limits_hold_here_too(small: People) -> None:
    ann = browser_of(small.ann)
    pending(ann, files())

    response = send(ann, files("other"))

    assert (response.status, response.headers["retry-after"]) == (429, "3600")
    assert "You have 1 requests to publish that are not confirmed" in ann.errors[0]
    assert send(ann, files("other", js=b"x" * 101)).status == 400


def test_what_no_browser_runs_is_a_note_and_can_be_published(ann: Browsing) -> None:
    module = b'import "react";\nexport default process.env.NODE_ENV + "<b>";\n'
    place = pending(ann, files(js=module))
    (notes,) = ann.page.all("section", class_="notice")
    assert 'Line 1: "react" is imported, which browsers cannot resolve.' in notes.text
    assert 'Line 2: "process" is used, which browsers do not have.' in notes.text
    assert ann.submit(place).status == 303


@pytest.mark.parametrize("module", [BUNDLE, b"export const = ;", b"\xff\x00"])
def test_there_are_no_notes_about_other_modules(ann: Browsing, module: bytes) -> None:
    pending(ann, files(js=module))
    assert not ann.page.all("section", class_="notice")


def test_the_form_takes_the_readme_along(people: People, ann: Browsing) -> None:
    readme = b"# Timer\n\n*Ticks.*\n"
    place = pending(ann, {**files(author={"name": "Ann"}), "readme": readme})
    assert facts(ann)["File"] == f"README.md, {len(readme)} bytes"
    assert facts(ann)["Author"] == "Ann"

    assert ann.submit(place).status == 303

    detail = people.site.get("/api/v1/widgets/ann/timer/1.0.0").json()
    assert [it["path"] for it in detail["files"]] == ["index.js", "README.md"]
    assert "<em>Ticks.</em>" in people.site.get("/widgets/ann/timer").body.decode()


def test_a_readme_that_is_too_large_is_refused_next_to_its_field(ann: Browsing) -> None:
    assert send(ann, {**files(), "readme": b"x" * 65_537}).status == 400
    assert told(ann, "readme") == ["README.md has 65,537 bytes; at most 65,536 are allowed."]
