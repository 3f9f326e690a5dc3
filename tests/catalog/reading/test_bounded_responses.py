"""Responses for one client: equal parts are stored once, and their total is bounded."""

import pytest

from widget_catalog.catalog.reading.resolve_responses import BoundedResponses
from widget_catalog.core.errors import Busy, InvalidRequest
from widget_catalog.core.http.content import AnyContent, Packer

MB = 1 << 20


def test_what_is_sent_is_what_was_given() -> None:
    for parts in ([b"a"], [b"a" * 200_000], [b"a" * 90, b"b" * 70_000, b"c", b"d" * 70_000, b"e"]):
        assert BoundedResponses(Packer()).content(parts).body == b"".join(parts)


def test_large_responses_that_nobody_reads_are_bounded() -> None:
    responses = BoundedResponses(Packer())
    unread: list[AnyContent] = [responses.content([bytes(10 * MB)]) for _ in range(3)]
    with pytest.raises(Busy):
        responses.content([bytes(10 * MB)])
    assert responses.content([b"small"]).body == b"small"
    unread.pop()
    assert responses.content([bytes(10 * MB)]).size == 10 * MB


def test_the_same_part_counts_once() -> None:
    part = bytes(MB)
    assert BoundedResponses(Packer()).content([part] * 500).size == 500 * MB


def test_large_responses_count_while_they_are_made() -> None:
    responses = BoundedResponses(Packer())
    with responses.making() as note, responses.making() as note_other:
        for _ in range(20):
            note(MB)
        for _ in range(10):
            note_other(MB)
        with pytest.raises(Busy):
            note_other(5 * MB)
        with responses.making() as note_small:
            note_small(MB)
    assert responses.content([bytes(30 * MB)]).size == 30 * MB


def test_short_parts_count_each_time_they_are_copied() -> None:
    responses = BoundedResponses(Packer())
    repeated = [b",", bytes(10_000), b",", bytes(20_000)]
    with pytest.raises(InvalidRequest, match="fewer"):
        responses.content([bytes(31 * MB), *(repeated * 200)])
    assert responses.content([bytes(30 * MB)]).size == 30 * MB


def test_a_response_that_never_fits_is_an_error_of_the_request() -> None:
    """With 503, clients would repeat it in vain."""
    responses = BoundedResponses(Packer())
    with responses.making() as note:
        for _ in range(32):
            note(MB)
        with pytest.raises(InvalidRequest, match="fewer"):
            note(MB)
    assert responses.content([bytes(30 * MB)]).size == 30 * MB
