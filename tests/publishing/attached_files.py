"""A README and pictures to publish, and what the catalog shows of them."""

import hashlib
from typing import Any

from support.pictures import a_picture
from support.site_with_people import People

README = "# Clock\n\nShows the time in *every* zone. ⏰\n".encode()
FILES = {
    "screenshots/light.png": a_picture("png", 1280, 800),
    "README.md": README,
    "screenshots/dark.jpg": a_picture("jpg", 300, 200),
    "screenshots/Small_2-x.webp": a_picture("webp", 10, 4000),
}
PLACE = "/cdn/@ann/new/1.0.0/"


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def shown(people: People, key: str = "ann/new", version: str = "1.0.0") -> list[dict[str, Any]]:
    files: list[dict[str, Any]] = people.site.get(f"/api/v1/widgets/{key}/{version}").json()[
        "files"
    ]
    return files
