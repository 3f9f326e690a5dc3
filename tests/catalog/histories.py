"""Generated histories of catalogs: widgets are added, renamed, hidden and counted."""

import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import msgspec
from hypothesis import strategies as st

from catalog.search.oracle import Key, Shown
from support.folders import empty_folder
from support.widgets import add_old_widgets, import_widgets, version_line, widget_line
from widget_catalog.catalog.model.events import Imported, Revoked, Unrevoked
from widget_catalog.catalog.model.widgets import Revocation
from widget_catalog.catalog.node.node import Node, open_node
from widget_catalog.catalog.reading.catalog import CatalogReader
from widget_catalog.catalog.replica.reader import ReplicaReader
from widget_catalog.catalog.store.downloads import add_downloads
from widget_catalog.catalog.store.widgets import find_widget, replace_widget
from widget_catalog.core.actors import COMMAND_LINE
from widget_catalog.core.clock import from_ms, iso
from widget_contract.names import Scope, WidgetName

# A small vocabulary, so that many texts are similar; letters that fold, compose and widen in odd
# ways.
TOKENS = [
    "a", "A", "b", "ab", "ba", "aa", "ｂ", "Ａ", "ß", "ss", "ẞ", "s", "ſ", "İ", "i", "ı", "\u0307",
    "\u0301", "e", "é", "ﬁ", "f", "K", "k", "Å", "å", "ｶ\uff9e", "ガ", "%", "_", "-", "\U0010ffff",
    "¨", "\u034f", "й", "Ά",
    " ", " ", " ", "  ", "\u3000", "\u00a0", "\t", "\n", "\x1f",
]  # fmt: skip
KEYS = [(scope, name) for scope in ("a", "a-b", "a0", "b") for name in ("a", "a-", "a0", "b", "ba",
        "c", "c-c", "cc", "d", "z")]  # fmt: skip

MEMORY = Path("/dev/shm")
"""Where a folder costs no disk writes, on the systems that have it."""

# Texts that many widgets share, or that are prefixes of each other.
ALIKE = ["a", "a b", "a bb", "ab", "b a", "xa xb", "x a b", "ba ab", "ß", "SS", "a　b"]

texts = st.sampled_from(ALIKE) | st.lists(st.sampled_from(TOKENS), min_size=1, max_size=6).map(
    "".join
)
descriptions = st.none() | texts | st.just("")
keys = st.sampled_from(KEYS)
counts = st.integers(0, 2) | st.sampled_from([10, 2**31, 2**53 - 10])


class Add(NamedTuple):
    """Add a new widget."""

    key: Key
    shown: Shown


class Publish(NamedTuple):
    """A version of a widget; the newest determines its text."""

    which: int
    display_name: str
    description: str | None
    is_newest: bool


class Count(NamedTuple):
    which: int
    downloads: int


class Turn(NamedTuple):
    """A listed widget becomes unlisted, and vice versa."""

    which: int


class Yank(NamedTuple):
    """The newest version of a widget is yanked, or unyanked."""

    which: int


class Revoke(NamedTuple):
    """The newest version of a widget is revoked, or no longer."""

    which: int


shown = st.builds(
    Shown, texts, descriptions, st.sampled_from([True, False, None]),
    st.sampled_from([True, True, True, False]), counts,
)  # fmt: skip
some = st.integers(0, 1000)
adds = st.builds(Add, keys, shown)


def _crowd(seed: int) -> list[Add]:
    """Many widgets from one number: generating each of them would take most of the time."""
    chance = Random(seed)

    def text() -> str:
        if chance.random() < 0.5:
            return chance.choice(ALIKE)
        return "".join(chance.choices(TOKENS, k=chance.randint(1, 6)))

    return [
        Add(key, Shown(text(), chance.choice([None, text()]), chance.choice([True, False, None]),
                       chance.random() < 0.9, chance.choice([0, 0, 1, 2, 2**53 - 10])))
        for key in chance.sample(KEYS, chance.randint(20, 40))
    ]  # fmt: skip


crowds = st.integers(0, 1 << 32).map(_crowd)
changes = st.one_of(
    adds,
    st.builds(Publish, some, texts, descriptions, st.booleans()),
    st.builds(Count, some, st.integers(1, 3)),
    st.builds(Turn, some),
)


@dataclass
class Played:
    """A catalog and the oracle's state of it, changed together."""

    node: Node
    catalog: CatalogReader
    widgets: dict[Key, Shown] = field(default_factory=dict)
    published: Counter[Key] = field(default_factory=Counter)

    def change(self, change: Any) -> None:
        if isinstance(change, Add):
            self.add([change])
        elif self.widgets:
            key = list(self.widgets)[change.which % len(self.widgets)]
            match change:
                case Publish():
                    self.publish(key, change)
                case Count():
                    self.count(key, change.downloads)
                case Turn():
                    self.turn(key)
                case Yank():
                    self.yank(key)
                case Revoke():
                    self.revoke(key)

    def add(self, added: list[Add]) -> None:
        new = {it.key: it.shown for it in added if it.key not in self.widgets}
        add_old_widgets(self.node, *(it.line(key) for key, it in new.items()))
        self.widgets |= new

    def publish(self, key: Key, change: Publish) -> None:
        self.published[key] += 1
        minutes = self.published[key] * (60_000 if change.is_newest else -60_000)
        version = version_line(
            f"2.0.{self.published[key]}", publishedAt=iso(from_ms(1_780_000_000_000 + minutes))
        )
        if not change.is_newest:
            version["publishedAt"] = iso(from_ms(1_000_000_000_000 + minutes))
        import_widgets(self.node, widget_line("/".join(key), versions=[version]))
        if change.is_newest:
            # Not by import, which no longer accepts control characters; but old texts contain
            # some.
            texts = {"display_name": change.display_name, "description": change.description}
            self.replace(key, **texts)
            self.widgets[key] = replace(
                self.widgets[key],
                display_name=change.display_name,
                description=change.description,
            )

    def count(self, key: Key, downloads: int) -> None:
        with self.node.store.writing() as tx:
            stored = find_widget(tx.connection, Scope(key[0]), WidgetName(key[1]))
            assert stored is not None
            add_downloads(tx, {stored.id: downloads})
        known = self.widgets[key]
        self.widgets[key] = replace(known, downloads=known.downloads + downloads)

    def turn(self, key: Key) -> None:
        is_listed = not self.widgets[key].is_listed
        self.replace(key, is_listed=is_listed)
        self.widgets[key] = replace(self.widgets[key], is_listed=is_listed)

    def yank(self, key: Key) -> None:
        with self.node.store.reading() as connection:
            stored = find_widget(connection, Scope(key[0]), WidgetName(key[1]))
        assert stored is not None
        newest, *older = stored.widget.versions
        turned = msgspec.structs.replace(newest, is_yanked=not newest.is_yanked)
        self.replace(key, versions=(turned, *older))

    def revoke(self, key: Key) -> None:
        with self.node.store.publishing() as tx:
            stored = find_widget(tx.connection, Scope(key[0]), WidgetName(key[1]))
            assert stored is not None
            newest, *older = stored.widget.versions
            subject: dict[str, Any] = {"scope": key[0], "name": key[1], "version": newest.number}
            revocation: Revocation | None = None
            event: Revoked | Unrevoked = Unrevoked(**subject)
            if newest.revocation is None:
                revocation = Revocation("It steals.", from_ms(tx.at_ms))
                event = Revoked(**subject, reason=revocation.reason)
            new = stored.widget.with_versions([newest.with_revocation(revocation), *older])
            replace_widget(tx, stored, new, COMMAND_LINE, event)

    def replace(self, key: Key, **fields: Any) -> None:
        with self.node.store.publishing() as tx:
            stored = find_widget(tx.connection, Scope(key[0]), WidgetName(key[1]))
            assert stored is not None
            new = msgspec.structs.replace(stored.widget, **fields)
            told = Imported(scope=key[0], name=key[1])
            replace_widget(tx, stored, new, COMMAND_LINE, told)


@contextmanager
def playing(initial: list[Add], cache_bytes: int) -> Iterator[Played]:
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
        node = open_node(empty_folder(Path(folder) / "data"), is_durable=False)
        reader = ReplicaReader(node.folder.replica)
        catalog = CatalogReader(reader, node.revision, node.counts, "https://x", cache_bytes)
        played = Played(node, catalog)
        played.add(initial)
        try:
            yield played
        finally:
            catalog.close()
            node.store.close()
