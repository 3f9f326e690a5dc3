"""Capabilities: which of them covers another, and what becomes of malformed ones."""

import itertools
import json
import re
import time
from functools import cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET

from widget_contract.capabilities import (
    MAX_CAPABILITIES,
    MAX_NARROWED,
    Permission,
    capabilities_in,
    covers,
    in_words,
    name_of,
    parse_capabilities,
    permission_changes,
    requested,
    with_capabilities,
)
from widget_contract.wire_running import Capability

# The letter c is in no pattern, so that it can stand for everything that only `*` matches.
NAMES = ["".join(it) for n in range(5) for it in itertools.product("abc", repeat=n)]
SERVICES = ["lock", "unlock", "other"]

patterns = st.text("ab*", min_size=1, max_size=4).map("lock.{}".format)
capabilities = st.builds(
    Capability,
    domain=st.sampled_from(["lock", "light"]),
    access=st.sampled_from(["read", "control"]),
    entities=st.just(UNSET) | st.lists(patterns, min_size=1, max_size=3).map(tuple),
    services=st.just(UNSET)
    | st.lists(st.sampled_from(SERVICES[:2]), min_size=1, max_size=2).map(tuple),
)


@cache
def named_by(pattern: str) -> frozenset[str]:
    expression = re.compile(pattern.replace(".", "[.]").replace("*", "[a-z]*"))
    domains = ("lock", "light")
    named = (f"{domain}.{name}" for domain in domains for name in NAMES)
    return frozenset(it for it in named if expression.fullmatch(it))


def granted(capability: Capability) -> set[tuple[str, str, str, str]]:
    """Everything that it allows, one by one: the access, the entity, the service."""
    entities = (f"{capability.domain}.*",) if capability.entities is UNSET else capability.entities
    services = SERVICES if capability.services is UNSET else capability.services
    accesses = ["read", "control"] if capability.access == "control" else ["read"]
    names = frozenset().union(*map(named_by, entities))
    return {
        (capability.domain, access, name, service)
        for access in accesses
        for name in names
        for service in services
    }


@given(capabilities, capabilities)
def test_one_covers_another_if_it_allows_everything_the_other_does(
    old: Capability, new: Capability
) -> None:
    assert covers(old, new) == (granted(new) <= granted(old))


@given(capabilities)
def test_each_covers_itself(capability: Capability) -> None:
    assert covers(capability, capability)


@given(capabilities, capabilities, capabilities)
def test_covering_is_transitive(one: Capability, two: Capability, three: Capability) -> None:
    if covers(one, two) and covers(two, three):
        assert covers(one, three)


@given(st.recursive(st.none() | st.booleans() | st.integers() | st.text(max_size=5), st.lists))
def test_whatever_is_stated_is_read_or_refused(stated: Any) -> None:
    for one in (stated, [{"domain": stated, "access": stated}], [{"domain": "a", "access": "read",
                "entities": stated, "services": stated}]):  # fmt: skip
        found, errors = parse_capabilities(one)
        count = len(one) if isinstance(one, list) else 0
        assert one is None or errors or len(found) == count
        assert all(it.startswith("capabilities") and it.endswith(".") for it in errors)


def test_the_valid_ones_of_a_stored_manifest_are_read_whatever_the_others_are() -> None:
    lock = {"domain": "lock", "access": "control", "entities": ["lock.front_*"]}
    stated = [lock, {"domain": "api.example", "access": "write"}, 7]

    assert capabilities_in(json.dumps({"capabilities": stated})) == (
        Capability("lock", "control", ("lock.front_*",)),
    )


@pytest.mark.parametrize(
    "text",
    [None, "", "{", "[1]", '"x"', '{"capabilities": 5}', "[" * 50_000, '{"a":"\ud800"}', b"\xff"],
)
def test_a_stored_manifest_may_be_anything(text: str | bytes | None) -> None:
    assert capabilities_in(text) == ()
    assert requested(["network"], text) == ("network",)


def test_comparing_the_largest_manifests_takes_little_time() -> None:
    def largest(name: str, last: str) -> tuple[Permission, ...]:
        """Every pattern is compared with every other one, over its whole length."""
        some = [f"lock.{name}{i}" for i in range(MAX_NARROWED // 2 - 1)]
        stated = {"domain": "lock", "access": "read", "entities": [*some, f"lock.{last}"]}
        found, errors = parse_capabilities([stated, {**stated, "services": ["x"]}, stated])
        assert (len(found), len(errors)) == (1, 1)
        (found, errors) = parse_capabilities([stated, stated])
        assert (len(found), errors) == (2, [])
        return found

    # All but the last are covered by the last one, and by no other.
    old, new = largest("a*a*a*b", "*a*"), largest("a" * 200, "b")
    began = time.process_time()
    assert len(permission_changes(old, new).added) == 2
    assert time.process_time() - began < 1


def test_only_so_many_pairs_of_patterns_are_compared() -> None:
    """Pages and `resolve` compare versions of authors who choose the patterns."""

    def version(name: str) -> tuple[Permission, ...]:
        """As many patterns as allowed, in as many capabilities."""
        entities = [[f"lock.*{name}{i}_{at}_*" for at in range(4)] for i in range(MAX_CAPABILITIES)]
        stated = [{"domain": "lock", "access": "read", "entities": some} for some in entities]
        found, errors = parse_capabilities(stated)
        assert (len(found), errors) == (MAX_CAPABILITIES, [])
        return found

    def narrower(permission: Permission) -> Permission:
        assert isinstance(permission, Capability)
        assert permission.entities is not UNSET
        return Capability("lock", "read", tuple(f"{entity}x" for entity in permission.entities))

    old = version("a")
    new = [narrower(it) for it in old]

    assert permission_changes(old, old).added == ()
    assert permission_changes(old, [*new[:2], *old[2:]]).added == ()
    # Beyond the limit, they count as added, which asks people once more than necessary.
    assert permission_changes(old, new).added == tuple(new[2:])


def test_a_pattern_for_each_of_the_most_capabilities_is_compared() -> None:
    old = [Capability("lock", "read", (f"lock.a{i:02}*",)) for i in range(MAX_CAPABILITIES)]
    new = [Capability("lock", "read", (f"lock.a{i:02}b*",)) for i in range(MAX_CAPABILITIES)]

    assert permission_changes(old, new).added == ()
    assert permission_changes(new, old).added == tuple(old)


def test_permissions_name_each_capability_once_after_the_declared_ones() -> None:
    read = Capability("camera", "read")
    some = [read, Capability("lock", "control"), Capability("lock", "control", ("lock.a",)), read]

    assert with_capabilities(["x", "read:camera"], some) == ("x", "read:camera", "control:lock")


def test_long_lists_are_cut_in_messages() -> None:
    capability = Capability(
        "cover", "control", tuple(f"cover.{name}" for name in "abcdefg"), ("open",)
    )

    assert in_words(capability, 2) == "control covers (cover.a, cover.b and 5 more; only open)"
    assert in_words(capability).endswith("cover.g; only open)")
    assert (in_words("network"), name_of("network")) == ("network", "network")
