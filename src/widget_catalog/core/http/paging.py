"""Links between the pages of a list."""

from typing import NamedTuple, Self
from urllib.parse import urlencode

from .call import Call


class Paging(NamedTuple):
    page: int
    pages: int
    previous: str | None
    next: str | None

    @classmethod
    def of(cls, call: Call, page: int, limit: int, total: int) -> Self:
        pages = max(1, -(-total // limit))

        def link(to: int) -> str | None:
            if not 1 <= to <= pages:
                return None
            return f"?{urlencode({**call.query(), 'page': str(to)})}"

        return cls(page, pages, link(min(page - 1, pages)), link(page + 1))
