"""Snapshot: the catalog as one signed file, for networks without a connection; `widget-catalog
snapshot …` and `keys create`.
"""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from widget_contract.names import Scope

from ..catalog.node.context import (
    ConfigOption,
    DataOption,
    command_group,
    command_node,
    existing_node,
    fail,
    finish_interrupted_import,
    report,
    say,
)
from ..core.clock import counted
from ..core.commands import DATA, Command
from ..core.features import Feature
from ..core.load_settings import load_settings

if TYPE_CHECKING:
    from .keys import VerifyingKey
    from .layout import Header

snapshots = command_group(
    "snapshot", "Transfer the catalog, or its changes, to another network as one signed file."
)
keys = command_group("keys", "Create keys to sign snapshots.")

FileArgument = Annotated[
    Path, typer.Argument(metavar="FILE", help="The snapshot file.", show_default=False)
]
PublicKeyOption = Annotated[
    Path | None,
    typer.Option(
        "--key",
        metavar="FILE",
        help="The public key of its creator, such as snapshot.pub.",
        show_default=False,
    ),
]
UnsignedOption = Annotated[
    bool,
    typer.Option("--unsigned", help="Accept an unsigned snapshot; its integrity is still checked."),
]


@keys.command("create")
def create_keys(
    name: Annotated[
        Path,
        typer.Argument(
            metavar="NAME", help="Write NAME.key and NAME.pub; existing files are not overwritten."
        ),
    ] = Path("snapshot"),
) -> None:
    """Create an Ed25519 key pair and print the public key's fingerprint.

    NAME.key signs snapshots: keep it only where they are created. NAME.pub verifies them: copy it
    to where they are loaded, through another channel than the snapshots.
    """
    from .keys import create_keys

    made = create_keys(name)
    print(made.public_pem, end="")  # noqa: T201
    report(f"Wrote {made.private}, which only you can read, and {made.public}.")
    report(f"Fingerprint: {made.fingerprint}")


@snapshots.command()
def create(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="The file to write.", show_default=False)
    ],
    scope: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SCOPE", help="Only the widgets of this scope; repeatable.", show_default="all"
        ),
    ] = None,
    key: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The private key to sign it with, such as snapshot.key.",
            show_default="not signed",
        ),
    ] = None,
    since: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Only changes since this older snapshot, which must be loaded first.",
            show_default=False,
        ),
    ] = None,
    data: DataOption = None,
    config: ConfigOption = None,
) -> None:
    """Write the catalog to one file: widgets, versions, revocations, bundles and style sheets.

    The service may be running; the snapshot is consistent. The file is replaced atomically. It is a
    tar file of an export, which other programs can unpack and import can read. It does not include
    accounts, the audit log and keys. External bundles remain links. Exit code 1: nothing was
    written.
    """
    from ..core.progress import counting
    from .keys import read_signing_key
    from .reader import read_header
    from .writer import Wanted, make_snapshot

    settings = load_settings({"data": data}, config)
    signing = None if key is None else read_signing_key(key)
    if file.is_dir():
        fail(f"{file} is a folder; pass a file name.")
    # The signature of an older snapshot does not matter, because it is compared with the feed.
    base = None if since is None else read_header(since)
    scopes = sorted({str(Scope.parse(it.removeprefix("@"))) for it in scope or ()})
    like_base = None if base is None else base.scopes
    base_url = settings.public_url if settings.base_url else None
    wanted = Wanted(base_url, scopes or like_base, base)
    node = existing_node(settings)
    made = make_snapshot(node.store, node.bundles, file, wanted, signing, partial(counting, say))
    report(f"Wrote {_summary(made)} to {file}.")
    if signing is None:
        report("It is not signed: use --key, so that its origin can be verified.")


@snapshots.command()
def verify(
    file: FileArgument, key: PublicKeyOption = None, unsigned: UnsignedOption = False
) -> None:
    """Verify the signature and the content of a snapshot. Needs no service and no data folder.

    Exit code 1: the errors are listed, with the names of the files inside the snapshot.
    """
    from ..core.progress import counting
    from .reader import open_snapshot

    with open_snapshot(file, _public_key(key, unsigned=unsigned)) as snapshot:
        with counting(say, "Verifying", snapshot.header.files + 1) as advance:
            snapshot.verify(advance)
        header = snapshot.header
    signed = f"signed with {header.key}" if header.key else "not signed"
    report(f"{file} is intact and {signed}: {_summary(header)}.")
    origin = header.base_url or "a catalog without a base_url"
    report(f"It is a snapshot of {origin} after change {header.seq:,} at {header.at}.")


@snapshots.command()
def load(
    file: FileArgument,
    key: PublicKeyOption = None,
    unsigned: UnsignedOption = False,
    into_owned: Annotated[
        bool,
        typer.Option(
            "--into-owned", help="Also load into scopes that belong to an account or organization."
        ),
    ] = False,
    data: DataOption = None,
    config: ConfigOption = None,
) -> None:
    """Load a snapshot into a new catalog, or into one that was loaded from a snapshot.

    The whole file is verified first; if it is invalid, nothing is changed. New widgets and versions
    are added, and the states yanked, deprecated, revoked, unlisted and official are updated.
    Download counts of existing widgets are kept. Loading the same file again changes nothing. The
    service may be running.
    """
    from ..catalog.node.node import make_index_ready
    from ..core.progress import counting
    from .loader import load_snapshot
    from .reader import open_snapshot

    settings = load_settings({"data": data}, config)
    bar = partial(counting, say)
    with open_snapshot(file, _public_key(key, unsigned=unsigned)) as snapshot:
        with bar("Verifying", snapshot.header.files + 1) as advance:
            snapshot.verify(advance)
        node = command_node(settings)
        finish_interrupted_import(node)
        loaded = load_snapshot(
            node.store,
            node.bundles,
            snapshot,
            bar,
            into_owned=into_owned,
            make_index_ready=partial(make_index_ready, node),
        )
    new = loaded.imported
    were = "was" if loaded.changed == 1 else "were"
    report(
        f"Added {counted(new.widgets_added, 'widget')} and "
        f"{counted(new.versions_added, 'version')} ({counted(new.bundles_stored, 'bundle')} "
        f"stored); changed {counted(loaded.changed, 'widget')} that {were} there."
    )


def _public_key(path: Path | None, *, unsigned: bool) -> "VerifyingKey | None":
    from .keys import read_verifying_key

    if (path is None) != unsigned:
        fail("Pass the public key with --key, or --unsigned for an unsigned snapshot.")
    return None if path is None else read_verifying_key(path)


def _summary(header: "Header") -> str:

    what = (
        f"{counted(header.widgets, 'widget')}, {counted(header.versions, 'version')} and "
        f"{counted(header.files, 'bundle file')}"
    )
    return what if header.base is None else f"a delta since change {header.base.seq:,}: {what}"


FEATURE = Feature(
    name="snapshot",
    tables=("widget_catalog.snapshot.store",),
    commands=(Command(snapshots, DATA), Command(keys, DATA)),
)
