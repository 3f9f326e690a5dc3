"""The published OpenAPI document and the service: schemathesis looks for differences.

It sends what the document allows and what it forbids, with all of its checks: statuses, content
types, headers, bodies (without undocumented fields), methods, required parameters, rejected
nonsense.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.openapi import closed
from support.service import Service

_RUN = "from schemathesis.cli import schemathesis; schemathesis()"

# Generated names nearly always lead to 404, so a second run uses these. An npm range has no
# pattern: most texts allowed by the document are rejected.
_KNOWN = """
[parameters]
"path.scope" = "acme"
"path.name" = "clock"
"path.version" = "1.0.0"

[[operations]]
include-path = "/api/v1/widgets/resolve"
checks.positive_data_acceptance.enabled = false
"""
_HAS_NO_NAME = ["--exclude-path=/api/v1/widgets/resolve"]


@pytest.mark.parametrize(
    ("config", "examples", "selected"),
    [("", 8, _HAS_NO_NAME), (_KNOWN, 15, [])],
    ids=["any name", "a known widget"],
)
def test_every_response_is_as_the_document_says(
    unharmed_service: Service, tmp_path: Path, config: str, examples: int, selected: list[str]
) -> None:
    (tmp_path / "schemathesis.toml").write_text(config)
    with unharmed_service.client() as client:
        document = client.get("/openapi.json").json()
    (tmp_path / "openapi.json").write_text(json.dumps(closed(document)))
    options = [
        "--mode=all",
        "--phases=examples,coverage,fuzzing",
        f"--max-examples={examples}",
        "--seed=1",
        f"--url={unharmed_service.url}",
        *selected,
    ]

    run = subprocess.run(
        [sys.executable, "-c", _RUN, "run", "openapi.json", *options],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=250,
        check=False,
    )

    assert run.returncode == 0, run.stdout[-20_000:] + run.stderr
    operations = sum(len(path.keys() & {"get", "post"}) for path in document["paths"].values())
    assert f"Tested: {operations - len(selected)}\n" in run.stdout, run.stdout
    passed = re.search(r"(\d+) generated, (\d+)( unique)? .*passed", run.stdout)
    assert passed is not None, run.stdout
    assert int(passed[1]) > 300


def test_the_document_is_the_committed_one_but_for_its_address(unharmed_service: Service) -> None:
    committed = json.loads((Path(__file__).parents[2] / "docs" / "openapi.json").read_text())
    with unharmed_service.client() as client:
        served = client.get("/openapi.json").json()
    assert served["servers"][0]["url"] == unharmed_service.url
    assert list(served["paths"]) == list(committed["paths"])
    assert served["components"]["schemas"] == committed["components"]["schemas"]
