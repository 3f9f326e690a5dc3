"""The files that a publish request announces: which are accepted, and all errors at once."""

import time

import pytest

from publishing.attached_files import FILES
from support.people import announce
from support.site_with_people import People
from widget_contract.version_files import path_conflicts

PICTURE = announce({"screenshots/a.png": FILES["screenshots/light.png"]})[0]
PATH_RULE = (
    "must be README.md, or a picture such as screenshots/light.png: a name of at most 64 letters, "
    "digits, hyphens and underscores, and png, jpg or webp."
)


def test_no_other_path_is_accepted(people: People) -> None:
    cases = [
        "index.js", "index.css", "readme.md", "README.MD", "/README.md", "./README.md", "a.png",
        "", "screenshots/../README.md", "screenshots/..png", "screenshots/a/b.png",
        "screenshots/.png", "screenshots/a.thumb.webp", "screenshots/a.svg", "screenshots/a.gif",
        "screenshots/a.jpeg", "screenshots/a.png\n", "screenshots/a.png/", "screenshots\\a.png",
        "screenshots/a%2f.png", "screenshots/a b.png", "screenshots/ä.png",
        f"screenshots/{'a' * 65}.png", "screenshots/-.png", "screenshots/a.PNG",
        "Screenshots/a.png", "screenshots/a.png\0", "a" * 5000,
    ]  # fmt: skip
    for path in cases:
        response = people.ann.request("ann/new", files=[{**PICTURE, "path": path}])

        assert response.status == 400
        expected = f"files[0].path: {path[:80]!a} is not allowed; it {PATH_RULE}"
        assert response.json()["error"] == expected


@pytest.mark.parametrize(
    ("files", "sentences"),
    [
        ("README.md", ["files: must be a list of objects with path, size and sha256Hash."]),
        ({}, ["files: must be a list of objects with path, size and sha256Hash."]),
        ([1], ["files[0]: must be an object with path, size and sha256Hash."]),
        ([None], ["files[0]: must be an object with path, size and sha256Hash."]),
        (
            [{}],
            [
                f"files[0].path: {PATH_RULE}",
                "files[0].size: must be the size of the file in bytes.",
                "files[0].sha256Hash: must be the SHA-256 of the file, 64 hexadecimal digits.",
            ],
        ),
        ([{**PICTURE, "size": 0}], ["files[0].size: the file is empty."]),
        ([{**PICTURE, "size": True}], ["files[0].size: must be the size of the file in bytes."]),
        ([{**PICTURE, "size": -1}], ["files[0].size: must be the size of the file in bytes."]),
        (
            [{**PICTURE, "size": 1_048_577}],
            [
                (
                    "files[0].size: screenshots/a.png has 1,048,577 bytes; at most 1,048,576 are "
                    "allowed."
                )
            ],
        ),
        (
            [{**PICTURE, "path": "README.md", "size": 65_537}],
            ["files[0].size: README.md has 65,537 bytes; at most 65,536 are allowed."],
        ),
        ([PICTURE, PICTURE], ["files: screenshots/a.png is given twice."]),
        ([PICTURE] * 3, ["files: screenshots/a.png is given twice."]),
        (
            [PICTURE, {**PICTURE, "path": "screenshots/A.jpg"}],
            [("files: screenshots/a.png and screenshots/A.jpg have the same name. Rename one.")],
        ),
        (
            [{**PICTURE, "path": f"screenshots/{it}.png"} for it in range(7)],
            ["files: has 7 pictures; at most 6 are allowed."],
        ),
        (
            [{**PICTURE, "path": f"screenshots/{it}.png"} for it in range(900)],
            ["files: has 900 files; at most a README.md and 6 pictures are allowed."],
        ),
    ],
)
def test_errors_of_files_are_reported_all_at_once(
    people: People, files: object, sentences: list[str]
) -> None:
    for action in ("request", "check"):
        response = people.ann.request("ann/new", files=files, action=action)
        numbered = [f"({i}) {it}" for i, it in enumerate(sentences, 1)]
        expected = " ".join(numbered if len(sentences) > 1 else sentences)
        assert (response.status, response.json()["error"]) == (400, expected)


def test_errors_of_files_come_with_those_of_the_manifest(people: People) -> None:
    response = people.ann.request("ann/new", files=[1], displayName="", keywords=["X"])

    message = response.json()["error"]
    assert "files[0]: must be" in message
    assert "displayName: " in message
    assert "keywords[0]: " in message


def test_a_file_that_is_given_very_often_is_refused_without_delay() -> None:
    """Comparing each with all others took minutes."""
    began = time.process_time()

    assert path_conflicts(["README.md"] * 50_000) == ["files: README.md is given twice."]
    assert time.process_time() - began < 2
