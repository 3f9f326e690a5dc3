"""Keywords are taken from untrusted manifests: what is none is omitted."""

import json

import pytest

from widget_catalog.catalog.keywords import keywords_of


@pytest.mark.parametrize(
    ("keywords", "wanted"),
    [
        (["clock", "Zeit"], ("clock", "Zeit")),
        (["ok", 7, None, [], "", " ", "a\nb", "a\x00b", "x" * 101], ("ok",)),
        ([str(it) for it in range(20)], tuple(str(it) for it in range(12))),
        ("clock", ()),
        ({"a": 1}, ()),
        (None, ()),
    ],
)
def test_keywords_are_texts_of_one_line(keywords: object, wanted: tuple[str, ...]) -> None:
    assert keywords_of(json.dumps({"keywords": keywords, "other": [1, {"x": "y"}]})) == wanted


@pytest.mark.parametrize(
    "manifest",
    [None, "", "keywords", '["keywords"]', '{"keywords": ["a"', "7", r'{"keywords": ["\ud800"]}'],
)
def test_a_manifest_that_cannot_be_read_has_none(manifest: str | None) -> None:
    assert keywords_of(manifest) == ()
