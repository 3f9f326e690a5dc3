"""`./dev release VERSION`: sets the version everywhere, and builds all packages into dist/.

Run again with the same version, it changes no file of the repository and builds the same bytes.
"""

import argparse
import datetime
import sys
from pathlib import Path

from .build import PLACEHOLDERS, build
from .version import CannotRelease, set_version

ROOT = Path(__file__).resolve().parents[1]


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev release", description=__doc__)
    parser.add_argument("version", metavar="VERSION", help="such as 0.2.0")
    parser.add_argument("--repository", metavar="URL", help="the repository that packages name")
    parser.add_argument("--email", help="the authors' address that packages name")
    parser.add_argument(
        "--index", metavar="URL", help="where machines without Python fetch uv (npm package)"
    )
    options = parser.parse_args()
    today = datetime.datetime.now(datetime.UTC).date()
    try:
        changed = set_version(ROOT, options.version, today)
    except CannotRelease as error:
        sys.stderr.write(f"Error: {error}\n")
        return 1
    for path in changed:
        sys.stderr.write(f"Changed {path}\n")
    values = dict(zip(PLACEHOLDERS, (options.repository, options.email), strict=True))
    given = {key: value.rstrip("/") for key, value in values.items() if value}
    for file in build(ROOT, ROOT / "dist", given, options.index):
        sys.stdout.write(f"{file.stat().st_size:>9,}  {file.relative_to(ROOT)}\n")
    if changed:
        tag = f"v{options.version}"
        sys.stderr.write(f"Next: commit these changes as {tag}, tag them, and push the tag:\n")
        sys.stderr.write(f"  git commit -am 'Release {options.version}' && git tag {tag}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
