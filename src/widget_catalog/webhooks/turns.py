"""Turns: whose webhooks are served next, so that no owner keeps the others waiting."""

from collections import Counter
from collections.abc import Iterable

from .model import Webhook

# Webhooks served concurrently; deliveries of one webhook are sent one after the other.
_AT_ONCE = 16
# Lower for one owner: slow receivers, however many, leave room for those of others.
OWNER_AT_ONCE = 4


class Turns:
    """Used by one thread."""

    def __init__(self) -> None:
        self._turn = 0
        self._served: dict[str, int] = {}

    def choose(self, due: Iterable[Webhook], busy: Iterable[Webhook]) -> list[Webhook]:
        """Which of the due webhooks are served while `busy` ones are. The owner with the fewest
        comes first; among equals, the one who has waited longest since the last turn.
        """
        taken = Counter(it.owner for it in busy)
        free = _AT_ONCE - taken.total()
        waiting: dict[str, list[Webhook]] = {}
        for it in due:
            waiting.setdefault(it.owner, []).append(it)
        # Who has had nothing to deliver comes first again.
        self._served = {it: turn for it, turn in self._served.items() if it in waiting}
        chosen: list[Webhook] = []
        while len(chosen) < free:
            owners = [it for it in waiting if waiting[it] and taken[it] < OWNER_AT_ONCE]
            if not owners:
                break
            owner = min(owners, key=lambda it: (taken[it], self._served.get(it, 0)))
            chosen.append(waiting[owner].pop(0))
            taken[owner] += 1
            self._turn += 1
            self._served[owner] = self._turn
        return chosen
