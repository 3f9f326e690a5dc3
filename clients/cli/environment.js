// A Python environment with the tool, made once for each release and kept in the user's cache.
//
// Our own packages are the wheels in `wheels/`. Their dependencies come from the package index that
// is configured on this machine, or from the one in WIDGET_INDEX_URL: a catalog's, where there is no
// other. Made with `uv` if there is one, otherwise with Python itself, otherwise with a `uv` that is
// fetched from the index.

import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

import { fetchUv } from "./fetch-uv.js";
import { plain, startProgress, workOf } from "./progress.js";

const WHEELS = fileURLToPath(new URL("wheels/", import.meta.url));
const IS_WINDOWS = process.platform === "win32";
const OLDEST = [3, 11];
const MAX_REASON = 8_000;
const run = promisify(execFile);

/** Its message says what to do. */
export class CannotInstall extends Error {}

/** The interpreter of an environment with the tool; made if there is none. */
export async function preparedPython() {
  const wheels = readdirSync(WHEELS).filter((it) => it.endsWith(".whl")).sort().map((it) => path.join(WHEELS, it));
  const folder = path.join(cacheFolder(), `tool-${digest(wheels)}`);
  if (!existsSync(path.join(folder, "ready"))) await make(folder, wheels);
  return interpreter(folder);
}

async function make(folder, wheels) {
  const progress = startProgress();
  progress.say("Installing the tool, once. It is a Python program: about 8 MB of packages.");
  // Built beside it and renamed, so that an interrupted or a second installation leaves no half one.
  const draft = `${folder}.${process.pid}`;
  mkdirSync(path.dirname(folder), { recursive: true });
  rmSync(draft, { recursive: true, force: true });
  try {
    await fill(draft, wheels, progress);
    writeFileSync(path.join(draft, "ready"), "");
    if (!existsSync(path.join(folder, "ready"))) {
      rmSync(folder, { recursive: true, force: true });
      renameSync(draft, folder);
    }
    progress.say(`Installed in ${progress.seconds()}. Later commands start at once and need no network.`);
  } catch (error) {
    if (error instanceof CannotInstall || !existsSync(path.join(folder, "ready"))) throw explained(error);
  } finally {
    progress.end();
    rmSync(draft, { recursive: true, force: true });
  }
}

/** In the first way that works; each may lack something, such as Debian's Python its venv, or the
 *  settings of an index that only pip or only uv has. */
async function fill(draft, wheels, progress) {
  const index = process.env.WIDGET_INDEX_URL;
  const ways = [
    async () => withUv(await findUv(), draft, wheels, index, progress),
    async () => withPip(await findPython(), draft, wheels, index, progress),
    async () => withUv(await fetchUv(path.join(cacheFolder(), "uv"), index, progress), draft, wheels, index, progress),
  ];
  let failure = null;
  for (const way of ways) {
    try {
      if (await way()) return;
    } catch (error) {
      failure = error;
    }
    rmSync(draft, { recursive: true, force: true });
  }
  throw failure ?? new CannotInstall(
    "The tool needs Python 3.11 or newer, or uv, and neither was found.\n" +
      "       Install one of them (https://docs.astral.sh/uv/), or set WIDGET_INDEX_URL to a Python\n" +
      "       package index, from which uv is then fetched.",
  );
}

/** Whether there is a uv; raises if it fails. */
async function withUv(uv, draft, wheels, index, progress) {
  if (!uv) return false;
  const options = index ? ["--default-index", index] : [];
  progress.step("Creating a Python environment with uv");
  await work(progress, uv, ["venv", "--no-project", "--python", `>=${OLDEST.join(".")}`, draft]);
  progress.step("Installing the packages with uv");
  await work(progress, uv, ["pip", "install", "--python", interpreter(draft), ...options, ...wheels]);
  return true;
}

async function withPip(python, draft, wheels, index, progress) {
  if (!python) return false;
  const [command, ...args] = python;
  const options = ["--disable-pip-version-check", "--no-input", ...(index ? ["--index-url", index] : [])];
  // Otherwise pip ignores it. uv does not, and the packages of the tool itself are in the tarball.
  if (index?.startsWith("http://")) options.push("--trusted-host", new URL(index).host);
  progress.step(`Creating a Python environment with ${command}`);
  await work(progress, command, [...args, "-m", "venv", draft]);
  progress.step("Installing the packages with pip");
  await work(progress, interpreter(draft), ["-m", "pip", "install", ...options, ...wheels]);
  return true;
}

/** Run an installer and show what it is doing. */
function work(progress, command, args) {
  return new Promise((done, fail) => {
    const installer = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"] });
    let stderr = "";
    for (const output of [installer.stdout, installer.stderr]) {
      output.setEncoding("utf8");
      createInterface({ input: output }).on("line", (line) => {
        const shown = workOf(line);
        if (shown) progress.detail(shown);
      });
    }
    installer.stderr.on("data", (text) => { stderr = (stderr + text).slice(-MAX_REASON); });
    installer.on("error", fail);
    installer.on("close", (code) => {
      if (code === 0) done();
      else fail(Object.assign(new Error(`${command} ended with ${code}.`), { stderr }));
    });
  });
}

async function findUv() {
  const found = await run("uv", ["--version"]).catch(() => null);
  return found && "uv";
}

/** A command that runs Python, new enough. */
async function findPython() {
  const names = [["python3"], ["python"], ...(IS_WINDOWS ? [["py", "-3"]] : [])];
  for (const [command, ...args] of names) {
    const code = "import sys; print(*sys.version_info[:2])";
    const found = await run(command, [...args, "-c", code]).catch(() => null);
    const [major, minor] = (found?.stdout ?? "0 0").trim().split(" ").map(Number);
    if (major === OLDEST[0] && minor >= OLDEST[1]) return [command, ...args];
  }
  return null;
}

function interpreter(folder) {
  return path.join(folder, ...(IS_WINDOWS ? ["Scripts", "python.exe"] : ["bin", "python"]));
}

function cacheFolder() {
  const { LOCALAPPDATA, XDG_CACHE_HOME } = process.env;
  if (IS_WINDOWS) return path.join(LOCALAPPDATA ?? path.join(homedir(), "AppData", "Local"), "widget-catalog-cli");
  const base = process.platform === "darwin" ? path.join(homedir(), "Library", "Caches") : path.join(homedir(), ".cache");
  return path.join(XDG_CACHE_HOME || base, "widget-catalog-cli");
}

/** Changes with every release. */
function digest(files) {
  const hash = createHash("sha256");
  for (const file of files) hash.update(readFileSync(file));
  return hash.digest("hex").slice(0, 16);
}

function explained(error) {
  if (error instanceof CannotInstall) return error;
  const reason = plain(String(error.stderr || error.message)).trim().split("\n").slice(-3).join("\n       ");
  return new CannotInstall(`The tool could not be installed: ${reason}\n       Correct that, then try again.`);
}
