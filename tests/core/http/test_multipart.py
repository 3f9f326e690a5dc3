"""Forms with files: however the bytes are split, the same form is parsed, and nothing is left."""

import contextlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from support.browsing import multipart
from widget_catalog.core.errors import InvalidRequest
from widget_catalog.core.http.errors import TooLarge
from widget_catalog.core.http.multipart_form import (
    MAX_FILES,
    MultipartReader,
    boundary_of,
)

MOST = 100


def reader_for(kind: str, folder: Path, most: int = 10_000) -> MultipartReader:
    boundary = boundary_of(kind)
    assert boundary
    return MultipartReader(boundary, folder, MOST, most)


def open_files(folder: Path) -> list[Path]:
    """Files of this folder that this process has open, including anonymous ones."""
    open_ = []
    for link in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # The descriptor of the listing itself.
            open_.append(link.readlink())
    return [it for it in open_ if it.is_relative_to(folder)]


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    text=st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), max_size=50),
    content=st.binary(max_size=150) | st.sampled_from([b"\r\n--", b"\r\n" * 30, b"--\r\n--"]),
    size=st.integers(1, 400),
)
def test_chunks_of_any_size_make_the_same_form(
    tmp_path: Path, text: str, content: bytes, size: int
) -> None:
    body, kind = multipart({"scope": text}, {"bundle": content, "style": b""})
    reader = reader_for(kind, tmp_path)
    for start in range(0, len(body), size):
        reader.write(body[start : start + size])
    form = reader.finish()

    assert form.fields == {"scope": text}
    if content:
        (file,) = form.files
        assert (file.field, file.size_bytes) == ("bundle", len(content))
        assert file.content.read() == content[:MOST]
    assert list(tmp_path.iterdir()) == []  # The file is anonymous.
    assert len(open_files(tmp_path)) == len(form.files)
    form.close()
    assert open_files(tmp_path) == []


def test_what_is_cut_short_is_refused_and_leaves_nothing_open(tmp_path: Path) -> None:
    body, kind = multipart({}, {"bundle": b"abc"})
    for end in range(1, len(body) - 4):
        reader = reader_for(kind, tmp_path)
        reader.write(body[:end])
        with pytest.raises(InvalidRequest):
            reader.finish()
        reader.give_up()
        assert open_files(tmp_path) == []


def test_more_than_is_taken_is_refused(tmp_path: Path) -> None:
    body, kind = multipart({}, {"bundle": b"x" * 1000})
    reader = reader_for(kind, tmp_path, most=500)
    with pytest.raises(TooLarge):
        reader.write(body)
    body, kind = multipart({}, {"a": [("a.txt", b"x")] * 101})
    reader = reader_for(kind, tmp_path, most=100_000)
    with pytest.raises(InvalidRequest):
        reader.write(body)
    reader.give_up()


def test_of_many_files_the_first_are_kept_and_all_are_counted(tmp_path: Path) -> None:
    body, kind = multipart({}, {"a": [(f"{i}.txt", b"abc") for i in range(50)], "b": b"xyz"})
    reader = reader_for(kind, tmp_path)
    reader.write(body)
    form = reader.finish()

    assert [it.name for it in form.files] == [f"{i}.txt" for i in range(50)] + ["b.txt"]
    assert {it.size_bytes for it in form.files} == {3}
    assert [it.content.read() for it in form.files] == [b"abc"] * MAX_FILES + [b""] * 41
    assert len(open_files(tmp_path)) == MAX_FILES
    form.close()
    assert open_files(tmp_path) == []


@pytest.mark.parametrize("kind", ["", "text/plain", "application/x-www-form-urlencoded"])
def test_other_bodies_are_no_forms_with_files(kind: str) -> None:
    assert boundary_of(kind) is None
