"""`widget publish`: check, show the plan, confirm, upload."""

import contextlib
import functools
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import msgspec
import typer

from widget_contract.errors import InvalidManifest
from widget_contract.semver import InvalidVersion

from ..addresses import WidgetKey
from ..catalog import check_cli_version, get_settings
from ..console import ask, out, plain, require_person, say, shows_json, warn
from ..errors import ExitCode, invalid_widget, wrong_usage
from ..javascript import ModuleCheck
from ..manifest_text import Bump, bumped, with_value
from ..options import (
    AnyModuleOption,
    CatalogOption,
    InsecureOption,
    JsonOption,
    NoCheckOption,
    YesOption,
    module_check,
)
from ..planning import Plan, choose_scope, make_plan, plan_document, show_plan
from ..publish_all import DECLINED, Outcome, publish_all
from ..publishing import Advance, Publication, check, publication_of, publish
from ..release_notes import ReleaseNotes, ask_notes, find_notes, repeated_notes, with_notes
from ..responses import Settings
from ..session import Session, opened
from ..widget_folder import (
    MANIFEST,
    LocalWidget,
    parse_local,
    read_widget,
    require_own_description,
)
from .developing import FolderArgument


def publish_(
    folder: FolderArgument = Path(),
    scope: Annotated[
        str | None,
        typer.Option(
            metavar="SCOPE",
            help="The scope to publish to.",
            show_default="the manifest's, or your own",
        ),
    ] = None,
    bump: Annotated[
        Bump,
        typer.Option(
            metavar="patch|minor|major",
            help="Increment the version; widget.json is updated after publishing.",
            show_default=False,
        ),
    ] = Bump.KEEP,
    notes: Annotated[
        str | None,
        typer.Option(metavar="FILE", help="Read release notes from a file; - for standard input."),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Check everything without publishing.")
    ] = False,
    no_check: NoCheckOption = False,
    any_module: AnyModuleOption = False,
    yes: YesOption = False,
    catalog: CatalogOption = None,
    insecure: InsecureOption = False,
    every: Annotated[
        bool,
        typer.Option("--all", help="Publish every widget below DIR that is not published yet."),
    ] = False,
    json: JsonOption = False,
) -> None:
    """Publish a widget. A published version cannot be changed.

    Publishing the same version with the same content again does nothing.
    """
    options = _Options(
        scope=scope,
        bump=bump,
        notes=notes,
        check=module_check(no_check=no_check, any_module=any_module),
        is_dry_run=dry_run,
        is_agreed=yes,
        is_json=json,
    )
    if options.is_asked:
        require_person()  # Before doing any work.
    if every:
        if bump is not Bump.KEEP or notes is not None:
            raise wrong_usage(
                "--bump and --notes are for one widget.", "Leave them out, or publish it alone."
            )
        read = functools.partial(_read, options=options)
        with _publisher(catalog, options, is_insecure=insecure) as publish_one:
            raise typer.Exit(publish_all(folder, read, publish_one))
    prepared = _read(folder, options)  # Report local errors before connecting.
    with _publisher(catalog, options, is_insecure=insecure) as publish_one:
        outcome = publish_one(prepared)
    if outcome.status == DECLINED:
        say.print("Nothing was published.")
        raise typer.Exit(ExitCode.FAILED)
    _print_result(*outcome)


class _Options(msgspec.Struct, frozen=True):
    scope: str | None
    bump: Bump
    notes: str | None
    check: ModuleCheck
    is_dry_run: bool
    is_agreed: bool
    is_json: bool

    @property
    def is_asked(self) -> bool:
        return not (self.is_agreed or self.is_dry_run)


class _Prepared(NamedTuple):
    """A valid widget, and the manifest to write and to send."""

    local: LocalWidget
    file_text: str
    notes: ReleaseNotes | None
    sent_text: str


def _read(folder: Path, options: _Options) -> _Prepared:
    before = read_widget(folder, max_bundle_bytes=sys.maxsize, check=options.check)
    require_own_description(before)
    file_text = _bumped_text(before, options.bump)
    notes = find_notes(_with_text(before, file_text), options.notes)
    return _Prepared(before, file_text, notes, with_notes(file_text, notes))


@contextlib.contextmanager
def _publisher(
    catalog: str | None, options: _Options, *, is_insecure: bool
) -> Iterator[Callable[[_Prepared], Outcome]]:
    """A function that publishes in one session with the catalog, which opens with the first."""
    with opened(catalog, is_insecure=is_insecure) as session:

        @functools.cache
        def settings() -> Settings:
            if newer := check_cli_version(session):
                warn(f"A newer release of widget is available: {newer}.")
            return get_settings(session)

        yield lambda prepared: _publish(session, settings(), prepared, options)


def _publish(
    session: Session, settings: Settings, prepared: _Prepared, options: _Options
) -> Outcome:
    folder = prepared.local.folder
    local = read_widget(folder, prepared.sent_text, settings.max_bundle_bytes, options.check)
    key = WidgetKey(choose_scope(session, options.scope, local.manifest), local.manifest.name)
    plan = make_plan(session, key, local)
    if plan.is_published:
        _write_manifest(folder, prepared.file_text)
        return Outcome(plan, "already-published", {})
    if plan.settings_changes:
        plan, prepared = _with_config_version(plan, prepared, is_asked=options.is_asked)
    plan = _with_own_notes(plan, prepared.notes, prepared.sent_text, is_asked=options.is_asked)
    local = plan.local
    publication = publication_of(key, local, accepts_files=settings.accepts_files)
    if local.pictures and not settings.accepts_files:
        warn("This catalog accepts no screenshots: they are not published.")
    # Check before asking for confirmation; without a question, the request itself is checked.
    is_checked = options.is_asked or options.is_dry_run
    response = check(session, publication) if is_checked else {}
    if options.is_asked or not options.is_json:
        show_plan(plan)
    if options.is_dry_run:
        return Outcome(plan, "checked", {**response, "bundleUrl": response.get("cdnUrl")})
    if not ask(f"Publish {key} {local.manifest.version}?", is_agreed=options.is_agreed):
        return Outcome(plan, DECLINED, {})
    with _progress(publication) as advance:
        response = publish(session, publication, advance)
    _write_manifest(folder, prepared.file_text)
    return Outcome(plan, "published", response)


def _bumped_text(local: LocalWidget, bump: Bump) -> str:
    """The text of the manifest with the next version."""
    text, version = local.manifest.text, local.manifest.version
    if bump is Bump.KEEP:
        return text
    try:
        return with_value(text, "version", bumped(version, bump).text)
    except InvalidVersion as error:
        raise invalid_widget(str(error), f"Write a valid version into {MANIFEST}.") from None


def _with_text(local: LocalWidget, text: str) -> LocalWidget:
    """This widget with another valid manifest, and its files as they are."""
    try:
        return msgspec.structs.replace(local, manifest=parse_local(local.folder, text))
    except InvalidManifest as error:
        hint = f"Correct it in {MANIFEST}, or pass other release notes."
        raise invalid_widget("The manifest has errors.", hint, error.errors) from None


def _with_config_version(
    plan: Plan, prepared: _Prepared, *, is_asked: bool
) -> tuple[Plan, _Prepared]:
    """With the next version of the settings, if the person wants it; otherwise with a warning."""
    following = (plan.local.manifest.config_version or 0) + 1
    changed = f"The settings have changed ({', '.join(plan.settings_changes)})"
    if not is_asked:
        warning = (
            f"{changed}, but not configVersion. If saved settings no longer fit, raise it to "
            f"{following}, and export migrate()."
        )
        warn(warning)
        return msgspec.structs.replace(plan, warnings=(*plan.warnings, warning)), prepared
    say.print(plain(f"{changed}. With another configVersion, dashboards ask, and call migrate()."))
    if not ask(f"Raise it to {following}?", is_agreed=False):
        return plan, prepared
    texts = (prepared.file_text, prepared.sent_text)
    file_text, sent_text = (with_value(it, "configVersion", following) for it in texts)
    return plan, prepared._replace(file_text=file_text, sent_text=sent_text)


def _with_own_notes(plan: Plan, notes: ReleaseNotes | None, text: str, *, is_asked: bool) -> Plan:
    """The plan with release notes that are not those of an earlier version."""
    if repetition := repeated_notes(notes, plan.last_with_notes):
        warn(repetition)
        notes = None
    if notes is None and plan.last is not None and is_asked:
        notes = ask_notes(plan.local.manifest.version)
    return msgspec.structs.replace(
        plan,
        local=_with_text(plan.local, with_notes(text, notes)),
        notes=notes,
        warnings=(*plan.warnings, *([repetition] if repetition else [])),
    )


@contextlib.contextmanager
def _progress(publication: Publication) -> Iterator[Advance]:
    """A progress bar at a terminal."""
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn

    columns = (TextColumn("Uploading"), BarColumn(), DownloadColumn(binary_units=True))
    with Progress(*columns, console=say, transient=True, disable=not say.is_terminal) as bar:
        task = bar.add_task("Uploading", total=publication.size_bytes)
        yield lambda some: bar.advance(task, some)


def _write_manifest(folder: Path, text: str) -> None:
    """Update the version in the manifest. A failure does not affect the published version."""
    file = folder / MANIFEST
    try:
        if file.read_bytes() != text.encode():
            file.write_bytes(text.encode())
    except OSError as error:
        warn(f"{file} could not be updated with the new version: {error.strerror}.")


def _print_result(plan: Plan, status: str, response: dict[str, Any]) -> None:
    if shows_json(plan_document(plan, status, response)):
        return
    name = f"[bold]{plain(plan.key)} {plain(plan.local.manifest.version)}[/]"
    match status:
        case "published":
            say.print(f"[green]Published[/] {name}.")
            out.print(plain(plan.page_url))
            out.print(plain(response.get("bundleUrl", "")))
        case "already-published":
            say.print(f"{name} is already published with the same content. Nothing to do.")
            if plan.existing and plan.existing.yanked:
                again = f"widget unyank {plan.key} {plan.existing.version}"
                warn(f"It is yanked. To offer it again: {again}")
            out.print(plain(plan.page_url))
            out.print(plain(plan.existing.bundle_url if plan.existing else ""))
        case _:
            say.print(f"[green]All checks passed.[/] Without --dry-run, {name} would be published.")


def register(app: typer.Typer) -> None:
    app.command("publish", rich_help_panel="Create and publish")(publish_)
