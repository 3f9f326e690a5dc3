"""The client's types match the OpenAPI document and the client."""

import json
import shutil
from pathlib import Path

import pytest

from support.client import CLIENT, js_blocks
from support.npm import check_types
from widget_catalog.web.openapi import openapi
from widget_catalog.web.openapi.typescript import typescript

COMMAND = "./dev run python -m widget_catalog.web.openapi.typescript > clients/js/api.d.ts"
# The client has every export, method and parameter that is declared, and no other export.
CONFORMS = """\
import * as declared from "widget-catalog-client";
import * as made from "./made.js";

type Errors = Exclude<keyof typeof declared, "Catalog">;
export const catalog: typeof declared.Catalog = made.Catalog;
export const errors: Record<Errors, new (message: string) => Error> = made;
export const exported: Record<keyof typeof made, unknown> = declared;
"""
FAULTS = """\
import { Catalog, NotFound } from "widget-catalog-client";
import { catalogFetch } from "widget-catalog-client/static";
import type { Mount } from "widget-catalog-client/widget";

const address = new URL("https://catalog.example");
const catalog = new Catalog(address, { fetch: catalogFetch(address, { fetch }) });
// @ts-expect-error A page is a number.
await catalog.search({ page: "2" });
// @ts-expect-error There is no such parameter.
await catalog.search({ text: "clock" });
const { widgets } = await catalog.search({ compatSdk: "1.0.0" });
// @ts-expect-error It may be null.
widgets[0].latestCompatibleVersion.version;
const { module, update } = await catalog.load("acme/clock", { sdk: "2.1.0" });
module.mount(document.body, { locale: "en-GB" });
// @ts-expect-error It may be null.
update.version;
// @ts-expect-error An SDK must be given.
await catalog.load("acme/clock", { installed: "1.0.0" });
const { results } = await catalog.resolve({ sdk: "2.1.0", widgets: [{ id: "acme/clock" }] });
// @ts-expect-error There is no such status.
results[0].status === "fine";
for await (const change of catalog.watch()) {
  // @ts-expect-error It may be null.
  change.version.length;
}
export const isMissing = (fault: unknown) => fault instanceof NotFound && fault.status === 404;
export const mount: Mount = (element, { locale } = {}) => {
  element.textContent = locale ?? "";
  return { unmount: () => element.replaceChildren() };
};
"""
OPTIONS = {
    "strict": True,
    "noUncheckedIndexedAccess": False,
    "module": "nodenext",
    "target": "es2022",
    "lib": ["es2023", "dom", "dom.iterable", "dom.asynciterable"],
    "types": [],
    "allowJs": True,
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A TypeScript project with the package installed."""
    installed = tmp_path / "node_modules" / "widget-catalog-client"
    shutil.copytree(CLIENT, installed)
    (tmp_path / "package.json").write_text('{"type": "module"}')
    (tmp_path / "tsconfig.json").write_text(
        json.dumps({"compilerOptions": OPTIONS, "include": ["*.ts"]})
    )
    return tmp_path


def test_the_committed_types_are_those_of_the_api() -> None:
    now = typescript(openapi("Widget Catalog", "http://127.0.0.1:8080"))
    is_same = (CLIENT / "api.d.ts").read_text(encoding="utf-8") == now
    assert is_same, f"clients/js/api.d.ts is not what the API says; rewrite it with: {COMMAND}"


def test_types_fit_the_client_and_find_faults_of_those_who_use_it(project: Path) -> None:
    shutil.copy(CLIENT / "client.js", project / "made.js")
    (project / "conforms.ts").write_text(CONFORMS)
    (project / "faults.ts").write_text(FAULTS)
    examples = [it for it in js_blocks() if "widget-catalog-client" in it]
    assert len(examples) >= 2
    for number, example in enumerate(examples):
        (project / f"example{number}.ts").write_text(f"{example}\nexport {{}};\n")
    assert check_types(project) == ""
    (project / "wrong.ts").write_text("export const wrong: number = 'text';\n")
    assert "wrong.ts(1,14): error TS2322" in check_types(project)
