"""The shapes of the wire: what answers and requests contain."""

import msgspec


class Size(msgspec.Struct, frozen=True):
    """A size on the dashboard's grid, in cells."""

    w: int
    h: int
