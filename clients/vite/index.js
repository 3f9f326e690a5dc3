// A Vite plugin for widgets: how they are built, what is checked, and their preview.

import { existsSync, readFileSync } from "node:fs";
import path from "node:path";

import { defaultClientConditions } from "vite";

import { checkManifest } from "./manifest.js";
import { servePreview } from "./preview.js";

const MANIFEST = "widget.json";
const ENTRIES = ["src/index.ts", "src/index.tsx", "src/index.js", "src/index.jsx"];
const USUAL_LIMIT_BYTES = 2_097_152; // Of a catalog whose operator has not changed it.

export function widget({ entry, anyModule = false } = {}) {
  let root = "";
  let config;
  const findEntry = () => [entry ?? ENTRIES].flat().find((it) => existsSync(path.resolve(root, it)));
  return {
    name: "widget-catalog",

    config(user, { mode }) {
      root = path.resolve(user.root ?? ".");
      // Tests use the same code of libraries as a browser.
      if (process.env.VITEST) return { resolve: { conditions: ["browser", ...defaultClientConditions] } };
      const { main, style } = readManifest(root);
      const folder = path.posix.dirname(main);
      return {
        appType: "custom",
        publicDir: false, // Only the files that the manifest names are published.
        // A dashboard has no `process`. Vite defines this in applications, but not in libraries.
        define: { "process.env.NODE_ENV": JSON.stringify(mode === "development" ? mode : "production") },
        build: {
          // The folder itself is never emptied; an invalid manifest is reported by buildStart.
          outDir: folder === "." ? "dist" : folder,
          target: "es2022",
          // Browsers with light-dark(). For others it would be rewritten to variables that nothing
          // sets in a dashboard.
          cssTarget: ["chrome123", "firefox120", "safari17.5"],
          // Everything is in one file. Vite's own `build.lib` would not minify it completely.
          assetsInlineLimit: () => true,
          modulePreload: false,
          cssCodeSplit: false,
          rolldownOptions: {
            input: path.resolve(root, findEntry() ?? ENTRIES[0]),
            preserveEntrySignatures: "strict",
            output: {
              format: "es",
              codeSplitting: false,
              entryFileNames: path.posix.basename(main),
              assetFileNames: ({ names }) =>
                style && names.some((it) => it.endsWith(".css")) ? path.posix.basename(style) : "[name][extname]",
            },
          },
        },
      };
    },

    configResolved(resolved) {
      config = resolved;
    },

    buildStart() {
      if (config.command !== "build") return; // The preview reports it.
      this.addWatchFile(path.join(root, MANIFEST));
      const { errors } = readManifest(root);
      if (errors.length > 0) this.error(failure(`${MANIFEST} has errors:`, errors));
      if (findEntry() === undefined) this.error(failure("The widget has no entry:", [missingEntry(entry)]));
    },

    generateBundle: {
      order: "post", // After Vite has added style sheets.
      handler(_, bundle) {
        if (config.command !== "build") return;
        const { errors, warnings } = checkBundle(Object.values(bundle), readManifest(root), { anyModule });
        for (const sentence of warnings) this.warn(sentence);
        if (errors.length > 0) this.error(failure("This cannot be published:", errors));
      },
    },

    configureServer(server) {
      if (process.env.VITEST) return;
      servePreview(server, () => readManifest(root));
    },
  };
}

/** The manifest in this folder: its content, the files it names, and all errors. */
function readManifest(root) {
  let text;
  try {
    text = readFileSync(path.join(root, MANIFEST), "utf8");
  } catch {
    const errors = [`there is no ${MANIFEST} in ${root}. The README of this plugin shows a short one.`];
    return { manifest: {}, main: "dist/index.js", style: null, errors };
  }
  const { manifest, errors } = checkManifest(text);
  const main = typeof manifest.main === "string" ? manifest.main : "index.js";
  const style = typeof manifest.style === "string" ? manifest.style : null;
  if (path.posix.dirname(main) === ".") {
    errors.push('main: must be in a folder that the build may empty, such as "dist/index.js".');
  } else if (style !== null && path.posix.dirname(style) !== path.posix.dirname(main)) {
    errors.push("style: must be in the same folder as main, because the build writes both.");
  }
  return { manifest, main, style, errors };
}

/** What would keep these files from running in a dashboard. */
function checkBundle(files, { style }, { anyModule }) {
  const errors = [];
  const warnings = [];
  for (const file of files) {
    if (file.type === "chunk") {
      for (const name of new Set([...file.imports, ...file.dynamicImports])) {
        errors.push(`${file.fileName} imports "${name}", which is not in it, and no dashboard has it.`);
      }
      if (!anyModule && !file.exports.includes("mount")) {
        errors.push(`${file.fileName} does not export mount, which dashboards call.`);
      }
      const size = Buffer.byteLength(file.code);
      if (size > USUAL_LIMIT_BYTES && !file.code.includes("sourceMappingURL=data:")) {
        warnings.push(`${file.fileName} has ${size} bytes; most catalogs take ${USUAL_LIMIT_BYTES}.`);
      }
    } else if (file.fileName.endsWith(".css") && style === null) {
      errors.push(
        `${file.fileName} would not be published. Import it as text, "./widget.css?inline", or name ` +
          `it in ${MANIFEST}: "style".`,
      );
    } else if (!file.fileName.endsWith(".css") && !file.fileName.endsWith(".map")) {
      errors.push(`${file.fileName} would not be published: a widget is one module. Import it with ?inline.`);
    }
  }
  return { errors, warnings };
}

function missingEntry(entry) {
  const missing = entry ?? `${ENTRIES[0]} (or .tsx, .js, .jsx)`;
  return `there is no ${missing}. Export mount from it, or name another file: widget({ entry: "src/main.ts" }).`;
}

/** An error for the author of the widget, to whom a stack trace of this file says nothing. */
function failure(title, sentences) {
  const error = new Error([title, ...sentences.map((it) => `  - ${it}`)].join("\n"));
  error.stack = "";
  return error;
}
