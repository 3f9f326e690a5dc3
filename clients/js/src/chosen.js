// The files that mount() runs: of the version that the catalog resolves, of exactly one version, or
// bytes that the page has; with what that version declares.

import { mayBeNarrowed, requested } from "./capabilities.js";
import { bytesOf } from "./bytes.js";
import { InvalidRequest, Revoked, Unavailable } from "./errors.js";

export async function filesOf(options) {
  if (options.files) return ofPage(options.files);
  const { catalog, id, version, signal } = options;
  if (version !== undefined) return exactly(catalog, id, version, signal);
  const loaded = await catalog.fetchFiles(id, options);
  const { permissions, configVersion } = loaded.version;
  const isNarrowed = mayBeNarrowed(permissions);
  const detail = isNarrowed ? await catalog.version(id, loaded.version.version, { signal }) : {};
  return { ...loaded, configVersion, declared: requested(permissions, detail) };
}

function ofPage({ bundle, css = null, manifest = {} }) {
  if (!bundle) throw new InvalidRequest("`files` needs a bundle.");
  const { permissions, capabilities, configVersion = null } = manifest;
  const listed = (it) => (Array.isArray(it) ? it : []);
  const declared = [...listed(permissions), ...listed(capabilities)];
  return { bundle, css, version: null, configVersion, declared };
}

async function exactly(catalog, id, number, signal) {
  const detail = await catalog.version(id, number, { signal });
  const { version, files, revoked } = detail;
  if (revoked) throw new Revoked(`${id} ${number} was revoked: ${revoked.reason}`, { id });
  const [bundle, css] = await Promise.all(
    ["index.js", "index.css"].map((path) => {
      const file = files.find((it) => it.path === path);
      return file ? verified(file, signal) : null;
    }),
  );
  const declared = requested(version.permissions, detail);
  const { configVersion } = version;
  return { bundle, css: css && new TextDecoder().decode(css), version, configVersion, declared };
}

/** The browser compares the bytes with the hash. */
async function verified({ url, size, integrity }, signal) {
  const rules = { integrity, credentials: "omit", referrerPolicy: "no-referrer", redirect: "error" };
  try {
    const answer = await fetch(url, { ...rules, signal });
    if (answer.ok) return await bytesOf(answer, size);
  } catch {} // The same error.
  signal?.throwIfAborted();
  throw new Unavailable(`${url} cannot be fetched, or is not what the catalog described.`);
}
