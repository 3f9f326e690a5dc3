"""Two hundred concurrent publishes, from several processes, to a service of two workers."""

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from support.author import Author, add_account, assert_whole, token_of
from support.service import running_service
from widget_catalog.catalog.node.node import prepare_node

pytestmark = pytest.mark.slow

_PROCESSES = 4
_EACH = 50
_THREADS = 10

# Each process requests its own versions, and some that the others request, too.
_CLIENT = """
import json, sys, time
from concurrent.futures import ThreadPoolExecutor
from support.author import Author

url, token, number, each, threads = *sys.argv[1:3], *map(int, sys.argv[3:])

def publish(i):
    key = f"ann/w{i % 7}"
    version = f"1.{i}.0" if i % 5 == 0 else f"2.{i}.{number}"
    js = f"// {key} {version} by {number}".encode() * 500
    with Author(url, token) as author:
        # An account can have two versions checked at a time, and an address send eight files.
        while (answer := author.publish(key, version, js)).status_code == 429:
            assert answer.headers["retry-after"] == "5"
            time.sleep(0.1)
    return [key, version, answer.status_code, answer.json()]

with ThreadPoolExecutor(threads) as pool:
    print(json.dumps(list(pool.map(publish, range(each)))))
"""


def test_two_hundred_publishes_at_once_succeed_or_are_cleanly_refused(tmp_path: Path) -> None:
    node = prepare_node(tmp_path / "data")
    add_account(node, "ann")
    no_quotas = ["--set", "max_versions_per_hour=0", "--set", "max_open_requests=0"]
    with running_service(node.folder.path, "--workers", "2", *no_quotas) as service:
        token = token_of(service, "ann")
        command = [sys.executable, "-c", _CLIENT, service.url, token]
        processes = [
            subprocess.Popen(
                [*command, str(number), str(_EACH), str(_THREADS)],
                stdout=subprocess.PIPE,
                cwd=Path(__file__).parents[1],
            )
            for number in range(_PROCESSES)
        ]
        responses = [it for process in processes for it in json.loads(process.communicate()[0])]

        assert len(responses) == _PROCESSES * _EACH
        assert {status for _, _, status, _ in responses} == {200, 409}
        wanted = {(key, version) for key, version, _, _ in responses}
        succeeded = Counter(
            (key, version) for key, version, status, _ in responses if status == 200
        )
        # Of the requests for the same version, exactly one succeeded; none was rejected wrongly.
        assert succeeded == dict.fromkeys(wanted, 1)
        _assert_catalog_shows(service.url, token, wanted)
    assert "Traceback" not in service.log


def _assert_catalog_shows(url: str, token: str, wanted: set[tuple[str, str]]) -> None:
    shown = set()
    with Author(url, token) as author:
        for key in {key for key, _ in wanted}:
            for entry in author.client.get(f"/api/v1/widgets/{key}").json()["versions"]:
                shown.add((key, entry["version"]))
                assert_whole(author.client, entry)
    assert shown == wanted
