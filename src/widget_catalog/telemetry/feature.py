"""Telemetry: traces and metrics for OpenTelemetry."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..core.features import Closeable, Feature, WorkerContext
from ..core.setting_rules import check_url, is_installed, missing_packages
from ..core.settings import FeatureSettings, setting


@dataclass(frozen=True, kw_only=True)
class TelemetrySettings(FeatureSettings):
    otlp_endpoint: str = setting(
        "",
        "Where to send [traces and metrics](monitoring.md#traces), as OTLP over HTTP, such as "
        "`http://127.0.0.1:4318`. Empty: nowhere. Headers and certificates come from the standard "
        "variables `OTEL_EXPORTER_OTLP_HEADERS` and `OTEL_EXPORTER_OTLP_CERTIFICATE`.",
        rule=check_url,
    )

    @classmethod
    def check(cls, values: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        if values["otlp_endpoint"] and not is_installed("telemetry"):
            yield "otlp_endpoint", missing_packages("telemetry") + "."


def _start(context: WorkerContext) -> Sequence[Closeable]:
    settings = context.services.settings.of(TelemetrySettings)
    if not settings.otlp_endpoint:
        return ()
    from .exporting import Telemetry

    return (Telemetry(settings.otlp_endpoint),)


FEATURE = Feature(name="telemetry", settings=TelemetrySettings, start=_start)
