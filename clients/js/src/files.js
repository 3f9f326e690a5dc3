// The files of a widget: checking, importing and caching.

import { CatalogError, ImportFailed, Incompatible, NotFound, Revoked } from "./errors.js";

const CACHE_NAME = "widget-catalog-1";

export function refuseRevoked(id, { version: { version }, files }, revocations) {
  const found = revocations.find((it) => files.some((file) => file.sha256Hash === it.sha256Hash));
  if (found) throw new Revoked(`${id} ${version} was revoked: ${found.reason}`, { id });
}

export function refusal(status, message, details) {
  if (status === "revoked") return new Revoked(message, details);
  if (status === "unknown" || status === "unlisted") return new NotFound(message, details);
  return new Incompatible(message, details);
}

export async function sha256(bytes) {
  if (!globalThis.crypto?.subtle) {
    throw new CatalogError("Bundles can be checked in secure contexts only: https or localhost.");
  }
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Import these bytes. Node cannot import blob: URLs; only browsers need them for a CSP. */
export async function importBytes(bytes, url) {
  const isBrowser = typeof process !== "object" || !process.versions?.node;
  const address = isBrowser
    ? URL.createObjectURL(new Blob([bytes], { type: "text/javascript" }))
    : `data:text/javascript;base64,${Buffer.from(bytes).toString("base64")}`;
  try {
    return await import(/* @vite-ignore */ /* webpackIgnore: true */ address);
  } catch (cause) {
    throw new ImportFailed(`${url} cannot be imported: ${cause?.message ?? cause}`, { cause });
  } finally {
    if (isBrowser) URL.revokeObjectURL(address);
  }
}

export async function openBrowserCache() {
  try {
    return await globalThis.caches?.open(CACHE_NAME);
  } catch {
    return undefined; // As in a sandboxed frame.
  }
}
