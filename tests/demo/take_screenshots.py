"""Takes the demo catalog's screenshots again: `./dev run python tests/demo/take_screenshots.py`.

For each widget, its latest version in light and dark, with `widget screenshot`, written as WebP
next to `catalog.ndjson`, whose lines name them, and their thumbnails, so that no start of
`serve --demo` makes them. With names such as `catalog/clock`, only those.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from PIL import Image

from widget_catalog.catalog.store.attached_content import inspect_picture

DEMO = Path(__file__).parents[2] / "src" / "widget_catalog" / "demo"
CATALOG = DEMO / "catalog.ndjson"
QUALITY = 82


def main(wanted: list[str]) -> None:
    widgets = [json.loads(line) for line in CATALOG.read_text(encoding="utf-8").splitlines()]
    for widget in widgets:
        offered = [it for it in widget["versions"] if not it["yanked"]]
        key = f"{widget['scope']}/{widget['name']}"
        if offered and (not wanted or key in wanted):
            latest = max(offered, key=lambda it: it["publishedAt"])
            latest["files"] = take(key, widget, latest)
            print(key, latest["version"])
    lines = [json.dumps(it, ensure_ascii=False, separators=(",", ":")) for it in widgets]
    CATALOG.write_text("\n".join(lines) + "\n", encoding="utf-8")


def take(key: str, widget: dict[str, Any], version: dict[str, Any]) -> list[dict[str, str]]:
    manifest = json.loads(version.get("manifest", "{}"))
    same = ("version", "minSize", "maxSize", "sdkVersion", "permissions")
    described = {
        **manifest,
        **{it: version[it] for it in same},
        "scope": widget["scope"],
        "name": widget["name"],
        "displayName": version["displayName"] or widget["displayName"],
        "main": "index.js",
    }
    target = DEMO / "screenshots" / key
    target.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "widget.json").write_text(json.dumps(described), encoding="utf-8")
        (folder / "index.js").write_bytes((DEMO / version["bundleFile"]).read_bytes())
        tool = Path(sys.executable).with_name("widget")
        subprocess.run([tool, "screenshot", folder], check=True, timeout=120)
        files = []
        for scheme in ("light", "dark"):
            picture = target / f"{scheme}.webp"
            with Image.open(folder / "screenshots" / f"{scheme}.png") as taken:
                taken.convert("RGB").save(picture, quality=QUALITY, method=6)
            thumbnail = target / f"{scheme}.thumb.webp"
            thumbnail.write_bytes(inspect_picture(picture.read_bytes(), "webp").thumbnail)
            for path in (picture, thumbnail):
                file = path.relative_to(DEMO).as_posix()
                files.append({"path": f"screenshots/{path.name}", "file": file})
    return files


if __name__ == "__main__":
    main(sys.argv[1:])
