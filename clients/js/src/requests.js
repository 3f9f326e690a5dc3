// Building requests, and reading responses.

import { InvalidRequest, Unavailable } from "./errors.js";

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

export async function readJson(answer, signal) {
  try {
    return await answer.json();
  } catch (cause) {
    if (signal?.aborted) throw signal.reason;
    throw new Unavailable(`${answer.url} did not answer with JSON.`, { cause });
  }
}
