"""The client's types match the OpenAPI document and the client."""

import json
import shutil
from pathlib import Path
from runpy import run_path

import pytest

from client.runtimes import CLIENT, js_blocks
from support.npm import check_types, locked_packages
from widget_catalog.catalog.api.openapi import openapi

pytestmark = pytest.mark.slow

COMMAND = "./dev run python clients/js/api_types.py > clients/js/api.d.ts"
# The client has every export, method and parameter that is declared, and no other export.
CONFORMS = """\
import * as declared from "widget-catalog-client";
import * as made from "./made.js";

type Errors = Exclude<keyof typeof declared, "Catalog">;
export const catalog: typeof declared.Catalog = made.Catalog;
export const errors: Record<Errors, new (message: string) => Error> = made;
export const exported: Record<keyof typeof made, unknown> = declared;
"""
ERRORS = """\
import { Catalog, NotFound } from "widget-catalog-client";
import { catalogFetch } from "widget-catalog-client/static";
import type { Migrate, Mount } from "widget-catalog-client/widget";

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
if (update) await catalog.load("acme/clock", { sdk: "2.1.0", installed: "1.0.0", accept: update });
// @ts-expect-error There is no such reason.
await catalog.load("acme/clock", { sdk: "2.1.0", accept: { version: "2.0.0", reasons: ["age"] } });
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
export const migrate: Migrate = (config, from) => ({ ...config, from });
export const mount: Mount = (element, { locale, states, watchStates, call, fetchImage } = {}) => {
  element.textContent = locale ?? "";
  const stop = watchStates?.("lock.*", (changed) => changed.map((it) => it.attributes?.name));
  states?.("lock.*").then(([it]) => call?.("lock.unlock", { entity: it.entity }));
  // @ts-expect-error One entity, not several.
  call?.("lock.unlock", { entity: ["lock.a", "lock.b"] });
  fetchImage?.("https://photos.example/1.jpg").then((image) => image.type);
  return { unmount: () => stop?.() };
};
"""
SANDBOX = """\
import { Catalog } from "widget-catalog-client";
import { mount, SandboxError } from "widget-catalog-client/sandbox";

const catalog = new Catalog("https://catalog.example");
const widget = await mount(document.body, {
  catalog, id: "acme/clock", sdk: "2.2.0", installed: "1.0.0", signal: AbortSignal.timeout(9),
  grants: ["storage", { domain: "lock", access: "control", entities: ["lock.front_*"] }],
  host: { data: { clock: 1 }, call: async (service, { entity, data }) => [service, entity, data] },
  onState: (state) => state === "running",
  onUpdate: ({ version, reasons }) => console.log(version, reasons),
});
widget.update({ face: "flat" });
widget.show("dark");
await mount(document.body, { catalog, id: "acme/clock", version: "1.0.0" });
await mount(document.body, { files: { bundle: "export {};" }, frame: "/frame.html" });
// @ts-expect-error It may be null.
widget.version.version;
// @ts-expect-error There is no such scheme.
widget.show("sepia");
// @ts-expect-error An SDK must be given.
await mount(document.body, { catalog, id: "acme/clock" });
// @ts-expect-error There is no such key.
widget.grants = [{ domain: "lock", access: "write" }];
export const reason = (fault: unknown) => fault instanceof SandboxError && fault.reason;
"""
# In a project without the DOM library, and without the types of Node.
ANYWHERE = """\
import { Catalog, IntegrityError } from "widget-catalog-client";
import { catalogFetch } from "widget-catalog-client/static";
import type { Mount, WidgetModule } from "widget-catalog-client/widget";

const baseUrl = "https://catalog.example";
const catalog = new Catalog(baseUrl, { fetch: catalogFetch(baseUrl), cache: null });
const loaded = await catalog.load("acme/clock", { sdk: "2.1.0" });
export const bytes: number = loaded.bundle.byteLength;
export const nothing: null = loaded.styleSheet;
export const module: WidgetModule = loaded.module;
export const mount: Mount = (element, { locale } = {}) => {
  element.textContent = locale;
};
// @ts-expect-error It is a number.
export const hash: string = loaded.version.bundleSize;
// @ts-expect-error There is no such option.
await catalog.load("acme/clock", { sdk: "2.1.0", version: "1.0.0" });
for await (const { seq } of catalog.watch({ since: 4 })) if (seq > 9) break;
export const expected = (fault: unknown) => fault instanceof IntegrityError && fault.expected;
"""
# With the types of Node, classes and `fetch` are those of Node.
IN_NODE = """\
import { Catalog, type CatalogCache } from "widget-catalog-client";

const kept = new Map<string, Response>();
const cache: CatalogCache = {
  match: async (url) => kept.get(url)?.clone(),
  put: async (url, response) => void kept.set(url, response),
  delete: async (url) => kept.delete(url),
};
const catalog = new Catalog(new URL("https://catalog.example"), { cache, fetch });
// @ts-expect-error It is not an address.
new Catalog(8080);
// @ts-expect-error It is not a signal.
await catalog.search({}, { signal: "stop" });
await catalog.search({}, { signal: AbortSignal.timeout(1000) });
// @ts-expect-error There is no document in Node.
document.title;
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
    configure(tmp_path)
    return tmp_path


def configure(project: Path, **options: object) -> None:
    (project / "tsconfig.json").write_text(
        json.dumps({"compilerOptions": {**OPTIONS, **options}, "include": ["*.ts"]})
    )


def test_the_committed_types_are_those_of_the_api() -> None:
    types = run_path(str(CLIENT / "api_types.py"))
    now = types["typescript"](openapi("Widget Catalog", "http://127.0.0.1:8080"))
    is_same = (CLIENT / "api.d.ts").read_text(encoding="utf-8") == now
    assert is_same, f"clients/js/api.d.ts is not what the API says; rewrite it with: {COMMAND}"


def test_types_fit_the_client_and_find_errors_of_those_who_use_it(project: Path) -> None:
    shutil.copy(CLIENT / "client.js", project / "made.js")
    (project / "conforms.ts").write_text(CONFORMS)
    (project / "faults.ts").write_text(ERRORS)
    (project / "sandboxed.ts").write_text(SANDBOX)
    examples = [it for it in js_blocks() if "widget-catalog-client" in it]
    assert len(examples) >= 2
    for number, example in enumerate(examples):
        (project / f"example{number}.ts").write_text(f"{example}\nexport {{}};\n")
    assert check_types(project) == ""
    (project / "wrong.ts").write_text("export const wrong: number = 'text';\n")
    assert "wrong.ts(1,14): error TS2322" in check_types(project)


@pytest.mark.parametrize("lib", ["es2022", "es2024"])
def test_types_need_no_other_library(project: Path, lib: str) -> None:
    (project / "anywhere.ts").write_text(ANYWHERE)
    configure(project, lib=[lib])
    assert check_types(project) == ""


def test_types_use_those_of_node(project: Path) -> None:
    (project / "anywhere.ts").write_text(ANYWHERE)
    (project / "in_node.ts").write_text(IN_NODE)
    node_types = locked_packages() / "node_modules" / "@types"
    configure(project, lib=["es2022"], types=["node"], typeRoots=[str(node_types)])
    assert check_types(project) == ""
