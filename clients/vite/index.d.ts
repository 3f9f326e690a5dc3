import type { Plugin } from "vite";

export interface WidgetOptions {
  /** The module that exports `mount`. Default: `src/index.ts`, `.tsx`, `.js` or `.jsx`. */
  entry?: string;
  /** For a host with another contract: do not require the module to export `mount`. */
  anyModule?: boolean;
}

/**
 * Builds the files that `widget.json` names: one minified ES module with everything in it. An
 * error in the manifest, or a module that no dashboard can load, ends the build. `vite` shows the
 * widget in the catalog's preview and runs it again after every change.
 */
export function widget(options?: WidgetOptions): Plugin;
