"""A catalog for the JavaScript client, and its runtimes: Chromium, Node, Bun."""

import contextlib
import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from playwright.sync_api import Browser

from support.folders import filled_folder
from support.npm import bun_binary, node_binary
from support.pictures import a_picture
from support.scripted import Scripted, ScriptedServer, scripted_server
from support.service import Service, running_service
from support.widgets import version_line, widget_line

CLIENT = Path(__file__).parents[2] / "clients" / "js"
PAGE = Path(__file__).parents[2] / "docs" / "integrating.md"
SCENES = Path(__file__).parents[1] / "client" / "scenes.js"

RUNTIMES = ("chromium", "node", "bun")

JAVASCRIPT = {"Content-Type": "text/javascript", "Access-Control-Allow-Origin": "*"}
_MOUNT = """export const mount = (element = {{}}) => (element.textContent = "{text}");
"""
_PAGE = """<!doctype html>
<title>Dashboard</title>
<script type="module" src="/dashboard.js"></script>
"""
_DASHBOARD = """import * as scenes from "/scenes.js";
window.play = (scene, ...values) => scenes[scene](client, ...values);
window.dispatchEvent(new Event("ready"));
"""
# The same for static sites: all catalogs of the client use this fetch.
_STATIC = """import * as plain from {client};
import {{ catalogFetch }} from {static};
class Catalog extends plain.Catalog {{
  constructor(base, options = {{}}) {{
    super(base, {{ ...options, fetch: catalogFetch(base, {{ fetch: options.fetch }}) }});
  }}
}}
const client = {{ ...plain, Catalog }};
"""
_RUNNER = """import * as scenes from {scenes};
const [scene, ...values] = JSON.parse(process.argv[2]);
console.log(JSON.stringify(await scenes[scene](client, ...values)));
"""


class ClientCatalog(NamedTuple):
    service: Service
    dashboard: ScriptedServer

    @property
    def url(self) -> str:
        return self.service.url


class Runtime(Protocol):
    def __call__(self, scene: str, *values: object) -> Any:
        """The result of a function of scenes.js, called with the client and these values."""


def js_blocks() -> list[str]:
    """The examples of the integrators' guides."""
    others = ("loading-widgets-safely.md", "public-api.md", "following-changes.md")
    pages = [PAGE, *(PAGE.parent / it for it in others)]
    text = "\n".join(it.read_text(encoding="utf-8") for it in pages)
    return re.findall(r"^```js\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


@contextlib.contextmanager
def client_catalog(folder: Path) -> Iterator[ClientCatalog]:
    with scripted_server() as dashboard:
        data = filled_folder(folder / "data", *_widgets(folder, dashboard.url), base_folder=folder)
        with running_service(data) as service:
            _serve_dashboard(dashboard, service.url)
            dashboard.on("GET", "/scenes.js", Scripted(200, SCENES.read_bytes(), JAVASCRIPT))
            dashboard.on(
                "GET", "/lie.js", Scripted(200, b"export const mount = 'evil';\n", JAVASCRIPT)
            )
            yield ClientCatalog(service, dashboard)


def _serve_dashboard(dashboard: ScriptedServer, catalog: str, *, is_static: bool = False) -> None:
    # Only what the client needs in a policy.
    policy = (
        f"default-src 'none'; script-src 'self' {catalog} blob:; "
        f"connect-src {catalog} {dashboard.url}; require-trusted-types-for 'script'"
    )
    html = {"Content-Type": "text/html", "Content-Security-Policy": policy}
    client, static = (json.dumps(f"{catalog}/client/v1/{it}.js") for it in ("client", "static"))
    begin = _STATIC if is_static else "import * as client from {client};\n"
    script = begin.format(client=client, static=static) + _DASHBOARD
    dashboard.on("GET", "/", Scripted(200, _PAGE.encode(), html))
    dashboard.on("GET", "/dashboard.js", Scripted(200, script.encode(), JAVASCRIPT))


def _widgets(folder: Path, dashboard: str) -> Iterator[dict[str, Any]]:
    def version(number: str, sdk: str = "^1.0.0", code: str = "", **fields: Any) -> dict[str, Any]:
        file = f"{len(list(folder.iterdir()))}.js"
        code = code or _MOUNT.format(text=f"{number} of {file}")
        (folder / file).write_text(code)
        here = {"bundleFile": file, "bundleUrl": None, "bundleSize": None, "sha256Hash": None}
        at = f"2026-0{number[0]}-0{int(number[2]) + 1}T00:00:00.000Z"
        return version_line(number, **here, sdkVersion=sdk, publishedAt=at, **fields)

    (folder / "clock.css").write_text(".clock { color: red; }\n")
    pictures = []
    for shade, scheme in enumerate(("light", "dark")):
        (folder / f"{scheme}.png").write_bytes(a_picture(shade=shade))
        pictures.append({"path": f"screenshots/{scheme}.png", "file": f"{scheme}.png"})
    german = {"de": {"displayName": "Wanduhren"}}
    yield widget_line(
        "acme/clock",
        versions=[
            version(
                "2.0.0",
                "^2.0.0",
                keywords=["wall-mounted"],
                translations=german,
                files=pictures,
            ),
            version("1.1.0", cssFile="clock.css"),
            version("1.0.0"),
        ],
    )
    yield widget_line(
        "acme/greedy", versions=[version("1.1.0", permissions=["network"]), version("1.0.0")]
    )
    camera, lock = {"domain": "camera", "access": "read"}, {"domain": "lock", "access": "control"}
    front = {**lock, "entities": ["lock.front_*"]}
    growing = {"1.0.0": [camera], "1.1.0": [camera, front], "1.2.0": [lock]}
    guard = [
        version(number, manifest=json.dumps({"capabilities": stated}))
        for number, stated in growing.items()
    ]
    yield widget_line("acme/guard", versions=guard)
    migrate = "export const migrate = ({ hour }, from) => ({ time: `${hour}:00`, from });\n"
    yield widget_line(
        "acme/alarm",
        versions=[
            version("2.1.0", code=migrate, configVersion=2, permissions=["network", "camera"]),
            version("2.0.0", code=migrate, configVersion=2, permissions=["network"]),
            version("1.3.0", configVersion=1, permissions=["network", "storage"]),
            version("1.2.0", configVersion=1, permissions=["network:api.example"]),
            version("1.1.0", configVersion=3),
            version("1.0.0", configVersion=1, permissions=["network"]),
        ],
    )
    yield widget_line("acme/broken", versions=[version("1.0.0", code="export const = 1;\n")])
    for runtime in RUNTIMES:
        yield widget_line(f"acme/bad-{runtime}", versions=[version("1.0.0")])
        same = _MOUNT.format(text=f"the same for {runtime}")
        for name in ("original", "copy"):
            key = f"copies/{name}-{runtime}"
            yield widget_line(key, versions=[version("1.0.0", code=same)])
    lie = version_line("1.0.0", bundleUrl=f"{dashboard}/lie.js", bundleSize=29)
    yield widget_line("acme/liar", versions=[lie])


@contextlib.contextmanager
def runtime_of(
    name: str, catalog: ClientCatalog, folder: Path, browser: Browser
) -> Iterator[Runtime]:
    if name == "chromium":
        with chromium_runtime(catalog, browser) as page:
            yield page
    else:
        yield process_runtime(name, folder)


def process_runtime(name: str, folder: Path, *, is_static: bool = False) -> Runtime:
    """Node or Bun: every scene runs in a separate process."""
    binary = {"node": node_binary, "bun": bun_binary}[name]()
    runner = folder / "runner.mjs"
    client, static = json.dumps(str(CLIENT / "client.js")), json.dumps(str(CLIENT / "static.js"))
    begin = _STATIC if is_static else "import * as client from {client};\n"
    runner.write_text(
        begin.format(client=client, static=static) + _RUNNER.format(scenes=json.dumps(str(SCENES)))
    )

    def play(scene: str, *values: object) -> Any:
        command = [str(binary), str(runner), json.dumps([scene, *values])]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return play


@contextlib.contextmanager
def chromium_runtime(
    catalog: ClientCatalog, browser: Browser, static_url: str = ""
) -> Iterator[Runtime]:
    """A page of another origin with a strict policy, without console errors.

    With the URL of a static site, the client is loaded from there, and used for such sites.
    """
    if static_url:
        _serve_dashboard(catalog.dashboard, static_url, is_static=True)
    context = browser.new_context()
    page = context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.add_init_script("window.ready = new Promise((done) => addEventListener('ready', done));")
    page.goto(catalog.dashboard.url)
    page.evaluate("async () => { await ready; }")

    def play(scene: str, *values: object) -> Any:
        return page.evaluate("([scene, values]) => play(scene, ...values)", [scene, list(values)])

    yield play
    context.close()
    assert complaints == []
