import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { widget } from "vite-plugin-widget-catalog";

export default defineConfig({ plugins: [react(), widget()] });
