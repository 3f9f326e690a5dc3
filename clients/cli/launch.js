// Runs the authors' tool, which is written in Python, from the wheels in this package.

import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";

import { CannotInstall, preparedPython } from "./environment.js";

export async function launch(args) {
  if (args.length === 1 && args[0] === "--version") { // The tool would be installed only to say it.
    console.log(JSON.parse(readFileSync(new URL("package.json", import.meta.url), "utf8")).version);
    return 0;
  }
  let python;
  try {
    python = await preparedPython();
  } catch (error) {
    if (!(error instanceof CannotInstall)) throw error;
    console.error(`Error: ${error.message}`);
    return 1;
  }
  return new Promise((done, fail) => {
    // -P: not the modules in the current folder.
    const tool = spawn(python, ["-P", "-m", "widget_cli", ...args], { stdio: "inherit" });
    // Ctrl-C reaches both; the tool decides.
    const passed = ["SIGINT", "SIGTERM", "SIGHUP"].map((name) => [name, () => name !== "SIGINT" && tool.kill(name)]);
    for (const [name, pass] of passed) process.on(name, pass);
    tool.on("error", fail);
    tool.on("exit", (code, signal) => {
      for (const [name, pass] of passed) process.off(name, pass);
      done(code ?? (signal === "SIGINT" ? 130 : 1));
    });
  });
}
