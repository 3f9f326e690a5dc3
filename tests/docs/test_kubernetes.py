"""deploy/kubernetes: rendered by kubectl, valid for Kubernetes, and with settings that we take."""

import re
import secrets
import shutil
import subprocess
from pathlib import Path
from typing import Any

import kubernetes_validate  # type: ignore[import-untyped]
import pytest
import yaml  # type: ignore[import-untyped]

from support.commands import widget_catalog
from widget_catalog.core.load_settings import load_settings

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "deploy" / "kubernetes"
# The oldest release that has everything in the files, and the newest that the validator knows.
RELEASES = ["1.25", kubernetes_validate.latest_version()]


def render(folder: Path) -> list[dict[str, Any]]:
    done = subprocess.run(["kubectl", "kustomize", folder], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return list(yaml.safe_load_all(done.stdout))


@pytest.fixture(scope="module")
def rendered() -> list[dict[str, Any]]:
    return render(FOLDER)


def of_kind(rendered: list[dict[str, Any]], kind: str) -> dict[str, Any]:
    (found,) = [it for it in rendered if it["kind"] == kind]
    return found


def pods(rendered: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [of_kind(rendered, kind)["spec"]["template"]["spec"] for kind in ("Deployment", "Job")]


@pytest.mark.parametrize("release", RELEASES)
def test_kubernetes_accepts_everything(rendered: list[dict[str, Any]], release: str) -> None:
    kinds = {it["kind"] for it in rendered}
    assert kinds >= {"Deployment", "Job", "Service", "Ingress", "PodDisruptionBudget", "ConfigMap"}
    for resource in rendered:
        kubernetes_validate.validate(resource, release, strict=True)


def test_every_file_is_used() -> None:
    listed = (FOLDER / "kustomization.yaml").read_text()
    for file in FOLDER.glob("*.yaml"):
        assert file.name == "kustomization.yaml" or f"- {file.name}" in listed, file


def test_the_service_monitor_fits_the_service_once_it_is_listed(
    rendered: list[dict[str, Any]], tmp_path: Path
) -> None:
    """It is commented out, because clusters without the Prometheus operator refuse its kind."""
    folder = tmp_path / "kubernetes"
    shutil.copytree(FOLDER, folder)
    listed = (folder / "kustomization.yaml").read_text()
    (folder / "kustomization.yaml").write_text(listed.replace("  # - service-", "  - service-"))

    more = render(folder)

    monitor = of_kind(more, "ServiceMonitor")
    assert [it for it in more if it is not monitor] == rendered
    service, spec = of_kind(rendered, "Service"), monitor["spec"]
    assert monitor["metadata"]["namespace"] == service["metadata"]["namespace"]
    assert spec["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
    assert {it["port"] for it in spec["endpoints"]} <= {
        it["name"] for it in service["spec"]["ports"]
    }


def test_the_settings_are_ours_and_secrets_are_files(
    rendered: list[dict[str, Any]], tmp_path: Path
) -> None:
    values = {
        "database": "postgresql://catalog:password@db/catalog",
        "secret-key": secrets.token_hex(32),
        "s3-credentials": "[default]\naws_access_key_id = key\naws_secret_access_key = secret",
    }
    for name, value in values.items():
        (tmp_path / name).write_text(value + "\n")
    settings = of_kind(rendered, "ConfigMap")["data"]
    credentials = set()
    for pod in pods(rendered):
        (container,) = pod["containers"]
        (mounted,) = [it for it in container["volumeMounts"] if it["name"] == "secrets"]
        environment = dict(settings)
        for variable in container["env"]:
            environment[variable["name"]] = variable["value"].replace(
                mounted["mountPath"], str(tmp_path)
            )
        credentials.add(environment.get("AWS_SHARED_CREDENTIALS_FILE"))

        loaded = load_settings(environment=environment)

        assert loaded.unknown == ()
        assert loaded.database == values["database"]
        assert loaded.secret_key == values["secret-key"]
    assert str(tmp_path / "s3-credentials") in credentials
    # Variables named like the Service would override our settings.
    assert all(pod["enableServiceLinks"] is False for pod in pods(rendered))
    guide = (ROOT / "docs" / "kubernetes.md").read_text()
    assert set(re.findall(r"--from-(?:file|literal)=([\w-]+)", guide)) == set(values)


def test_probes_ports_and_labels_fit_together(rendered: list[dict[str, Any]]) -> None:
    deployment = of_kind(rendered, "Deployment")
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    ports = {it["name"]: it["containerPort"] for it in container["ports"]}
    settings = of_kind(rendered, "ConfigMap")["data"]
    assert ports == {"http": 8080, "metrics": int(settings["WIDGET_CATALOG_METRICS_PORT"])}
    labels = deployment["spec"]["template"]["metadata"]["labels"].items()
    for selecting in (
        deployment["spec"]["selector"]["matchLabels"],
        of_kind(rendered, "Service")["spec"]["selector"],
        of_kind(rendered, "PodDisruptionBudget")["spec"]["selector"]["matchLabels"],
    ):
        assert selecting.items() <= labels


def test_pods_run_the_commands_that_there_are(rendered: list[dict[str, Any]]) -> None:
    for pod in pods(rendered):
        (container,) = pod["containers"]
        program, *arguments = container["args"]
        assert program == "widget-catalog"
        assert widget_catalog(*arguments, "--help").code == 0
