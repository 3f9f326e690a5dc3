import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";
import { widget } from "vite-plugin-widget-catalog";

// Styles of components are put into the shadow root by the module itself.
export default defineConfig({
  plugins: [svelte({ configFile: false, compilerOptions: { css: "injected" } }), widget()],
});
