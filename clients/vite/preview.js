// The preview in Vite's development server. It builds the widget as it will be published, but
// readable, and runs it in the sandbox of the catalog's preview; `page/` has its files, and in
// headers.json the headers that make the sandbox.

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";

import { build, mergeConfig } from "vite";

const PAGE = new URL("./page/", import.meta.url);
const HEADERS = JSON.parse(readFileSync(new URL("headers.json", PAGE), "utf8"));
const SHOWN_KEYS = ["configSchema", "configVersion", "defaultConfig", "defaultSize"];
const SETTLE_MS = 60; // Editors and git change several files at once.
const KEEP_ALIVE_MS = 10_000;
const KEPT_FILES = 10;

export function servePreview(server, readManifest) {
  const listeners = new Set();
  let files = new Map();
  let state = { version: null, faults: [], warnings: [] };
  let revision = 0;

  async function look() {
    const read = readManifest();
    const next = read.errors.length > 0 ? { faults: read.errors } : await buildWidget(server, read);
    if (next.files) files = new Map([...[...files].slice(-KEPT_FILES), ...next.files]);
    state = { version: next.version ?? state.version, faults: next.faults ?? [], warnings: next.warnings ?? [] };
    revision += 1;
    const { logger } = server.config;
    for (const fault of state.faults) logger.error(fault, { timestamp: true });
    if (state.faults.length === 0) logger.info("built for the preview", { timestamp: true });
    for (const response of listeners) response.write(`data: ${revision}\n\n`);
  }

  let turn = look();
  let timer;
  const output = path.resolve(server.config.root, server.config.build.outDir);
  server.watcher.on("all", (_, file) => {
    if (!path.relative(output, path.resolve(server.config.root, file)).startsWith("..")) return;
    clearTimeout(timer);
    timer = setTimeout(() => (turn = turn.then(look)), SETTLE_MS);
  });
  const alive = setInterval(() => listeners.forEach((it) => it.write(": still here\n\n")), KEEP_ALIVE_MS);
  server.httpServer?.once("close", () => clearInterval(alive));

  server.middlewares.use(async (request, response, next) => {
    const [pathname] = request.url.split("?", 1); // Not by URL, which throws: what is sent may be "//".
    const name = pathname === "/" ? "page.html" : pathname.slice(1);
    const isPublished = pathname.startsWith("/files/");
    if (!isPublished && !["state", "changes"].includes(name) && !Object.hasOwn(HEADERS, name)) return next();
    // Other sites get nothing; Vite itself checks the host.
    const site = request.headers["sec-fetch-site"] ?? "none";
    if (request.method !== "GET" || (site !== "none" && site !== "same-origin" && pathname !== "/")) {
      return send(response, "Open this address in your browser.\n", { "content-type": "text/plain" }, 403);
    }
    if (name === "changes") return follow(response);
    await turn;
    if (name === "state") return send(response, JSON.stringify(state), { "content-type": "application/json" });
    if (!isPublished) return send(response, readFileSync(new URL(name, PAGE)), HEADERS[name]);
    const file = files.get(pathname);
    if (file === undefined) return next();
    const type = pathname.endsWith(".css") ? "text/css" : "text/javascript";
    return send(response, file, { "content-type": `${type}; charset=utf-8` });
  });

  function follow(response) {
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
    response.write(`data: ${revision}\n\n`);
    listeners.add(response);
    response.on("close", () => listeners.delete(response));
  }
}

function send(response, body, headers, status = 200) {
  const always = { "cache-control": "no-store", "cross-origin-resource-policy": "same-origin" };
  response.writeHead(status, { ...always, ...headers });
  response.end(body);
}

/** The files of the widget and what the preview needs to know, or what is wrong with it. */
async function buildWidget(server, { manifest }) {
  const warnings = [];
  const logger = { ...server.config.logger, info() {}, warn: (text) => warnings.push(plain(text)) };
  const { inlineConfig, configFile, root, mode } = server.config;
  let outputs;
  try {
    const own = {
      root,
      mode,
      configFile: configFile ?? false,
      logLevel: "warn",
      customLogger: logger,
      build: { write: false, watch: null, minify: false, sourcemap: "inline", reportCompressedSize: false },
    };
    outputs = [await build(mergeConfig(inlineConfig, own))].flat();
  } catch (error) {
    return { faults: [plain(error?.message ?? String(error))] };
  }
  const built = outputs[0].output;
  const chunk = built.find((it) => it.type === "chunk");
  const style = built.find((it) => it.type === "asset" && it.fileName.endsWith(".css"));
  const hash = createHash("sha256").update(chunk.code).digest("hex");
  const styleHash = style && createHash("sha256").update(style.source).digest("hex");
  const bundleUrl = `/files/${hash}.js`;
  const styleUrl = style ? `/files/${styleHash}.css` : null;
  const shown = SHOWN_KEYS.filter((key) => key in manifest).map((key) => [key, manifest[key]]);
  const { displayName, name, version, minSize, maxSize, permissions = [], capabilities = [] } = manifest;
  return {
    files: [[bundleUrl, chunk.code], ...(style ? [[styleUrl, style.source]] : [])],
    warnings,
    version: {
      displayName,
      name,
      version,
      bundleUrl,
      sha256Hash: hash,
      styleUrl,
      minSize,
      maxSize,
      permissions: [...permissions, ...capabilities],
      manifest: Object.fromEntries(shown),
    },
  };
}

/** A message without the colors of a terminal. */
const plain = (text) => String(text).replace(/\x1b\[[0-9;]*m/g, "").trim();
