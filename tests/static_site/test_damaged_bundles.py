"""A site never gets other bytes than those that were published."""

from pathlib import Path

import pytest

from support.commands import widget_catalog
from support.folders import filled_folder
from support.widgets import version_line, widget_line

pytestmark = pytest.mark.slow


def test_a_damaged_bundle_is_reported_and_not_written(tmp_path: Path) -> None:
    (tmp_path / "clock.js").write_bytes(b"export default 1;\n")
    stored = {"bundleFile": "clock.js", "bundleUrl": None, "bundleSize": None, "sha256Hash": None}
    clock = widget_line("acme/clock", versions=[version_line("1.0.0", **stored)])
    data = filled_folder(tmp_path / "data", clock, base_folder=tmp_path)
    (bundle,) = (data / "bundles").rglob("*.js")
    bundle.chmod(0o600)
    bundle.write_bytes(b"export default 2;\n")

    said = widget_catalog(
        *("site", tmp_path / "site", "--base-url", "https://x.example", "--data", data)
    )

    name = f"{bundle.parent.name}{bundle.name}"
    assert said.code == 1
    assert said.err == (f"Error: The stored bundle {name} is damaged; doctor says whose it is.\n")
    assert not (tmp_path / "site" / "cdn/@acme/clock/1.0.0/index.js").exists()
