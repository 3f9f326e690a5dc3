// The files that mount() runs: of the version that the catalog resolves, of exactly one version, or
// bytes that the page has; with what that version declares.

import { mayBeNarrowed, requested } from "./capabilities.js";
import { bytesOf, fetchPlainly } from "./defaults.js";
import { InvalidRequest, Revoked, Unavailable } from "./errors.js";

export async function filesOf(options) {
  const { catalog, id, version, signal, files, configVersion } = options;
  const given = files ? ofPage(files) : version && (await exactly(catalog, id, version, signal));
  if (given) {
    const to = given.configVersion ?? null;
    const isOther = configVersion !== undefined && configVersion !== to;
    return { ...given, configVersionChange: isOther ? { from: configVersion, to } : null };
  }
  const loaded = await catalog.fetchFiles(id, options);
  const { permissions } = loaded.version;
  const isNarrowed = mayBeNarrowed(permissions);
  const detail = isNarrowed ? await catalog.version(id, loaded.version.version, { signal }) : {};
  return { ...loaded, declared: requested(permissions, detail) };
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
  return { bundle, css, version, configVersion: version.configVersion, declared };
}

/** The browser compares the bytes with the hash. */
async function verified({ url, size, integrity }, signal) {
  try {
    return await bytesOf(await fetchPlainly(url, { integrity, signal }), size);
  } catch (cause) {
    const message = `${url} cannot be fetched, or is not what the catalog described.`;
    throw new Unavailable(message, { cause });
  }
}
