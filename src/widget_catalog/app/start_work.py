"""Writes of a starting service: immediately, or when another writer has finished.

The service can read from the beginning. The remaining work can wait: counts that a killed writer
did not apply, leftovers of uploads, and the link that creates the first account.
"""

import mmap
from pathlib import Path
from typing import TYPE_CHECKING

import structlog
from rich.markup import escape

from widget_contract.semver import SemVer

from ..catalog.node.context import say
from ..catalog.settings import CatalogSettings
from ..core.errors import StoreUnavailable, WriterBusy
from ..core.release import CLI_LATEST
from ..core.settings import Settings, find_exposed_secrets

if TYPE_CHECKING:
    from ..catalog.node.wiring import Node

_SERVE = "widget-catalog serve"


class StartWork:
    """Must be created before the workers are forked: one of them does the deferred work."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._is_put_off = mmap.mmap(-1, 1)

    @property
    def is_put_off(self) -> bool:
        return self._is_put_off[0] == 1

    def do(self, node: "Node") -> str | None:
        """Do the work, or defer it. Returns the secret of the first operator's
        invitation, if any.
        """
        if node.is_cut_off:
            return None  # Left to other nodes, or to the next start.
        try:
            if node.is_prepared:
                return _tidy_and_invite(node)
        except WriterBusy:
            pass
        except StoreUnavailable as fault:
            say.print(f"[yellow]Warning:[/] {escape(fault.message)} Reads continue to work.")
            return None
        self._is_put_off[0] = 1
        say.print(f"[yellow]Warning:[/] {escape(_whom_to_wait_for(node))}")
        node.replica.show_stored(node.store)
        return None

    def finish(self, node: "Node") -> None:
        """In a thread of a worker: deferred work, unless another worker has done it."""
        from .greeting import greet_first

        log = structlog.get_logger("widget_catalog.start")
        try:
            # Waits for the lock; the first worker that gets it does the work.
            with node.store.writing():
                if not self.is_put_off:
                    return
                self._is_put_off[0] = 0
            node.replica.state_counts(node.store, waits=True)
            invitation = _tidy_and_invite(node)
        except StoreUnavailable as fault:
            log.error("The startup could not be completed.", fault=fault.message)
            return
        if invitation is not None:
            greet_first(say, self._settings, invitation)


def warn_of_outage(sentence: str) -> None:
    say.print(
        f"[yellow]Warning:[/] {escape(sentence)} This node serves its last state, and "
        "catches up when the database responds again."
    )


def warn_of_settings(settings: Settings, file: Path | None = None) -> None:
    """Warn of settings that are valid, but hardly intended; `file` is the one given as a flag."""
    if (exposed := find_exposed_secrets(file)) is not None:
        say.print(f"[yellow]Warning:[/] {escape(exposed)}")
    oldest, newest = (
        SemVer.parse(settings.of(CatalogSettings).min_cli_version),
        SemVer.parse(CLI_LATEST),
    )
    if oldest.sort_key > newest.sort_key:
        say.print(
            f"[yellow]Warning:[/] min_cli_version is {escape(oldest.text)}, and the newest release "
            f"of the authors' tool is {newest.text}: no release of it can publish."
        )


def _tidy_and_invite(node: "Node") -> str | None:
    from ..accounts.create_account import invite_first_operator
    from ..catalog.stored_files import withdraw_files
    from ..publishing.publish_version import tidy_uploads

    tidy_uploads(node.store, node.bundles, node.uploads)
    withdraw_files(node.store, node.bundles)
    return invite_first_operator(node.store)


def _whom_to_wait_for(node: "Node") -> str:
    from ..core.db.file_lock import find_holder

    holder = find_holder(node.folder.writer_lock)
    who = "another process holds the writer lock" if holder is None else str(holder)
    end = ""
    # Not a running service: then this one would not start.
    if holder is not None and holder.program == _SERVE:
        end = f" It was left behind by a killed service: end it with kill -9 {holder.pid}."
    return (
        f"{who[0].upper()}{who[1:]}. Reads work; changes have to wait until it has finished.{end}"
    )
