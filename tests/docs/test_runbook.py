"""Every alert has a section in the runbook, and every section an alert."""

import re
from pathlib import Path

import yaml  # type: ignore[import-untyped]

ROOT = Path(__file__).parents[2]


def test_every_alert_has_its_section_in_the_runbook() -> None:
    groups = yaml.safe_load((ROOT / "deploy/alerts.yaml").read_text())["groups"]
    alerts = [rule for group in groups for rule in group["rules"] if "alert" in rule]
    sections = re.findall(r"^## (\w+)$", (ROOT / "docs/runbook.md").read_text(), re.MULTILINE)
    assert [it["alert"] for it in alerts] == sections
    for alert in alerts:
        assert alert["annotations"]["runbook"] == f"docs/runbook.md#{alert['alert'].lower()}"
