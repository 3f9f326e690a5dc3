// The files of a widget: checking, importing and caching.

import { CatalogError, ImportFailed, Incompatible, NotFound, Revoked } from "./errors.js";

const CACHE_NAME = "widget-catalog-1";
const DAY_MS = 86_400_000;
const UNSEEN_AFTER_MS = 500; // The page may size the element after mounting.

/** By widget and version: the same bytes elsewhere may be a copy that somebody else published. */
export function refuseRevoked(id, { version: { version } }, revocations) {
  const found = revocations.find((it) => it.id === id && isSameVersion(it.version, version));
  if (found) throw new Revoked(`${id} ${version} was revoked: ${found.reason}`, { id });
}

/** What a plan of an earlier load gives to these options while the catalog cannot be asked. */
export function keptPlan(plan, { sdk, installed, range, minAgeDays = 0, accept, acceptPermissions }) {
  const { asked } = plan;
  const { version, permissions, publishedAt, configVersion } = plan.version;
  if (plan.sdk !== sdk || (range && range !== asked.range)) return null;
  const isAskedAgain = isSameVersion(asked.installed, installed);
  if (!isSameVersion(version, installed)) {
    // How it differs from another installed version is not known.
    const hasConsent = !asked.hasConsent || acceptPermissions || isSameVersion(accept?.version, version);
    if (installed && !(isAskedAgain && asked.range === range && hasConsent)) return null;
    if (Date.parse(publishedAt) > Date.now() - minAgeDays * DAY_MS) return null;
  }
  if (isAskedAgain) return plan;
  const [status, permissionsAdded] = installed ? ["current", []] : ["install", permissions];
  const now = { configVersion: installed && configVersion };
  return { ...plan, status, permissionsAdded, permissionsRemoved: [], update: null, asked: now };
}

/** Build metadata makes no difference. */
export function isSameVersion(one, other) {
  return one?.split("+")[0] === other?.split("+")[0];
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
    const module = await import(/* @vite-ignore */ /* webpackIgnore: true */ address);
    return isBrowser ? warningIfUnseen(module, url) : module;
  } catch (cause) {
    throw new ImportFailed(`${url} cannot be imported: ${cause?.message ?? cause}`, { cause });
  } finally {
    if (isBrowser) URL.revokeObjectURL(address);
  }
}

// The exports, with a mount() that warns about an element without a size: a widget fills its
// element, so it would be invisible, without any error.
function warningIfUnseen(module, url) {
  if (typeof module.mount !== "function" || typeof document !== "object") return module;
  const mount = (element, ...rest) => {
    const mounted = module.mount(element, ...rest);
    setTimeout(() => {
      // None if it is not on the page, or hidden on purpose.
      const [box] = element?.getClientRects?.() ?? [];
      if (!box || (box.width > 0 && box.height > 0)) return;
      const size = `${Math.round(box.width)} × ${Math.round(box.height)} pixels`;
      console.warn(`${url} is mounted in an element of ${size}, so it is invisible. Give it a size.`);
    }, UNSEEN_AFTER_MS);
    return mounted;
  };
  return { ...module, mount };
}

export async function openBrowserCache() {
  try {
    return await globalThis.caches?.open(CACHE_NAME);
  } catch {
    return undefined; // As in a sandboxed frame.
  }
}
