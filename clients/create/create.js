#!/usr/bin/env node
// `npm create dashboard-widget clock` is `widget init clock`.
import { launch } from "widget-catalog-cli";

const args = process.argv.slice(2);
process.exitCode = await launch(["init", ...args]);
if (process.exitCode === 0 && !args.includes("--json") && !args.includes("--help")) {
  console.error("If you have no command widget, install it as the page /install of your catalog says,");
  console.error("or from the registry: npm install --global widget-catalog-cli");
}
