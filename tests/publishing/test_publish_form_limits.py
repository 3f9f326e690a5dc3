"""Bodies of the publish form that are hostile, too large or too many, and who may send them."""

import asyncio
import resource
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from publishing.publish_form import PUBLISH, files, pending, send, told, uploaded
from support.browsing import Browsing, browser_of, multipart
from support.site import Reply
from support.site_with_people import BuiltPeople, People
from widget_catalog.core.errors import InvalidRequest, StoreUnavailable
from widget_catalog.core.http.http import PlainRequest
from widget_catalog.core.http.multipart_form import MultipartReader


@pytest.fixture
def ann(people: People) -> Browsing:
    return browser_of(people.ann)


def test_a_bundle_that_is_too_large_is_refused_in_words(people: People, ann: Browsing) -> None:
    most = people.site.settings.max_bundle_bytes
    response = send(ann, files(js=b"x" * (most + 5)))

    assert response.status == 400
    wanted = f"The file has {most + 5:,} bytes; at most {most:,} are taken."
    assert told(ann, "bundle") == [wanted]
    assert uploaded(people) == []
    too_much = send(ann, files(js=b"x" * (33 << 20)))
    assert too_much.status == 413


def test_notes_that_are_too_long_are_kept_and_refused_at_their_field(ann: Browsing) -> None:
    typed = "x" * 200_000
    assert send(ann, files(), notes=typed, name="egg-timer").status == 400

    assert told(ann, "notes") == ["Is too long: 200,000 characters, and at most 20,000 are taken."]
    assert ann.page.one("textarea", id="notes").text == typed
    assert ann.page.one("input", id="name").attributes["value"] == "egg-timer"


def test_what_was_typed_is_kept_when_the_files_cannot_be(people: People, ann: Browsing) -> None:
    ann.get(PUBLISH)
    uploads = people.site.settings.data / "uploads"
    uploads.rename(uploads.with_name("aside"))
    response = ann.submit_files(PUBLISH, files(), notes="- Rings.", name="egg-timer")
    uploads.with_name("aside").rename(uploads)

    assert (response.status, response.headers["retry-after"]) == (503, "5")
    wanted = "The files cannot be kept just now (No such file or directory). Try again later."
    assert wanted in ann.page.one("div", role="alert").text
    assert ann.page.one("textarea", id="notes").text == "- Rings."
    assert ann.page.one("input", id="name").attributes["value"] == "egg-timer"
    assert send(ann, files(), notes="- Rings.").status == 303


def test_a_file_that_the_disk_has_no_room_for_is_lost_and_all_else_is_received(
    tmp_path: Path,
) -> None:
    """The system's limit on the size of files looks like a full disk."""
    body, kind = multipart({"notes": "- Rings."}, {"bundle": b"x" * 100_000})
    reader = MultipartReader(kind.partition("boundary=")[2], tmp_path, 1_000_000, 1_000_000)
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, most))
    try:
        for start in range(0, len(body), 5_000):
            reader.write(body[start : start + 5_000])
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))
    form = reader.finish()

    assert (form.fields["notes"], form.files[0].size_bytes) == ("- Rings.", 100_000)
    with pytest.raises(StoreUnavailable, match="File too large"):
        form.files[0].content.read()
    form.close()


def test_a_form_that_breaks_off_on_a_full_disk_is_given_up(tmp_path: Path) -> None:
    """Its last bytes are still in a buffer."""
    body, kind = multipart({}, {"bundle": b"x" * 2_000})
    reader = MultipartReader(kind.partition("boundary=")[2], tmp_path, 1_000_000, 1_000_000)
    _, most = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, most))
    try:
        reader.write(body[:1_500])
        with pytest.raises(InvalidRequest):
            reader.finish()
        reader.give_up()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))


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
        (b'--b\r\nContent-Disposition: form-data; name="scope"\r\n\r\n' + b"x" * 1_100_000, 413),
        (b"--b\r\n" + b"X: y\r\n" * 20, 400),
        (b'--b\r\nContent-Disposition: form-data; name="a"\r\n\r\n\r\n' * 200 + b"--b--", 400),
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
