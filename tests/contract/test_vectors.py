"""The test vectors for clients in other languages match our code and npm's `semver`."""

import itertools
import json
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest

import widget_contract
from widget_contract import wire
from widget_contract.capabilities import (
    Permission,
    covers,
    in_words,
    names_of,
    parse_capabilities,
    permission_changes,
    requested,
    with_capabilities,
)
from widget_contract.errors import InvalidManifest, InvalidName
from widget_contract.grants import Grants
from widget_contract.manifest_details import DeclaredDetails
from widget_contract.manifests import Manifest, parse_manifest
from widget_contract.names import Scope, WidgetName
from widget_contract.semver import InvalidRange, InvalidVersion, Range, SemVer, is_compatible
from widget_contract.texts import fold
from widget_contract.version_files import detail_path, file_path, parse_file_path

# Of the context of a widget.
KEYS = ("call", "fetchImage", "fetchJson", "locate", "states", "storage", "watchStates", "eval")
FOLDER = Path(widget_contract.__file__).parent / "vectors"
NPM_RESPONSES = r"""
const semver = require("semver");
const all = { includePrerelease: true };
const admits = (range, sdk) => semver.satisfies(sdk, range, all);
const { versions, ranges } = JSON.parse(require("fs").readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify({
  valid: versions.valid.map((it) => semver.valid(it) !== null),
  ascending: versions.ascending.slice(1).map((it, i) => semver.compare(versions.ascending[i], it)),
  same: versions.same.map(([one, other]) => semver.compare(one, other)),
  cases: ranges.cases.map(({ range, sdk }) =>
    admits(range, sdk) || admits(range, sdk.split("+")[0].split("-")[0])),
  unreadable: ranges.unreadable.map((it) => semver.validRange(it, all)),
}));
"""


def read(name: str) -> Any:
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="ascii"))


def test_every_file_is_described_and_has_cases() -> None:
    files = {it.name for it in FOLDER.glob("*.json")}
    readme = (FOLDER / "README.md").read_text(encoding="utf-8")
    names = "names versions ranges manifests capabilities grants addresses wire folding"
    assert {f"{it}.json" for it in names.split()} == files
    for file in files:
        assert f"`{file}`" in readme
        about, *lists = read(file.removesuffix(".json")).values()
        assert about.endswith(".")
        assert all(lists)


def test_names() -> None:
    names = read("names")
    for text in names["valid"]:
        assert (Scope.parse(text), WidgetName.parse(text)) == (text, text)
    for text in names["invalid"]:
        for kind in (Scope, WidgetName):
            with pytest.raises(InvalidName):
                kind.parse(text)


def test_versions() -> None:
    versions = read("versions")
    for text in versions["valid"]:
        assert SemVer.parse(text).text == text
    for text in versions["invalid"]:
        with pytest.raises(InvalidVersion):
            SemVer.parse(text)
    for low, high in itertools.pairwise(versions["ascending"]):
        assert SemVer.parse(low) < SemVer.parse(high)
    for one, other in versions["same"]:
        assert SemVer.parse(one) == SemVer.parse(other)


def test_ranges() -> None:
    ranges = read("ranges")
    for case in ranges["cases"]:
        admits = is_compatible(case["range"], SemVer.parse(case["sdk"]))
        assert admits == case["admits"], case
    assert {case["admits"] for case in ranges["cases"]} == {True, False}
    for text in ranges["unreadable"]:
        with pytest.raises(InvalidRange):
            Range.parse(text)
    for text in ranges["any"]:
        assert Range.parse(text).is_any


@pytest.mark.slow
def test_npm_says_the_same_of_versions_and_ranges(node: Path, npm_folder: Path) -> None:
    versions, ranges = read("versions"), read("ranges")
    asked = subprocess.run(
        [node, "-e", NPM_RESPONSES],
        cwd=npm_folder,
        input=json.dumps({"versions": versions, "ranges": ranges}),
        capture_output=True,
        text=True,
        check=True,
    )
    responses = json.loads(asked.stdout)
    assert responses == {
        "valid": [True] * len(versions["valid"]),
        "ascending": [-1] * (len(versions["ascending"]) - 1),
        "same": [0] * len(versions["same"]),
        "cases": [it["admits"] for it in ranges["cases"]],
        "unreadable": [None] * len(ranges["unreadable"]),
    }


MANIFESTS = read("manifests")["cases"]
ABSENT = msgspec.to_builtins(DeclaredDetails())  # A case may leave out details.


def test_manifests() -> None:
    for case in MANIFESTS:
        if "faults" in case:
            with pytest.raises(InvalidManifest) as raised:
                parse_manifest(case["manifest"], case["request"])
            assert raised.value.errors == case["faults"]
        else:
            manifest = parse_manifest(case["manifest"], case["request"])
            assert _values_of(manifest) == {**ABSENT, **case["values"]}


def _values_of(manifest: Manifest) -> Any:
    fields = {it.encode_name: getattr(manifest, it.name) for it in msgspec.structs.fields(manifest)}
    del fields["text"]
    fields["version"] = manifest.version.text
    return json.loads(msgspec.json.encode(fields, enc_hook=str))


def test_capabilities() -> None:
    capabilities = read("capabilities")
    for case in capabilities["covering"]:
        old, new = (msgspec.convert(case[key], Permission) for key in ("old", "new"))
        assert covers(old, new) == case["covers"], case["about"]
    for case in capabilities["comparing"]:
        changes = permission_changes(_requested(case["old"]), _requested(case["new"]))
        words = [in_words(one) for one in changes.added if not isinstance(one, str)]
        assert names_of(changes.added) == case["added"], case["about"]
        assert names_of(changes.removed) == case["removed"], case["about"]
        assert words == case["words"], case["about"]


def _requested(manifest: dict[str, Any]) -> tuple[Permission, ...]:
    stated = parse_capabilities(manifest.get("capabilities")).capabilities
    permissions = with_capabilities(manifest.get("permissions", []), stated)
    return requested(permissions, json.dumps(manifest))


def test_grants() -> None:
    vectors = read("grants")
    for case in vectors["calls"]:
        grants = Grants(case["grants"], case["declared"])
        assert grants.allow(case["key"], case["args"]) == case["granted"], case["about"]
    for case in vectors["offering"]:
        grants = Grants(case["grants"], case["declared"])
        assert sorted(filter(grants.offers, KEYS)) == case["keys"], case["about"]


def test_addresses() -> None:
    addresses = read("addresses")
    for case in addresses["cases"]:
        version = (case["scope"], case["name"], case["version"])
        assert (file_path(*version), file_path(*version, "index.css")) == (
            case["bundle"],
            case["style"],
        )
        assert detail_path(case["scope"], case["name"]) == case["detail"]
        assert parse_file_path(case["style"]) == (*version, "index.css")
    assert [parse_file_path(it) for it in addresses["notFiles"]] == [None] * 5


def test_folding() -> None:
    for case in read("folding")["cases"]:
        assert fold(case["text"]) == case["folded"], case


def test_every_shape_of_the_wire_has_an_example_in_its_order() -> None:
    seen = set()
    for case in read("wire")["cases"]:
        shape = getattr(wire, case["shape"])
        assert (
            json.loads(msgspec.json.encode(msgspec.convert(case["value"], shape))) == case["value"]
        )
        keys = [it.encode_name for it in msgspec.structs.fields(shape)]
        assert list(case["value"]) == [it for it in keys if it in case["value"]]
        seen.add(case["shape"])
    inner = {"Shape", "Size", "VersionEntry", "WidgetHead", "Widget", "WidgetSummary", "MirrorOf"}
    inner.add("FileToUpload")
    shapes = {name for name, it in vars(wire).items() if isinstance(it, type(wire.Shape))}
    assert shapes - {"Struct"} == seen | inner | {"RegistryWidget"}
