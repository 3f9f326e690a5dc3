"""The demo catalog, imported through the real action."""

from collections.abc import Callable
from functools import partial
from importlib.resources import files
from pathlib import Path

from support.folders import copy_folder, empty_folder
from support.run_folder import made_once
from widget_catalog.app.start import add_examples
from widget_catalog.catalog.node.node import Node, open_node
from widget_catalog.core.settings import settings_from
from widget_catalog.transfer.import_catalog import import_catalog

DEMO_FOLDER = Path(str(files("widget_catalog") / "demo"))
_MAX_BUNDLE_BYTES = 1 << 21


def import_demo(node: Node, *, into_owned: bool = False) -> None:
    """`into_owned`: also where an organization of the same name has its scope.

    A bundle is compressed when it is requested: compressing all takes five seconds.
    """
    with (DEMO_FOLDER / "catalog.ndjson").open("rb") as lines:
        import_catalog(
            node.store, node.bundles, lines, DEMO_FOLDER, _MAX_BUNDLE_BYTES, into_owned=into_owned
        )
    _compress_on_request(node)


def demo_folder(data: Path) -> Path:
    """A new data folder with the demo catalog: a copy of one that is made once."""
    copy_folder(made_once("demo", partial(_fill, import_demo)), data)
    return data


def examples_folder(data: Path) -> Path:
    """A new data folder with the examples of `serve --demo`."""
    copy_folder(made_once("examples", partial(_fill, _add_examples)), data)
    return data


def _add_examples(node: Node) -> None:
    add_examples(node, settings_from({"data": node.folder.path}))
    _compress_on_request(node)


def _compress_on_request(node: Node) -> None:
    node.folder.encoded.write_text(str(node.replica.applied_seq()))


def _fill(add: Callable[[Node], None], data: Path) -> None:
    node = open_node(empty_folder(data), is_durable=False)
    add(node)
    node.store.close()
