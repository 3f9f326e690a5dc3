"""Joins src/*.js into the modules that pages import, and the script and the page of the frame.

Run it after a change in src: `./dev run python clients/js/join.py`. A test compares the two. There
is no bundler and no minifier: the files are concatenated, without imports, comments and
indentation. What a module exports is in its public files.
"""

import base64
import hashlib
import re
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).parent
_IMPORT = re.compile(r'^import \{[^}]*\} from "\./\w+\.js";\n', re.MULTILINE)
_COMMENT = re.compile(r"^ *(//|/\*\*)(?:.*\*/$|(?:.*\n +\*)*.*)\n| +// [^\"'`\n]*$", re.MULTILINE)
_INDENTATION = re.compile(r"^ +", re.MULTILINE)
_EXPORT = re.compile(r"^export ", re.MULTILINE)


class Module(NamedTuple):
    about: str
    files: tuple[str, ...]
    """Each after its dependencies."""
    public: tuple[str, ...]
    imports: str = ""
    """From modules beside it, instead of the files that they are made of."""


MODULES = {
    "client.js": Module(
        "The client of Widget Catalog for browsers, Node and Bun. client.d.ts says what it does.",
        ("errors", "requests", "shapes", "events", "waiting", "files", "catalog"),
        ("errors", "catalog"),
    ),
    "sandbox.js": Module(
        "Runs widgets of Widget Catalog in sandboxed frames. sandbox.d.ts says what it does.",
        ("bridge", "revocations", "chosen", "sandbox"),
        ("sandbox",),
        """\
import { mayBeNarrowed, requested } from "./capabilities.js";
import { CatalogError, InvalidRequest, Revoked, Unavailable } from "./client.js";
import { bytesOf, fetchImage, fetchJson, fetchPlainly, storageOf } from "./defaults.js";
import { checked, Grants } from "./grants.js";
""",
    ),
}
_FRAME = "frame.html"


def joined() -> dict[str, str]:
    """The text of each file that is made, by its name."""
    return {name: _module(it) for name, it in MODULES.items()} | {_FRAME: _frame()}


def _module(module: Module) -> str:
    about = f"// {module.about}\n// Made of the files in clients/js/src by clients/js/join.py.\n"
    parts = [_content(f"{it}.js", is_public=it in module.public) for it in module.files]
    return "\n".join([about, *([module.imports] if module.imports else []), *parts])


def _frame() -> str:
    """Its policy names the hash of its script, so that no other script runs."""
    script = f"\n{_content('frame.js', is_public=True)}"
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    page = (HERE / "src" / _FRAME).read_text(encoding="utf-8")
    return page.replace("SCRIPT_HASH", f"sha256-{digest}").replace("SCRIPT", script)


def _content(name: str, *, is_public: bool) -> str:
    text = _IMPORT.sub("", (HERE / "src" / name).read_text(encoding="utf-8"))
    if not is_public:
        text = _EXPORT.sub("", text)
    text = _INDENTATION.sub("", _COMMENT.sub("", text))
    return re.sub(r"\n{3,}", "\n\n", text.lstrip())


if __name__ == "__main__":
    for name, text in joined().items():
        (HERE / name).write_text(text, encoding="utf-8")
