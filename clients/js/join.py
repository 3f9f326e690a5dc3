"""Joins src/*.js into client.js, the single module that pages import.

Run it after a change in src: `./dev run python clients/js/join.py`. A test compares the two. There
is no bundler and no minifier: the files are concatenated, without imports and comments, and with
half of the indentation. Only the errors and Catalog are exported.
"""

import re
from pathlib import Path

HERE = Path(__file__).parent
# Each after its dependencies.
_FILES = (
    "errors.js",
    "requests.js",
    "shapes.js",
    "events.js",
    "waiting.js",
    "files.js",
    "catalog.js",
)
_PUBLIC = ("errors.js", "catalog.js")
_ABOUT = """\
// The client of Widget Catalog for browsers, Node and Bun. client.d.ts says what it does.
// Made of the files in clients/js/src by clients/js/join.py.
"""
_IMPORT = re.compile(r'^import \{[^}]*\} from "\./\w+\.js";\n', re.MULTILINE)
_COMMENT = re.compile(r"^ *(//|/\*\*).*\n| +// [^\"'`\n]*$", re.MULTILINE)
_INDENTATION = re.compile(r"^( +)\1", re.MULTILINE)
_EXPORT = re.compile(r"^export ", re.MULTILINE)


def joined() -> str:
    return "\n".join([_ABOUT, *map(_content, _FILES)])


def _content(name: str) -> str:
    text = _IMPORT.sub("", (HERE / "src" / name).read_text(encoding="utf-8"))
    if name not in _PUBLIC:
        text = _EXPORT.sub("", text)
    text = _INDENTATION.sub(r"\1", _COMMENT.sub("", text))
    return re.sub(r"\n{3,}", "\n\n", text.lstrip())


if __name__ == "__main__":
    (HERE / "client.js").write_text(joined(), encoding="utf-8")
