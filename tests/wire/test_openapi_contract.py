"""The published OpenAPI document and the service: schemathesis looks for where they differ.

It sends what the document allows and what it forbids, by all of its checks: statuses, content
types, headers, bodies, methods, required parameters, refused nonsense.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from support.service import Service

_RUN = "from schemathesis.cli import schemathesis; schemathesis()"

# A range in npm's grammar has no pattern: most of the texts that the document allows are refused.
_ANY = """
[[operations]]
include-name = "POST /api/v1/widgets/resolve"
[operations.checks.positive_data_acceptance]
enabled = false
"""

# Names of its own invention lead to 404 nearly always, so a second run uses these.
_KNOWN = """
[parameters]
"path.scope" = "acme"
"path.name" = "clock"
"path.version" = "1.0.0"
"""


@pytest.mark.parametrize(
    ("config", "examples"), [(_ANY, 60), (_KNOWN + _ANY, 100)], ids=["any name", "a known widget"]
)
def test_every_answer_is_as_the_document_says(
    unharmed_service: Service, tmp_path: Path, config: str, examples: int
) -> None:
    (tmp_path / "schemathesis.toml").write_text(config)
    options = [
        "--checks=all",
        "--mode=all",
        "--phases=examples,coverage,fuzzing",
        f"--max-examples={examples}",
        "--seed=1",
    ]

    run = subprocess.run(
        [sys.executable, "-c", _RUN, "run", f"{unharmed_service.url}/openapi.json", *options],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=250,
        check=False,
    )

    assert run.returncode == 0, run.stdout[-20_000:] + run.stderr
    with unharmed_service.client() as client:
        document = client.get("/openapi.json").json()
    operations = sum(len(path.keys() & {"get", "post"}) for path in document["paths"].values())
    assert f"Tested: {operations}\n" in run.stdout, run.stdout
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
