"""The interface of progress bars: commands show them, actions advance them."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext

Advance = Callable[[int], None]
Bar = Callable[[str, int], AbstractContextManager[Advance]]
"""Opens a progress bar: what is done, and how many steps it takes."""


def no_bar(_what: str, _total: int) -> AbstractContextManager[Advance]:
    return nullcontext(lambda _: None)
