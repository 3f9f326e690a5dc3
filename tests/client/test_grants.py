"""The sandbox grants a call exactly where the vectors of the contract say so."""

import json
import subprocess
from pathlib import Path

from client.runtimes import CLIENT
from support.npm import node_binary

VECTORS = Path(__file__).parents[2] / "src" / "widget_contract" / "vectors" / "grants.json"
CODE = """
import { Grants } from "./grants.js";
const { calls, offering } = JSON.parse(await new Response(process.stdin).text());
const keys = ["call", "fetchImage", "fetchJson", "locate", "states", "storage", "watchStates"];
console.log(JSON.stringify([
  calls.map((it) => new Grants(it.grants, it.declared).allow(it.key, it.args)),
  offering.map((it) => keys.filter((key) => new Grants(it.grants, it.declared).offers(key))),
  new Grants(["control:lock"], ["control:lock"]).allow("call", ["lock.unlock", {
    entity: "lock.a", data: JSON.parse("[".repeat(1e5) + "]".repeat(1e5)),
  }]),
]));
"""


def test_calls_are_granted_as_the_vectors_say() -> None:
    command = [str(node_binary()), "--input-type=module", "-e", CODE]
    text = VECTORS.read_text()
    done = subprocess.run(
        command, cwd=CLIENT, input=text, capture_output=True, text=True, check=True
    )
    calls, offering, too_deep = json.loads(done.stdout)
    vectors = json.loads(text)
    for case, is_granted in zip(vectors["calls"], calls, strict=True):
        assert is_granted == case["granted"], case["about"]
    for case, keys in zip(vectors["offering"], offering, strict=True):
        assert keys == case["keys"], case["about"]
    assert too_deep is False
