"""The services available to a worker's handlers, built from the settings."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from widget_contract import wire

from ..accounts.oauth.clients import OWN_CLIENT, parse_clients
from ..accounts.oauth.serving import OAuthConfig
from ..accounts.second_factor.policy import FactorPolicy
from ..accounts.second_factor.rules import RequiredOf, site_at
from ..accounts.sign_in import Lifetimes
from ..catalog.node.opening import open_keys, open_secret_box
from ..core import release
from ..core.actors import reserved_names
from ..core.data_folder import DataFolder
from ..core.db.engine import Store
from ..core.files.cache import StoreWatch
from ..core.files.contract import Bundles, Uploads
from ..core.http.call import Services
from ..core.http.current_settings import CurrentSettings
from ..core.http.rendering import PageRenderer
from ..core.http.worker_metrics import Readings
from ..core.public_addresses import parse_networks
from ..core.settings import Settings
from ..publishing.quotas import Quotas
from ..webhooks.model import WebhookRules

if TYPE_CHECKING:
    from ..accounts.oidc.provider import Provider
    from ..catalog.api.cdn import Cdn
    from ..catalog.catalog import Catalog
    from ..catalog.count_download import DownloadCounter
    from ..core.http.receiving import Receiver


def build_services(
    folder: DataFolder,
    store: Store,
    bundles: Bundles,
    check_bundles: Callable[[], None],
    uploads: Uploads,
    settings: Settings,
    applied_seq: Callable[[], int],
) -> Services:
    """The services for handlers."""
    keys = open_keys(folder, store, settings)
    lifetimes = Lifetimes(
        idle_ms=settings.session_idle_hours * 3_600_000,
        most_ms=settings.session_max_days * 86_400_000,
    )
    return Services(
        store=store,
        bundles=bundles,
        check_bundles=check_bundles,
        uploads=uploads,
        settings=settings,
        lifetimes=lifetimes,
        upload_key=keys.for_purpose("uploads"),
        oauth=OAuthConfig(
            clients=parse_clients(settings.oauth_clients),
            issuer=settings.public_url,
            grant_ms=settings.oauth_max_days * 86_400_000,
        ),
        renderer=PageRenderer(
            settings.service_name,
            settings.public_url,
            has_dashboard=settings.dashboard,
            takes_reports=settings.max_reports > 0,
        ),
        signing_key=keys.for_purpose("signing in"),
        provider=_provider(settings),
        factor_policy=FactorPolicy(
            site_at(settings.public_url, settings.service_name),
            open_secret_box(folder, settings),
            RequiredOf(settings.second_factor_required),
        ),
        quotas=_quotas(settings),
        webhook_rules=webhook_rules(settings),
        reserved=reserved_names(settings.reserved_names),
        applied_seq=applied_seq,
    )


def _quotas(settings: Settings) -> Quotas:
    return Quotas(
        organizations=settings.max_organizations,
        new_widgets_per_day=settings.max_new_widgets_per_day,
        versions_per_hour=settings.max_versions_per_hour,
        bytes_per_day=settings.max_bytes_per_day,
        changes_per_hour=settings.max_changes_per_hour,
        open_requests=settings.max_open_requests,
        document_bytes=settings.max_document_bytes,
    )


def webhook_rules(settings: Settings) -> WebhookRules:
    return WebhookRules(
        allows_http=settings.webhook_http,
        networks=parse_networks(settings.webhook_networks),
        most_per_scope=settings.max_webhooks,
    )


def _provider(settings: Settings) -> "Provider | None":
    if not settings.oidc_issuer:
        return None
    from ..accounts.oidc.provider import Provider

    return Provider(
        settings.oidc_issuer,
        settings.oidc_client_id,
        settings.oidc_client_secret,
        settings.oidc_name,
        redirect_uri=f"{settings.public_url}/api/auth/oidc/callback",
    )


def public_settings(settings: Settings) -> wire.Settings:
    """The content of `/api/settings`, without secrets."""
    return wire.Settings(
        service_name=settings.service_name,
        base_url=settings.public_url,
        cdn_base_url=settings.cdn_url,
        sign_in=("password", "oidc") if settings.oidc_issuer else ("password",),
        cli_client_id=OWN_CLIENT,
        registration_open=settings.registration == "open",
        max_bundle_bytes=settings.max_bundle_bytes,
        api_versions=release.API_VERSIONS,
    )


def current_settings(settings: Settings, services: Services) -> CurrentSettings:
    """The same while the service is running."""
    current = CurrentSettings(public_settings(settings), services.store, services.renderer)
    current.read()
    return current


def read_worker(
    stores: Sequence[Store],
    catalog: "Catalog",
    counter: "DownloadCounter",
    cdn: "Cdn",
    receiver: "Receiver",
    store_watch: StoreWatch | None,
) -> Readings:
    """Metrics of a worker other than requests."""
    used, idle = zip(*(it.connections() for it in stores), strict=True)
    return Readings(
        catalog.cache_misses | {"cdn": cdn.fetches},
        counter.counted,
        counter.commits,
        counter.waiting,
        sum(used),
        sum(idle),
        receiver.in_progress,
        store_watch is not None and store_watch.is_failing,
    )
