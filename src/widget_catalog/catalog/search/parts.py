"""The components of the search index: only flat arrays, so that they can be stored in a file."""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np

from ..replica.file import release_mapped
from ..replica.ordinals import Array, Groups
from ..replica.reader import ReplicaReader
from ..replica.records import damaged
from .facets import FacetParts, FacetsBuilder
from .ranking import Field, RankingBuilder, RankingParts
from .texts import Texts
from .words import WordsBuilder, WordsParts, label_words


class IndexParts(NamedTuple):
    """All listed widgets by ordinal, in the order of their numbers, and the lookup structures.

    `ranks` are their positions in the order of scope and name. `keys` are their folded
    names, in order, and `key_ordinals` the corresponding ordinals.
    """

    ids: Array
    version_counts: Array
    is_official: Array
    ranks: Array
    scopes: Array
    scope_starts: Array
    members: Array
    member_starts: Array
    keys: Array
    key_starts: Array
    key_ordinals: Array
    names: WordsParts
    descriptions: WordsParts
    labels: WordsParts
    ranking: RankingParts
    facets: FacetParts

    def flat(self) -> Iterator[Array]:
        for part in self:
            yield from part if isinstance(part, tuple) else (part,)

    @staticmethod
    def from_flat(arrays: Sequence[Array]) -> "IndexParts":
        """The inverse of `flat`."""
        each = iter(arrays)
        plain = list(islice(each, len(IndexParts._fields) - 5))
        words = [WordsParts(*islice(each, len(WordsParts._fields))) for _ in range(3)]
        ranking = RankingParts(*islice(each, len(RankingParts._fields)))
        return IndexParts._make([*plain, *words, ranking, tuple(each)])


def _with(texts: Sequence[str], others: Sequence[str]) -> list[str]:
    return [f"{it} {other}" if other else it for it, other in zip(texts, others, strict=True)]


def build_parts(reader: ReplicaReader) -> IndexParts:
    """Read every index row. Call this inside a snapshot."""
    names, descriptions, labels = WordsBuilder(), WordsBuilder(), WordsBuilder()
    ranking, facets = RankingBuilder(), FacetsBuilder()
    ids, version_counts = [np.empty(0, np.int32)], [np.empty(0, np.int32)]
    is_official = [np.empty(0, np.bool_)]
    scopes: list[str] = []
    keys: list[str] = []
    for some in reader.stream_index_columns():
        ids.append(some.ids.astype(np.int32))
        version_counts.append(some.version_counts.astype(np.int32))
        is_official.append(some.is_official)
        scopes += some.scopes
        display_names = names.add(some.display_names)
        keys += display_names
        folded = descriptions.add(some.descriptions)
        texts = {
            Field.DISPLAY_NAME: display_names,
            Field.NAME: _with(some.names, some.other_names),
            Field.SCOPE: some.scopes,
            Field.KEYWORD: some.terms,
            Field.DESCRIPTION: _with(folded, some.other_descriptions),
            Field.README: some.readmes,
        }
        ranking.add(texts)
        labels.add(label_words(some.labels))
        facets.add(some)
        # Documents are stored between the index rows, and are mapped, too.
        release_mapped(reader.path)
    by_name = reader.list_ids_by_name()
    all_ids = np.concatenate(ids)
    if not np.array_equal(np.sort(by_name), all_ids):
        raise damaged("the index of names")
    ranks = np.empty(len(all_ids), np.int32)
    ranks[np.searchsorted(all_ids, by_name)] = np.arange(len(all_ids))
    groups, members = Groups.members(scopes)
    group_names = Texts.of(groups)
    by_key = sorted(range(len(keys)), key=keys.__getitem__)
    sorted_keys = Texts.of([keys[i] for i in by_key])
    return IndexParts(
        all_ids,
        np.concatenate(version_counts),
        np.concatenate(is_official),
        ranks,
        group_names.characters,
        group_names.starts,
        members.items,
        members.starts,
        sorted_keys.characters,
        sorted_keys.starts,
        np.array(by_key, dtype=np.uint32),
        names.build(),
        descriptions.build(),
        labels.build(),
        ranking.build(),
        facets.build(),
    )
