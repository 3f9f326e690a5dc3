"""Explanations of messages about a widget, with the settings of common bundlers: `--explain`."""

import re
from collections.abc import Iterable

_LIBRARY = """\
Vite     in vite.config.js, build: {
           lib: { entry: "src/index.js", formats: ["es"], fileName: "index" },
         }
esbuild  --bundle --format=esm --minify --outfile=dist/index.js
Rollup   output: { file: "dist/index.js", format: "es" }, with the plugins commonjs
         and node-resolve of @rollup"""

# By a pattern of the messages that they are about.
_EXPLANATIONS: dict[str, str] = {
    r'"process" is used': """\
process exists only in Node. Libraries such as React read process.env.NODE_ENV from
it, and bundlers replace that in applications, but some not in libraries, which a
widget is.

Vite     in vite.config.js,
         define: { "process.env.NODE_ENV": JSON.stringify("production") }
esbuild  --define:process.env.NODE_ENV='"production"'
Rollup   the same with @rollup/plugin-replace""",
    r'"(?:require|module|exports)" is used': f"""\
The module contains CommonJS, which browsers do not load. Build an ES module with
all dependencies in it:

{_LIBRARY}""",
    r'"global" is used': """\
global is the name of globalThis in Node.

Vite     in vite.config.js, define: { global: "globalThis" }
esbuild  --define:global=globalThis""",
    r'"(?:__dirname|__filename)" is used': """\
Node modules know their folder; a widget is one file at a URL, import.meta.url, and
nothing else is published with it. Import the content of files instead, so that the
bundler includes it: in Vite import text from "./file.txt?raw", in esbuild
--loader:.txt=text.""",
    r'"Buffer" is used': """\
Buffer exists only in Node. Use Uint8Array with TextEncoder and TextDecoder, or
bundle the npm package "buffer" and import { Buffer } from it.""",
    r'"(?:setImmediate|clearImmediate)" is used': """\
setImmediate exists only in Node. Use queueMicrotask(callback) or
setTimeout(callback, 0).""",
    r'"node:[^"]*" is imported': """\
Modules whose names begin with node: are part of Node. Look in the dependency that
imports them for a build for browsers; bundlers choose it with the condition
"browser" (esbuild: --platform=browser).""",
    r" is imported(?: \([\d,]+ times\))?, which browsers cannot": f"""\
Browsers load modules by URL, and find no packages. Only one file is published, so
bundle every dependency into it: remove it from build.rollupOptions.external, or
from --external. If your host resolves this name with an import map, pass
--any-module.

{_LIBRARY}""",
    r"but only this one file is published": f"""\
Dashboards load one module from the catalog. Files beside it are not there.

{_LIBRARY}""",
    r"is too large": """\
The operator of a catalog limits the size of a module; 2 MiB is the default. Build
it minified, replace large dependencies by smaller ones, import only what you use,
and load data and pictures from the network when they are needed. With a source map
next to the module (Vite: build.sourcemap; esbuild: --sourcemap), the table shows
what takes the room.""",
    r"this is JSX|looks like TypeScript": f"""\
Browsers run JavaScript only, and the catalog publishes what you upload. Compile it
first, and name the result as main in widget.json:

{_LIBRARY}""",
    r"does not export mount": """\
Dashboards call mount(element, context) of the module, so it must export a function
with that name:

export function mount(element, context = {}) { … }

Hosts with another contract call something else: for these, pass --any-module.""",
    r"there is no file": """\
main (default index.js) and style in widget.json name files in the widget's folder.
If they are built, build first: npm run build.""",
    r"is not a permission": """\
Permissions are words such as storage or geolocation. network is any host; ask for
the ones that the widget needs instead: network:api.example is one, network:*.example
every host below example. A host has no scheme, port or path.""",
    r"sdkVersion: ": """\
sdkVersion is a range in npm's syntax: ^2.0.0 admits 2.0.0 and everything below
3.0.0. It tells dashboards whether the widget runs there, so it may not admit every
SDK.""",
}


def explain(messages: Iterable[str]) -> list[str]:
    """The explanations of these messages, each once."""
    told = "\n".join(messages)
    return [text for pattern, text in _EXPLANATIONS.items() if re.search(pattern, told)]
