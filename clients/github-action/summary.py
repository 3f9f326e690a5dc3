"""Prints the JSON document of `widget publish` as Markdown: a row for each widget."""

import json
import sys
from typing import Any

RESULTS = {
    "published": "published",
    "already-published": "unchanged",
    "already-published-differs": "skipped: this version is published already",
    "not-tried": "not tried",
}


def row(widget: dict[str, Any]) -> str:
    key = "/".join(filter(None, [widget.get("scope"), widget.get("name")]))
    where = cell(key or widget.get("folder") or "–")
    if widget.get("pageUrl"):
        where = f"[{where}]({cell(widget['pageUrl'])})"
    result = RESULTS.get(widget.get("status", ""), "failed")
    if error := widget.get("error"):
        result = " ".join(["**failed**:", error, *(widget.get("details") or [])])
    return f"| {where} | {cell(widget.get('version') or '–')} | {cell(result)} |"


def cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")


if __name__ == "__main__":
    result = json.load(sys.stdin)
    widgets = result.get("widgets", [result])
    rows = ["| Widget | Version | Result |", "|---|---|---|", *map(row, widgets)]
    sys.stdout.write("\n".join(rows) + "\n")
