"""Keywords of a manifest: which are valid, and what is read of stored ones."""

import json
from typing import Any

import pytest

from contract.manifests import LEAST, errors_of
from widget_contract.errors import InvalidManifest
from widget_contract.manifest_details import details_in
from widget_contract.manifests import parse_manifest


@pytest.mark.parametrize(
    ("stated", "wanted"),
    [
        (None, ()),
        ([], ()),
        (["time-zone", "3d"], ("time-zone", "3d")),
        ([f"k{it}" for it in range(10)], tuple(f"k{it}" for it in range(10))),
        (["x" * 30], ("x" * 30,)),
    ],
)
def test_keywords_are_lowercase_words(stated: Any, wanted: tuple[str, ...]) -> None:
    assert parse_manifest(json.dumps({**LEAST, "keywords": stated})).keywords == wanted


KEYWORD_RULE = "use 2 to 30 lowercase letters, digits and hyphens, such as time-zone."


@pytest.mark.parametrize(
    ("stated", "error"),
    [
        ("clock", 'keywords: must be a list of keywords, such as ["clock", "time-zone"].'),
        (["ok", "ok"], "keywords[1]: ok is given twice."),
        ([f"k{it}" for it in range(11)], "keywords: must not have more than 10 keywords."),
        *[
            (["ok", keyword], f"keywords[1]: {keyword!r} is not a keyword: {KEYWORD_RULE}")
            for keyword in ("a", "Clock", "a b", "-ab", "ab\n", "x" * 31, "", 7, None, ["ab"])
        ],
    ],
)
def test_other_keywords_are_refused(stated: Any, error: str) -> None:
    assert errors_of({**LEAST, "keywords": stated}) == [error]


@pytest.mark.parametrize(
    ("manifest", "wanted"),
    [
        ('{"keywords": ["ok", 7, null, [], "", "Clock", "a b", "ok"]}', {"keywords": ("ok",)}),
        ('{"keywords": "clock"}', {}),
        ("keywords", {}),
        ('["keywords"]', {}),
        ('{"keywords": ["a"', {}),
        (r'{"keywords": ["\ud800"]}', {}),
        ('{"name": "clock"}', {}),
    ],
)
def test_a_stored_manifest_may_be_any_text(manifest: str, wanted: dict[str, Any]) -> None:
    assert details_in(manifest) == wanted


def test_however_deeply_a_value_is_nested_it_is_refused() -> None:
    for depth in [*range(940, 1000), 20_000]:
        nested = "[" * depth + "]" * depth
        text = json.dumps({**LEAST, "keywords": ["NESTED"]}).replace('"NESTED"', nested)

        with pytest.raises(InvalidManifest):
            parse_manifest(text)
        assert details_in(text) == {}
