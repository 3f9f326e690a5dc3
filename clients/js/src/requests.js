// Building requests, and reading responses.

import { InvalidRequest, Offline, Unavailable } from "./errors.js";

const MAX_JSON_BYTES = 64 * 2 ** 20; // Details and revocations grow with the catalog.
const MAX_ERROR_BYTES = 2 ** 20;

/** The URL of a catalog, without slashes at its end. May be a path on the host of the page. */
export function baseOf(address) {
  const text = String(address);
  try {
    const { href } = new URL(text, /^(\/|$)/.test(text) ? globalThis.location?.href : undefined);
    if (/^https?:[^@?#]+$/.test(href)) return text.replace(/\/+$/, "");
  } catch {} // The same error.
  throw new InvalidRequest(`${text} is not the address of a catalog: write https://catalog.example.`);
}

export function pathOf(id) {
  const [, scope, name] = /^@?([a-z0-9][a-z0-9-]*)\/([a-z0-9][a-z0-9-]*)$/.exec(id) ?? [];
  if (name === undefined) throw new InvalidRequest(`${id} is not a widget: write scope/name.`);
  return `${scope}/${name}`;
}

export function queryString(values) {
  const given = Object.entries(values).filter(([, value]) => value !== undefined && value !== null);
  return given.length ? `?${new URLSearchParams(given)}` : "";
}

/** The bytes of a response. Reading stops after `most`, so a longer one is incomplete. */
export async function readBytes(answer, most, signal) {
  try {
    if (!answer.body) return await answer.arrayBuffer();
    const reader = answer.body.getReader();
    const pieces = [];
    for (let size = 0; size <= most; ) {
      const { done, value } = await reader.read();
      if (done) break;
      pieces.push(value);
      size += value.length;
    }
    reader.cancel().catch(() => {});
    return await new Blob(pieces).arrayBuffer();
  } catch (cause) {
    if (signal?.aborted) throw signal.reason;
    throw new Offline(`${answer.url} was not received whole.`, { cause });
  }
}

export async function readJson(answer, isExpected, signal) {
  const bytes = await readBytes(answer, MAX_JSON_BYTES, signal);
  let value;
  try {
    value = JSON.parse(new TextDecoder().decode(bytes));
  } catch (cause) {
    throw new Unavailable(`${answer.url} did not answer with JSON.`, { cause });
  }
  if (isExpected(value)) return value;
  throw new Unavailable(`${answer.url} did not answer as a catalog does.`);
}

/** The message of an error response, if it has one. */
export async function readError(answer) {
  try {
    const bytes = await readBytes(answer, MAX_ERROR_BYTES);
    const { error } = JSON.parse(new TextDecoder().decode(bytes));
    return typeof error === "string" ? error : null;
  } catch {
    return null;
  }
}
