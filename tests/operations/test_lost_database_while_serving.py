"""catalog.db is removed under a running service: nothing is acknowledged that would be lost."""

from pathlib import Path

import pytest

from support.author import add_account
from support.folders import filled_folder
from support.people import PASSWORD
from support.service import running_service
from support.widgets import widget_line
from widget_catalog.catalog.node.node import prepare_node
from widget_catalog.core.data_folder import DataFolder

pytestmark = pytest.mark.slow

_CLOCK = "/api/v1/widgets/acme/clock"
_SENTENCE = "database file is gone or was replaced"


def test_a_removed_database_refuses_writes_and_is_made_by_nobody(tmp_path: Path) -> None:
    data = filled_folder(tmp_path / "data", widget_line("acme/clock"))
    node = prepare_node(data)
    add_account(node, "ann")
    node.store.close()
    with running_service(data, "--workers", "1") as service, service.client() as client:
        assert client.post(_CLOCK).status_code == 200
        for file in data.glob("catalog.db*"):
            file.unlink()

        credentials = {"username": "ann", "password": PASSWORD}
        refused = [client.post(_CLOCK) for _ in range(3)]
        refused += [client.post("/api/auth/sign-in", json=credentials) for _ in range(3)]
        health = client.get("/api/health")

        assert [it.status_code for it in refused] == [503] * 6
        assert all(_SENTENCE in it.json()["error"] for it in refused)
        assert health.status_code == 503
        assert health.json()["checks"]["database"] == "damaged"
        assert _SENTENCE in health.json()["error"]
        assert client.get(_CLOCK).status_code == 200
        assert _SENTENCE in DataFolder(data).damage.read_text()
    assert not list(data.glob("catalog.db*"))
    assert service.log.count("A job failed") <= 2
