"""The number of the replica's format covers the fields that its records are made of."""

from widget_catalog.catalog.model.query import FACETS
from widget_catalog.catalog.replica.records import FORMAT
from widget_contract.manifest_details import DETAIL_FIELDS

# A replica of the same format is not rebuilt, so it would lack a new field. Change all three.
OF_FORMAT = 22
FILTERED = ("sdk_range", "permission", "keyword")
SHOWN = ("keywords", "readme", "homepage", "repository", "author", "translations")


def test_another_field_needs_another_format() -> None:
    assert (FORMAT, tuple(FACETS), DETAIL_FIELDS) == (OF_FORMAT, FILTERED, SHOWN)
