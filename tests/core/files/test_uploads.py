"""The contract of every place of uploads. A new one gets a line in `PLACES`."""

import io
import itertools
from pathlib import Path

import pytest

from core.files.test_contract import CONTENT, PLACES
from support.s3 import object_store
from widget_catalog.core.errors import BundleNotFound
from widget_catalog.core.files.contract import Uploads
from widget_catalog.core.files.local import LocalUploads
from widget_catalog.core.files.s3 import S3Uploads
from widget_catalog.core.files.s3_client import Bucket

_numbers = itertools.count()
PATHS = ("index.js", "index.css", "README.md", "screenshots/a.png", "screenshots/b.png")


@pytest.mark.parametrize("place", PLACES)
def test_uploads_are_kept_by_path_and_removed_with_their_request(
    request: pytest.FixtureRequest, tmp_path: Path, place: str
) -> None:
    uploads: Uploads = LocalUploads(tmp_path)
    if place != "local":
        port = request.getfixturevalue(f"{place}_port")
        uploads = S3Uploads(Bucket(object_store(port, prefix=f"uploads{next(_numbers)}")))
    for one in ("one", "one1"):
        for path in PATHS:
            uploads.put(io.BytesIO(f"{one} {path}".encode()), one, path)

    assert uploads.list_requests() == {"one", "one1"}
    uploads.remove("one")
    assert uploads.list_requests() == {"one1"}
    for path in PATHS:
        with pytest.raises(BundleNotFound):
            uploads.open("one", path, 100)
        with uploads.open("one1", path, 100) as stream:
            assert stream.read() == f"one1 {path}".encode()


@pytest.mark.slow
def test_of_an_upload_no_more_is_read_than_asked_for(rclone_port: int) -> None:
    """The holder of an upload URL may have sent more than announced, if the store allows it."""
    uploads = S3Uploads(Bucket(object_store(rclone_port, prefix=f"uploads{next(_numbers)}")))
    uploads.put(io.BytesIO(CONTENT), "one", "index.js")

    with uploads.open("one", "index.js", 11) as stream:
        assert stream.read() == CONTENT[:11]
