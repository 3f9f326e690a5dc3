"""What is drawn on a picture of a widget."""

import base64
import time
from typing import Any, NamedTuple

import pytest
from playwright.sync_api import Page

from support.chromium import TIMEOUT_MS

_DRAWN = """async (png) => {
  const image = new Image();
  image.src = "data:image/png;base64," + png;
  await image.decode();
  const { width, height } = image;
  const context = new OffscreenCanvas(width, height).getContext("2d");
  context.drawImage(image, 0, 0);
  const { data } = context.getImageData(0, 0, width, height);
  const at = (x, y) => [...data.subarray((y * width + x) * 4, (y * width + x) * 4 + 3)];
  const ground = at(width >> 1, 4);
  let marked = 0, left = width, top = height, right = 0, bottom = 0;
  for (let y = 4; y < height - 4; y++) {
    for (let x = 4; x < width - 4; x++) {
      if (at(x, y).every((part, i) => Math.abs(part - ground[i]) < 48)) continue;
      marked += 1;
      left = Math.min(left, x); right = Math.max(right, x);
      top = Math.min(top, y); bottom = Math.max(bottom, y);
    }
  }
  return { width, height, ground, marked, left, top, right, bottom };
}"""


class Drawn(NamedTuple):
    """The size of a picture, its ground, and where pixels differ from the ground."""

    width: int
    height: int
    ground: list[int]
    marked: int
    left: int
    top: int
    right: int
    bottom: int

    @property
    def is_centered(self) -> bool:
        across = abs(self.left + self.right - self.width)
        down = abs(self.top + self.bottom - self.height)
        return across < self.width * 0.1 and down < self.height * 0.25

    @property
    def is_inside(self) -> bool:
        """Whether nothing reaches the edge, where it would be cut off."""
        inner = range(8, self.width - 8), range(6, self.height - 6)
        return (
            self.left in inner[0]
            and self.right in inner[0]
            and {self.top, self.bottom} <= {*inner[1]}
        )

    def is_whole(self, shape: tuple[int, int], ground: list[int]) -> bool:
        """Whether a widget of this shape is drawn on this ground, centered and not cut off."""
        # A picture has whole pixels; the frame may begin between two.
        has_shape = (self.width, self.height) == pytest.approx(shape, abs=1)
        is_placed = self.is_inside and self.is_centered
        return has_shape and self.ground == ground and self.marked > 300 and is_placed


def wait_until_drawn(
    page: Page, shape: tuple[int, int], ground: list[int], counting: Page
) -> bytes:
    """The picture of the frame, when its widget is whole: it is drawn by another process."""
    deadline = time.monotonic() + TIMEOUT_MS / 1000
    while True:
        png = page.locator("iframe").screenshot()
        found: dict[str, Any] = counting.evaluate(_DRAWN, base64.b64encode(png).decode())
        drawn = Drawn(**found)
        if drawn.is_whole(shape, ground):
            return png
        assert time.monotonic() < deadline, drawn
        page.wait_for_timeout(50)
