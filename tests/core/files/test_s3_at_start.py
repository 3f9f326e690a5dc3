"""A service whose object store cannot be used does not start, and says why."""

from pathlib import Path

import pytest

from support.commands import widget_catalog
from support.s3 import SECRET, settings_of
from support.service import free_port

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    ("wrong", "expected"),
    [
        ({"bundles": "s3://nowhere"}, "NoSuchBucket"),
        ({"AWS_SECRET_ACCESS_KEY": "another"}, "SignatureDoesNotMatch"),
        ({"s3_endpoint": "http://127.0.0.1:1"}, "Could not connect"),
    ],
)
def test_errors_are_reported_at_the_start(
    rclone_port: int, tmp_path: Path, wrong: dict[str, str], expected: str
) -> None:
    settings = {**settings_of(rclone_port), **wrong}
    environment = {
        name if name.startswith("AWS_") else f"WIDGET_CATALOG_{name.upper()}": value
        for name, value in settings.items()
    }
    port = str(free_port())
    said = widget_catalog(
        "serve", "--port", port, "--data", tmp_path / "data", environment=environment
    )
    assert said.code == 1
    assert expected in said.err
    assert SECRET not in said.out + said.err
