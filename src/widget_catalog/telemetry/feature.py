"""Telemetry: traces and metrics for OpenTelemetry."""

from collections.abc import Sequence

from ..core.features import Closeable, Feature, WorkerContext
from .settings import TelemetrySettings


def _start(context: WorkerContext) -> Sequence[Closeable]:
    settings = context.services.settings.of(TelemetrySettings)
    if not settings.otlp_endpoint:
        return ()
    from .exporting import Telemetry

    return (Telemetry(settings.otlp_endpoint, settings.trace_percent),)


FEATURE = Feature(name="telemetry", settings=TelemetrySettings, start=_start)
