"""Pictures that take long to decode delay neither other people's changes nor all publishing."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
from PIL import Image

from publishing.publish_requests import PUBLISH, sha
from support.people import BUNDLE, Person, announce
from support.pictures import a_huge_png, a_picture, encoded
from support.site import Reply, Sent
from support.site_with_people import People
from widget_catalog.catalog.store.attached_content import Picture
from widget_catalog.core.errors import BundleRefused, TooOften
from widget_catalog.core.files.contract import Kind
from widget_catalog.publishing.picture_checks import PictureChecks, SentPicture
from widget_catalog.publishing.picture_cost import expected_s, find_excess

# The most that is decoded. It takes half a second.
EXPENSIVE = a_huge_png(4_096, 8, 6, 4)
TOO_EXPENSIVE = a_huge_png(4_096, 16, 6, 4, interlaced=True)
_SCAN = b"\xff\xda"
# Two that are checked, and those that wait for them.
_MAX_OF_ACCOUNT = 18
_CONFIRMED = 21


def requested(person: Person, key: str, pictures: list[bytes]) -> str:
    """A request with its uploads."""
    files = {f"screenshots/p{number}.png": it for number, it in enumerate(pictures)}
    made = person.request(key, files=announce(files)).json()
    assert person.upload(made["uploadUrl"], BUNDLE).status == 200
    for path, content in files.items():
        assert person.upload(made["uploadUrls"][path], content).status == 200
    version_id: str = made["versionId"]
    return version_id


def sent(person: Person, path: str, body: object) -> Sent:
    headers = {**person.headers, "content_type": "application/json"}
    return "POST", path, json.dumps(body).encode(), headers


def confirming(person: Person, version_id: str) -> Sent:
    return sent(person, PUBLISH, {"action": "confirm", "versionId": version_id})


def told(response: Reply) -> Any:
    return response.status, response.json()


def test_nobody_waits_for_the_pictures_of_an_account_that_confirms_many_times(
    people: People,
) -> None:
    people.eve.publish("eve/clock")
    version_id = requested(people.ann, "ann/new", [EXPENSIVE])
    deprecating = "/api/widgets/eve/clock/versions/1.0.0/deprecate"
    without_pictures = requested(people.eve, "eve/other", [])

    arrived = people.site.together(
        [
            *[confirming(people.ann, version_id)] * _CONFIRMED,
            sent(people.eve, deprecating, {"message": "Use another."}),
            confirming(people.eve, without_pictures),
        ]
    )

    of_eve = _CONFIRMED, _CONFIRMED + 1
    confirmed = [it for number, it in arrived if number not in of_eve and it.status == 200]
    before = arrived[: [it for _, it in arrived].index(confirmed[0])]
    assert {number: it.status for number, it in before if number in of_eve} == dict.fromkeys(
        of_eve, 200
    )
    # Repeated confirmations wait, and have the same result; too many are told when to try again.
    assert len(confirmed) > 1
    assert all(told(it) == told(confirmed[0]) for it in confirmed)
    refused = [it for _, it in before if it.status == 429]
    assert len(refused) == _CONFIRMED - _MAX_OF_ACCOUNT
    assert told(refused[0]) == (
        429,
        {
            "error": "At most 2 versions of one account can be checked at a time. Try again in 5 "
            "seconds."
        },
    )
    assert refused[0].headers["retry-after"] == "5"


def test_further_versions_of_an_account_wait_for_the_first_two(people: People) -> None:
    ids = [requested(people.ann, f"ann/new{it}", [a_picture()]) for it in range(5)]

    arrived = people.site.together([confirming(people.ann, it) for it in ids])

    assert [it.status for _, it in arrived] == [200] * 5


def test_the_limit_is_for_one_account_and_ends_with_its_requests() -> None:
    checks = PictureChecks()

    def one_more(account: str, max_wait_s: float = 0) -> AbstractAsyncContextManager[None]:
        return checks.one_more(account, max_wait_s)

    async def check_several() -> None:
        async with one_more("ann"):
            async with one_more("ann"), one_more("eve"):
                for max_wait_s in (0, 0.01):
                    with pytest.raises(TooOften):
                        await one_more("ann", max_wait_s).__aenter__()
            async with one_more("ann"):
                pass

    asyncio.run(check_several())


def test_a_picture_that_would_take_too_long_is_refused_by_its_header(people: People) -> None:
    files = {"screenshots/a.png": TOO_EXPENSIVE, "screenshots/b.png": b"never decoded"}

    response = people.ann.publish("ann/new", files=files)

    assert told(response) == (
        400,
        {
            "error": "screenshots/a.png takes too long to decode: 4,096 × 4,096 pixels of 64 bits, "
            "interlaced. Save it with 8 bits per channel, without interlacing, or smaller. Nothing "
            "was published."
        },
    )


def _with_scans(content: bytes, count: int) -> bytes:
    """Its last scan is repeated, which a decoder goes over each time."""
    return content[:-2] + content[content.rindex(_SCAN) : -2] * count + b"\xff\xd9"


def _jpeg(width: int, height: int) -> bytes:
    return encoded(Image.new("L", (width, height)), "jpg", progressive=True)


@pytest.mark.parametrize(
    ("kind", "content", "sentence"),
    [
        ("png", a_huge_png(4_096, 8, 6, 4), None),
        ("png", a_huge_png(4_096, 16, 2, 3), "4,096 × 4,096 pixels of 48 bits. Save it"),
        ("png", a_huge_png(4_096, 8, 2, 3, interlaced=True), "of 24 bits, interlaced. Save it"),
        ("png", a_huge_png(2_048, 16, 6, 4, interlaced=True), None),
        ("png", a_picture() + b"iCCP" * 5, "has several color profiles."),
        ("png", a_picture()[:33] + TOO_EXPENSIVE[8:], "has a second header"),
        ("png", a_picture()[:8] + b"\0\0\0\0tEXtcrc." + a_picture()[8:], "in the wrong place."),
        ("png", a_picture()[:20], None),
        ("jpg", _jpeg(4_096, 4_096), None),
        ("jpg", _with_scans(_jpeg(4_096, 4_096), 20), "4,096 × 4,096 pixels in 26 scans."),
        ("jpg", _with_scans(_jpeg(800, 600), 20), None),
        ("jpg", b"\xff\xd8" + _SCAN * 20, "pixels in 20 scans."),
        ("jpg", a_picture("jpg"), None),
        ("webp", a_picture("webp"), None),
    ],
    ids=lambda it: it if isinstance(it, str) else "",
)
def test_the_cost_is_pixels_times_depth_times_passes(
    kind: Kind, content: bytes, sentence: str | None
) -> None:
    found = find_excess(content, kind)

    assert found is None if sentence is None else sentence in (found or "")


@pytest.mark.parametrize("kind", ["png", "jpg", "webp"])
def test_the_expected_time_is_that_of_the_size_in_the_header(kind: Kind) -> None:
    small, large = (
        expected_s(encoded(Image.new("RGB", size), kind), kind)
        for size in ((640, 320), (2_560, 1_280))
    )

    assert large == pytest.approx(16 * small)
    assert expected_s(b"no header", kind) > 4 * large


def test_each_form_of_webp_has_its_size_in_the_header() -> None:
    size = 700, 500
    lossless = encoded(Image.new("RGB", size), "webp", lossless=True)
    forms = [a_picture("webp", *size), encoded(Image.new("RGBA", size), "webp"), lossless]

    assert [it[12:16] for it in forms] == [b"VP8 ", b"VP8X", b"VP8L"]
    assert len({expected_s(it, "webp") for it in forms}) == 1


def test_a_small_picture_passes_the_first_large_ones_of_other_accounts() -> None:
    decoded: list[str] = []
    checks = PictureChecks()

    async def at_once(work: Callable[[], bytes | None]) -> bytes | None:
        return work()

    async def check(scope: str, content: bytes) -> None:
        picture = SentPicture(sha(content), "png", lambda: content)
        await checks.check([picture], scope, at_once)
        decoded.append(scope)

    async def check_all() -> None:
        large = (check(f"eve{it}", a_huge_png(4_000 + it)) for it in range(4))
        await asyncio.gather(*large, check("ann", a_picture()))

    asyncio.run(check_all())
    assert decoded[:2] == ["eve0", "ann"]


def test_what_was_refused_is_not_read_again_and_nothing_after_it_is() -> None:
    read: list[str] = []

    def picture(content: bytes) -> SentPicture:
        def note() -> bytes:
            read.append(sha(content))
            return content

        return SentPicture(sha(content), "png", note)

    async def at_once(work: Callable[[], bytes | None]) -> bytes | None:
        return work()

    async def check(content: bytes, *more: bytes) -> Picture | str:
        in_turn: Callable[[Callable[[], bytes | None]], Awaitable[bytes | None]] = at_once
        found = await checks.check([picture(it) for it in (content, *more)], "ann", in_turn)
        try:
            return found.find(sha(content), "png")
        except BundleRefused as error:
            return error.message

    async def check_twice() -> list[Picture | str]:
        return [await check(it, b"another") for it in (damaged, TOO_EXPENSIVE) * 2]

    checks, damaged = PictureChecks(), a_picture()[:-40]
    said = asyncio.run(check_twice())

    assert said[:2] == said[2:]
    assert said[0] == "is damaged or incomplete, and cannot be shown."
    assert read == [sha(damaged), sha(TOO_EXPENSIVE)]
