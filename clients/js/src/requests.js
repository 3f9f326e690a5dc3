// Building requests, and reading responses.

import { InvalidRequest, Unavailable } from "./errors.js";

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
