// Fetches `uv`, the installer of Python packages, from a package index: one program in a wheel. Its
// hash must be the one in uv.json, whichever index it comes from.

import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import path from "node:path";
import { inflateRawSync } from "node:zlib";

const PINNED = JSON.parse(readFileSync(new URL("uv.json", import.meta.url), "utf8"));
// Node itself needs glibc 2.28; where there are wheels for it and for older ones, either may be offered.
const PLATFORMS = {
  "linux-x64": /manylinux_2_(17|28)_x86_64/,
  "linux-arm64": /manylinux_2_(17|28)_aarch64/,
  "linux-x64-musl": /musllinux_1_1_x86_64/,
  "linux-arm64-musl": /musllinux_1_1_aarch64/,
  "darwin-x64": /macosx_10_12_x86_64/,
  "darwin-arm64": /macosx_11_0_arm64/,
  "win32-x64": /win_amd64/,
  "win32-arm64": /win_arm64/,
};

/** The path of the program; null if no index is known, or it has none for this platform. */
export async function fetchUv(folder, index, progress) {
  const from = index ?? process.env.UV_DEFAULT_INDEX ?? process.env.UV_INDEX_URL ?? process.env.PIP_INDEX_URL ?? PINNED.index;
  const platform = PLATFORMS[`${process.platform}-${process.arch}${isMusl() ? "-musl" : ""}`];
  if (!from || !platform) return null;
  const name = process.platform === "win32" ? "uv.exe" : "uv";
  const program = path.join(folder, PINNED.version, name);
  if (existsSync(program)) return program;
  progress.step(`Fetching uv ${PINNED.version}, which installs it`);
  const page = new URL("uv/", from.endsWith("/") ? from : `${from}/`);
  const listing = await (await got(page, { accept: "text/html" })).text();
  const links = [...listing.matchAll(/href="([^"]+\.whl)(?:#[^"]*)?"/g)].map(([, link]) => new URL(link, page));
  const wheel = links.find(({ pathname }) => {
    const file = decodeURIComponent(path.posix.basename(pathname));
    return file.startsWith(`uv-${PINNED.version}-`) && platform.test(file);
  });
  if (!wheel) return null;
  const content = await received(await got(wheel), progress);
  const hash = createHash("sha256").update(content).digest("hex");
  if (!PINNED.sha256.includes(hash)) throw new Error(`${wheel.host} has another uv ${PINNED.version} than was released.`);
  mkdirSync(path.dirname(program), { recursive: true });
  const draft = `${program}.${process.pid}`;
  writeFileSync(draft, unzipped(content, `uv-${PINNED.version}.data/scripts/${name}`));
  chmodSync(draft, 0o755);
  renameSync(draft, program);
  return program;
}

async function got(url, headers = {}) {
  const response = await fetch(url, { headers }).catch((error) => {
    throw new Error(`${url.host} cannot be reached: ${error.cause?.message ?? error.message}.`);
  });
  if (!response.ok) throw new Error(`${url} responded with ${response.status}.`);
  return response;
}

async function received(response, progress) {
  const size = Number(response.headers.get("content-length"));
  const chunks = [];
  let bytes = 0;
  for await (const chunk of response.body) {
    chunks.push(chunk);
    bytes += chunk.length;
    progress.detail(size ? `${megabytes(bytes)} of ${megabytes(size)} MB` : `${megabytes(bytes)} MB`);
  }
  return Buffer.concat(chunks);
}

function megabytes(bytes) {
  return (bytes / 1e6).toFixed(1);
}

/** One file of a zip archive, by its central directory. */
function unzipped(archive, wanted) {
  const end = archive.lastIndexOf(Buffer.from("PK\x05\x06", "latin1"));
  let at = archive.readUInt32LE(end + 16);
  while (archive.readUInt32LE(at) === 0x02014b50) {
    const [nameLength, extraLength, commentLength] = [28, 30, 32].map((it) => archive.readUInt16LE(at + it));
    if (archive.toString("utf8", at + 46, at + 46 + nameLength) === wanted) {
      const method = archive.readUInt16LE(at + 10);
      const size = archive.readUInt32LE(at + 20);
      const local = archive.readUInt32LE(at + 42);
      const start = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
      const content = archive.subarray(start, start + size);
      return method === 0 ? content : inflateRawSync(content);
    }
    at += 46 + nameLength + extraLength + commentLength;
  }
  throw new Error(`The archive has no ${wanted}.`);
}

function isMusl() {
  return process.platform === "linux" && !process.report.getReport().header.glibcVersionRuntime;
}
